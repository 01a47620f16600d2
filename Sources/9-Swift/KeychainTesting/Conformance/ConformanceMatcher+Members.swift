import Foundation

extension ConformanceMatcher {
    /// The matchers that look into a dictionary.
    func compareMembers(
        _ observed: ConformanceObserved, _ name: String, _ content: ConformanceJSON
    ) throws(ConformanceProblem) -> Bool {
        guard case .dictionary(let members) = observed else { return false }
        switch name {
        case "keysPresent", "keysAbsent":
            guard let keys = content.strings else { throw .malformed("an array of keys", content) }
            for key in keys {
                let isPresent = members[try ConformanceValues.keyString(key)] != nil
                guard isPresent == (name == "keysPresent") else { return false }
            }
            return true
        case "contains":
            for (key, value) in try object(content) {
                let wanted = ConformanceObserved(try values.object(value))
                guard let member = members[try ConformanceValues.keyString(key)], member.isEqual(to: wanted) else {
                    return false
                }
            }
            return true
        case "valueTypes":
            for (key, type) in try object(content) {
                guard members[try ConformanceValues.keyString(key)]?.typeName == type.string else { return false }
            }
            return true
        case "equalKeys":
            guard let pairs = content.array else { throw .malformed("pairs of keys", content) }
            for pair in pairs {
                guard let keys = pair.strings, keys.count == 2 else { throw .malformed("a pair of keys", pair) }
                guard let left = members[try ConformanceValues.keyString(keys[0])],
                    let right = members[try ConformanceValues.keyString(keys[1])], left.isEqual(to: right)
                else { return false }
            }
            return true
        case "equalsSavedKeys", "notEqualsSavedKeys", "greaterThanSavedKeys":
            for (key, place) in try object(content) {
                let saved = try savedMember(place)
                guard let member = members[try ConformanceValues.keyString(key)] else { return false }
                switch name {
                case "equalsSavedKeys": guard member.isEqual(to: saved) else { return false }
                case "notEqualsSavedKeys": guard !member.isEqual(to: saved) else { return false }
                default: guard member.isGreater(than: saved) else { return false }
                }
            }
            return true
        default: throw .unknown("matcher", name)
        }
    }

    /// `[savedName, key]`.
    private func savedMember(_ place: ConformanceJSON) throws(ConformanceProblem) -> ConformanceObserved {
        guard let names = place.strings, names.count == 2 else {
            throw .malformed("a saved result's name and a key", place)
        }
        guard case .dictionary(let members) = ConformanceObserved(try values.savedResult(names[0])),
            let member = members[try ConformanceValues.keyString(names[1])]
        else { throw .malformed("'\(names[1])' in the result saved as '\(names[0])'", nil) }
        return member
    }

    private func object(_ content: ConformanceJSON) throws(ConformanceProblem) -> [String: ConformanceJSON] {
        guard let object = content.object else { throw .malformed("an object", content) }
        return object
    }

    /// The observed date itself (`true`), or members of the observed dictionary by an array of keys or
    /// an object of keys and dates, where `"now"` is the keychain's present.
    func compareDates(
        _ observed: ConformanceObserved, _ content: ConformanceJSON
    ) throws(ConformanceProblem) -> Bool {
        switch (content, observed) {
        case (.boolean(true), _): return isNear(observed, now)
        case (.array, .dictionary(let members)):
            guard let keys = content.strings else { throw .malformed("an array of keys", content) }
            for key in keys {
                guard isNear(members[try ConformanceValues.keyString(key)], now) else { return false }
            }
            return true
        case (.object(let dates), .dictionary(let members)):
            for (key, value) in dates {
                let wanted: Date
                if value == .string("now") {
                    wanted = now
                } else if let date = try values.object(value) as? NSDate {
                    wanted = date as Date
                } else {
                    throw .malformed("a date or \"now\"", value)
                }
                guard isNear(members[try ConformanceValues.keyString(key)], wanted) else { return false }
            }
            return true
        case (.array, _), (.object, _): return false
        default: throw .malformed("true, keys or dates by key", content)
        }
    }

    private func isNear(_ observed: ConformanceObserved?, _ wanted: Date) -> Bool {
        guard case .date(let date)? = observed else { return false }
        return abs(date.timeIntervalSince(wanted)) <= Self.nearness
    }
}

extension ConformanceObserved {
    /// Whether the two are of one kind that has an order, and this is the later or larger.
    fileprivate func isGreater(than other: ConformanceObserved) -> Bool {
        switch (self, other) {
        case (.date(let left), .date(let right)): left > right
        case (.integer(let left), .integer(let right)): left > right
        case (.real(let left), .real(let right)): left > right
        default: false
        }
    }
}
