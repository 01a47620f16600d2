import Foundation

extension ConformanceReport {
    /// The report for programs: a JSON object with `passed` and `failed` as counts, and `cases`, an
    /// array of objects with `id`, `area`, `passed` and, if it failed, `failure` with `step`,
    /// `operation`, `expected` and `got`.
    public var json: String {
        struct Output: Encodable {
            struct Case: Encodable {
                struct Failure: Encodable {
                    let step: Int
                    let operation: String
                    let expected: String
                    let got: String
                }
                let id: String
                let area: String
                let passed: Bool
                let failure: Failure?
            }
            let passed: Int
            let failed: Int
            let cases: [Case]
        }
        let output = Output(
            passed: passedCount, failed: failures.count,
            cases: results.map { result in
                Output.Case(
                    id: result.identifier, area: result.area, passed: result.failure == nil,
                    failure: result.failure.map {
                        .init(step: $0.step, operation: $0.operation, expected: $0.expected, got: $0.got)
                    })
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and Booleans can always be encoded.
        let data = (try? encoder.encode(output)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
