import Foundation
import KeychainServices

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
        let world: ConformanceWorld
        do throws(ConformanceProblem) {
            if let member = testCase.unknownMember { throw .unknown("member of a case", member) }
            world = try ConformanceWorld(
                temporaryFolder: temporaryFolder, isServed: isServed, environment: testCase.environment)
        } catch {
            return ConformanceReport.Failure(
                step: 0, operation: "prepare", expected: error.expected, got: error.got)
        }
        defer { world.remove() }
        return world.keychain.run {
            var values = ConformanceValues()
            for (index, step) in testCase.steps.enumerated() {
                do throws(ConformanceProblem) {
                    try run(step, in: world, &values)
                } catch {
                    return ConformanceReport.Failure(
                        step: index + 1, operation: step.operation, expected: error.expected, got: error.got)
                }
            }
            return nil
        }
    }

    private func run(
        _ step: ConformanceStep, in world: ConformanceWorld, _ values: inout ConformanceValues
    ) throws(ConformanceProblem) {
        let known: Set<String> = ["note", "result", "status"]
        if let unknown = step.expectation.keys.filter({ !known.contains($0) }).min() {
            throw .unknown("expectation", unknown)
        }
        var arguments = ConformanceArguments(step.arguments)
        let outcome = try perform(step.operation, &arguments, in: world, values)
        try arguments.finish()
        try check(status: outcome.status, step.expectation["status"] ?? .integer(0))
        if let name = step.savedName { values.saved[name] = .some(outcome.result) }
        if let matcher = step.expectation["result"] {
            try ConformanceMatcher(values: values, now: world.keychain.time)
                .match(ConformanceObserved(outcome.result), matcher)
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
