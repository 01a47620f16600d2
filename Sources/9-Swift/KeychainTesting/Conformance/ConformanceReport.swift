/// What came of a conformance run.
public struct ConformanceReport: Sendable, Hashable {
    /// One case and how it ended.
    public struct Result: Sendable, Hashable {
        /// The case's identifier.
        public let identifier: String
        /// The case's area.
        public let area: String
        /// Why it failed; nil if it passed.
        public let failure: Failure?
    }

    /// Why a case failed: the first of its steps that did not report what it must.
    public struct Failure: Sendable, Hashable, CustomStringConvertible {
        /// The step's number, counted from 1; 0 for the preparations before the first step.
        public let step: Int
        /// The step's operation.
        public let operation: String
        /// What the case expects.
        public let expected: String
        /// What happened instead.
        public let got: String

        /// All of it in one line.
        public var description: String {
            "step \(step) (\(operation)): expected \(expected), got \(got)"
        }
    }

    /// The cases in the order they ran.
    public let results: [Result]

    /// The cases that failed.
    public var failures: [Result] { results.filter { $0.failure != nil } }

    /// How many cases passed.
    public var passedCount: Int { results.count - failures.count }

    /// `N passed, M failed`.
    public var summary: String { "\(passedCount) passed, \(failures.count) failed" }
}

extension ConformanceReport {
    /// A report of `results`, which may come from several suites.
    public init(combining results: [Result]) {
        self.init(results: results)
    }

    /// The report for people: a line for each failure, then ``summary``.
    public var text: String {
        let lines = results.compactMap { result in
            result.failure.map { "FAIL \(result.identifier) [\(result.area)] \($0)" }
        }
        return (lines + [summary]).joined(separator: "\n")
    }
}
