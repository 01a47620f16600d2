import Bytes
import Foundation

/// Runs cases, each in a world of its own.
struct ConformanceRunner {
    /// Where each case gets a folder of its own; nil for memory.
    let temporaryFolder: URL?
    var isServed = false

    /// What an operation reported.
    struct Outcome {
        var status: Int = 0
        var result: AnyObject?
    }

    func run(_ testCase: ConformanceCase) -> ConformanceReport.Result {
        ConformanceReport.Result(
            identifier: testCase.identifier, area: testCase.area, failure: failure(of: testCase))
    }

    private func failure(of testCase: ConformanceCase) -> ConformanceReport.Failure? {
        guard let last = testCase.steps.last else { return nil }
        return failures(of: testCase, expecting: [last.expectation])[0]
    }

    /// Judges one run by several expectations of the last step; nil for each one that holds.
    func failures(
        of testCase: ConformanceCase, expecting expectations: [[String: ConformanceJSON]]
    ) -> [ConformanceReport.Failure?] {
        let world: ConformanceWorld
        do throws(ConformanceProblem) {
            if let member = testCase.unknownMember { throw .unknown("member of a case", member) }
            world = try ConformanceWorld(
                temporaryFolder: temporaryFolder, isServed: isServed, environment: testCase.environment)
        } catch {
            let failure = ConformanceReport.Failure(
                step: 0, operation: "prepare", expected: error.expected, got: error.got)
            return expectations.map { _ in failure }
        }
        defer { world.remove() }
        return world.keychain.run {
            var values = ConformanceValues()
            for (index, step) in testCase.steps.enumerated() {
                let isLast = index == testCase.steps.count - 1
                let outcomes = run(step, expecting: isLast ? expectations : [step.expectation], in: world, &values)
                let failures = outcomes.map { problem in
                    problem.map {
                        ConformanceReport.Failure(
                            step: index + 1, operation: step.operation, expected: $0.expected, got: $0.got)
                    }
                }
                if isLast { return failures }
                if let failure = failures[0] { return expectations.map { _ in failure } }
            }
            return []
        }
    }

    /// What is wrong with the outcome of a step by each of some expectations.
    private func run(
        _ step: ConformanceStep, expecting expectations: [[String: ConformanceJSON]], in world: ConformanceWorld,
        _ values: inout ConformanceValues
    ) -> [ConformanceProblem?] {
        let outcome: Outcome
        do throws(ConformanceProblem) {
            for expectation in expectations { try Self.checkMembers(of: expectation) }
            var arguments = ConformanceArguments(step.arguments)
            outcome = try perform(step.operation, &arguments, in: world, values)
            try arguments.finish()
        } catch {
            return expectations.map { _ in error }
        }
        if let name = step.savedName { values.saved[name] = .some(outcome.result) }
        return expectations.map { problem(with: outcome, by: $0, in: world, values) }
    }

    private static func checkMembers(of expectation: [String: ConformanceJSON]) throws(ConformanceProblem) {
        let known: Set<String> = ["note", "result", "status"]
        if let unknown = expectation.keys.filter({ !known.contains($0) }).min() {
            throw .unknown("expectation", unknown)
        }
    }

    private func problem(
        with outcome: Outcome, by expectation: [String: ConformanceJSON], in world: ConformanceWorld,
        _ values: ConformanceValues
    ) -> ConformanceProblem? {
        do throws(ConformanceProblem) {
            try check(status: outcome.status, expectation["status"] ?? .integer(0))
            if let matcher = expectation["result"] {
                try ConformanceMatcher(values: values, now: world.keychain.time)
                    .match(ConformanceObserved(outcome.result), matcher)
            }
            return nil
        } catch {
            return error
        }
    }

    private func check(status: Int, _ expected: ConformanceJSON) throws(ConformanceProblem) {
        let allowed: [Int64]
        switch expected {
        case .integer(let one): allowed = [one]
        case .object(let choice):
            guard choice.count == 1, let several = choice["oneOf"]?.array, !several.isEmpty,
                case let numbers = several.compactMap(\.integer), numbers.count == several.count
            else { throw .malformed("a status", expected) }
            allowed = numbers
        default: throw .malformed("a status", expected)
        }
        guard allowed.contains(Int64(status)) else {
            let wanted = allowed.map(String.init).joined(separator: " or ")
            throw ConformanceProblem(expected: "status \(wanted)", got: "status \(status)")
        }
    }

    private func perform(
        _ operation: String, _ arguments: inout ConformanceArguments, in world: ConformanceWorld,
        _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome {
        if let outcome = try performItemOperation(operation, &arguments, values) { return outcome }
        if let outcome = try performReferenceOperation(operation, &arguments, values) { return outcome }
        if let outcome = try performAuthenticationOperation(operation, &arguments, values) { return outcome }
        if let outcome = try performWorldOperation(operation, &arguments, in: world, values) { return outcome }
        throw .unknown("operation", operation)
    }
}
