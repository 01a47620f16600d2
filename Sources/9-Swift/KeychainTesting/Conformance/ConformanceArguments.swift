import Foundation

/// The arguments of a step. Every one has to be taken: an argument that an operation does not know is
/// not passed over.
struct ConformanceArguments {
    private var remaining: [String: ConformanceJSON]

    init(_ arguments: [String: ConformanceJSON]) {
        remaining = arguments
    }

    mutating func take(_ name: String) -> ConformanceJSON? { remaining.removeValue(forKey: name) }

    mutating func takeString(_ name: String) throws(ConformanceProblem) -> String {
        let json = take(name)
        guard let string = json?.string else { throw .malformed("a string '\(name)'", json) }
        return string
    }

    /// Nil when the argument is absent.
    mutating func takeBoolean(_ name: String) throws(ConformanceProblem) -> Bool? {
        guard let json = take(name) else { return nil }
        guard case .boolean(let boolean) = json else { throw .malformed("true or false as '\(name)'", json) }
        return boolean
    }

    func finish() throws(ConformanceProblem) {
        if let unknown = remaining.keys.min() { throw .unknown("argument", unknown) }
    }
}
