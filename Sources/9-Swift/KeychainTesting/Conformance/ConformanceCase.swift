/// One case of a ``ConformanceSuite``: what is done to an empty keychain, and what must be seen.
public struct ConformanceCase: Sendable, Hashable {
    /// Names the case.
    public let identifier: String
    /// What the case is about, such as `genp-basic`.
    public let area: String
    /// The fact that the case states, for people; nil if the identifier says it.
    public let title: String?

    let environment: [String: ConformanceJSON]
    let steps: [ConformanceStep]
    /// A member that this version does not know; the case fails for it, because it might change what
    /// the case means.
    var unknownMember: String?
}

/// One step of a case: an operation, and what it must report.
struct ConformanceStep: Sendable, Hashable {
    let operation: String
    let arguments: [String: ConformanceJSON]
    let expectation: [String: ConformanceJSON]
    /// The name under which later steps find the result.
    let savedName: String?
}

extension ConformanceCase {
    /// Members that explain a case and do not change it.
    private static let remarks: Set<String> = ["confidence", "note", "source", "title"]

    init(_ json: ConformanceJSON) throws(ConformanceError) {
        guard let object = json.object else { throw .malformedFile("a case is not an object") }
        guard let identifier = object["id"]?.string, !identifier.isEmpty else {
            throw .malformedFile("a case has no \"id\"")
        }
        guard let area = object["area"]?.string else {
            throw .malformedFile("case \(identifier) has no \"area\"")
        }
        guard let steps = object["steps"]?.array, !steps.isEmpty else {
            throw .malformedFile("case \(identifier) has no \"steps\"")
        }
        var environment: [String: ConformanceJSON] = [:]
        if let given = object["env"] {
            guard let members = given.object else {
                throw .malformedFile("case \(identifier) has an \"env\" that is not an object")
            }
            environment = members
        }
        let known = Self.remarks.union(["area", "env", "id", "steps"])
        unknownMember = object.keys.filter { !known.contains($0) }.min()
        self.identifier = identifier
        self.area = area
        self.title = object["title"]?.string
        self.environment = environment
        var parsed: [ConformanceStep] = []
        for (index, step) in steps.enumerated() {
            parsed.append(try ConformanceStep(step, place: "case \(identifier), step \(index + 1)"))
        }
        self.steps = parsed
    }
}

extension ConformanceStep {
    fileprivate init(_ json: ConformanceJSON, place: String) throws(ConformanceError) {
        guard var members = json.object else { throw .malformedFile("\(place) is not an object") }
        guard let operation = members.removeValue(forKey: "op")?.string else {
            throw .malformedFile("\(place) has no \"op\"")
        }
        guard let expectation = members.removeValue(forKey: "expect")?.object else {
            throw .malformedFile("\(place) has no \"expect\"")
        }
        var savedName: String?
        if let save = members.removeValue(forKey: "save") {
            guard let name = save.string else { throw .malformedFile("\(place) has a \"save\" that is not a name") }
            savedName = name
        }
        members["note"] = nil
        self.operation = operation
        self.arguments = members
        self.expectation = expectation
        self.savedName = savedName
    }
}
