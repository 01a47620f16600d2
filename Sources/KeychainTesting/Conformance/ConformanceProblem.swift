/// Why a step failed.
struct ConformanceProblem: Error {
    let expected: String
    let got: String

    /// The step uses something this version does not know, which is never a pass.
    static func unknown(_ what: String, _ name: String) -> ConformanceProblem {
        ConformanceProblem(expected: "a known \(what)", got: "'\(name)'")
    }

    static func malformed(_ what: String, _ json: ConformanceJSON?) -> ConformanceProblem {
        ConformanceProblem(expected: what, got: json?.description ?? "nothing")
    }
}
