/// Why a step failed.
struct ConformanceProblem: Error {
    let expected: String
    let got: String
    /// Whether the case itself could not be understood, so that no result would be right.
    let isMisunderstanding: Bool

    init(expected: String, got: String, isMisunderstanding: Bool = false) {
        self.expected = expected
        self.got = got
        self.isMisunderstanding = isMisunderstanding
    }

    /// The step uses something this version does not know, which is never a pass.
    static func unknown(_ what: String, _ name: String) -> ConformanceProblem {
        ConformanceProblem(expected: "a known \(what)", got: "'\(name)'", isMisunderstanding: true)
    }

    static func malformed(_ what: String, _ json: ConformanceJSON?) -> ConformanceProblem {
        ConformanceProblem(expected: what, got: json?.description ?? "nothing", isMisunderstanding: true)
    }
}
