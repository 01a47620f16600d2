import Bytes
import Foundation
import KeychainServices

/// Compares a result with what a case says about it.
struct ConformanceMatcher {
    let values: ConformanceValues
    /// What the keychain's clock shows.
    let now: Date

    /// How far a date may be from ``now`` to be near it, in seconds.
    static let nearness: TimeInterval = 5

    /// - Throws: What was expected and what was seen; a matcher that is not known is a mismatch, also
    ///   where nothing is compared with it.
    func match(_ observed: ConformanceObserved, _ matcher: ConformanceJSON) throws(ConformanceProblem) {
        try Self.validate(matcher)
        try compare(observed, matcher)
    }

    // MARK: What a matcher may say

    private static let known: Set<String> = [
        "type", "kind", "equals", "length", "minLength", "maxLength", "prefix", "prefixBytes", "count", "each",
        "contains", "keysPresent", "keysAbsent", "anyOf", "unordered", "valueTypes", "datesNear", "equalsSaved",
        "notEqualsSaved", "equalsSavedKeys", "notEqualsSavedKeys", "greaterThanSavedKeys", "equalKeys", "atMost",
        "atLeast",
    ]

    private static let types: Set<String> = [
        "null", "data", "dictionary", "array", "ref", "string", "number", "boolean", "date",
    ]

    static func validate(_ matcher: ConformanceJSON) throws(ConformanceProblem) {
        guard let members = matcher.object, !members.isEmpty else { throw .malformed("a matcher", matcher) }
        for (name, content) in members {
            guard known.contains(name) else { throw .unknown("matcher", name) }
            switch name {
            case "type": try validate(type: content)
            case "each": try validate(content)
            case "anyOf":
                guard let alternatives = content.array else { throw .malformed("an array of matchers", content) }
                for alternative in alternatives { try validate(alternative) }
            case "valueTypes":
                guard let types = content.object else { throw .malformed("types by key", content) }
                for type in types.values { try validate(type: type) }
            default: break
            }
        }
    }

    private static func validate(type: ConformanceJSON) throws(ConformanceProblem) {
        guard let name = type.string, types.contains(name) else { throw .unknown("type", type.description) }
    }

    // MARK: Comparing

    private func compare(_ observed: ConformanceObserved, _ matcher: ConformanceJSON) throws(ConformanceProblem) {
        guard let members = matcher.object else { throw .malformed("a matcher", matcher) }
        // In the order of their names, so that a report does not change from run to run.
        for (name, content) in members.sorted(by: { $0.key < $1.key }) {
            let matches: Bool
            switch name {
            case "type": matches = content.string == observed.typeName
            case "each", "anyOf", "count", "unordered":
                matches = try compareElements(observed, name, content)
            case "equals", "kind", "length", "minLength", "maxLength", "prefix", "prefixBytes", "atMost", "atLeast":
                matches = try compareValue(observed, name, content)
            case "equalsSaved", "notEqualsSaved":
                guard let saved = content.string else { throw .malformed("the name of a saved result", content) }
                let equal = observed.isEqual(to: ConformanceObserved(try values.savedResult(saved)))
                matches = equal == (name == "equalsSaved")
            case "datesNear": matches = try compareDates(observed, content)
            default: matches = try compareMembers(observed, name, content)
            }
            guard matches else {
                throw ConformanceProblem(expected: "\(name) \(content)", got: observed.description)
            }
        }
    }

    private func compareValue(
        _ observed: ConformanceObserved, _ name: String, _ content: ConformanceJSON
    ) throws(ConformanceProblem) -> Bool {
        switch (name, observed, content) {
        case ("equals", _, _):
            return observed.isEqual(to: ConformanceObserved(try values.object(content)))
        case ("kind", _, .string(let kind)):
            guard let type = ConformanceReferences.kinds[kind] else { throw .unknown("kind", kind) }
            guard case .reference(let object) = observed else { return false }
            return CFGetTypeID(object.base as AnyObject) == type
        case ("length", .data(let data), .integer(let length)): return data.count == length
        case ("minLength", .data(let data), .integer(let length)): return data.count >= length
        case ("maxLength", .data(let data), .integer(let length)): return data.count <= length
        case ("prefix", .data(let data), .string(let prefix)): return data.starts(with: prefix.utf8)
        case ("prefixBytes", .data(let data), _):
            guard let prefix = try values.object(content) as? NSData else { throw .malformed("data", content) }
            return data.starts(with: prefix as Data)
        case ("atMost", .integer(let number), .integer(let limit)): return number <= limit
        case ("atLeast", .integer(let number), .integer(let limit)): return number >= limit
        case ("atMost", .real(let number), .integer(let limit)): return number <= Double(limit)
        case ("atLeast", .real(let number), .integer(let limit)): return number >= Double(limit)
        default: return false
        }
    }

    private func compareElements(
        _ observed: ConformanceObserved, _ name: String, _ content: ConformanceJSON
    ) throws(ConformanceProblem) -> Bool {
        if name == "anyOf" {
            for alternative in content.array ?? [] {
                do throws(ConformanceProblem) {
                    try compare(observed, alternative)
                    return true
                } catch {
                    if error.isMisunderstanding { throw error }
                }
            }
            return false
        }
        guard case .array(let elements) = observed else { return false }
        switch name {
        case "count": return content == .integer(Int64(elements.count))
        case "each":
            for element in elements { try compare(element, content) }
            return true
        default:
            guard let expected = content.array, expected.count == elements.count else { return false }
            var left = elements
            for value in expected {
                let wanted = ConformanceObserved(try values.object(value))
                guard let index = left.firstIndex(where: { $0.isEqual(to: wanted) }) else { return false }
                left.remove(at: index)
            }
            return true
        }
    }
}
