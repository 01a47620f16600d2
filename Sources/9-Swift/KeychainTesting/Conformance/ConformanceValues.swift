import Bytes
import Foundation
import KeychainServices

/// Turns the values of a case into the objects a caller would pass.
struct ConformanceValues {
    /// What earlier steps saved.
    var saved: [String: AnyObject?] = [:]

    func savedResult(_ name: String) throws(ConformanceProblem) -> AnyObject? {
        guard let result = saved[name] else { throw .unknown("saved result", name) }
        return result
    }

    /// The dictionary that `json` spells: its keys are names of constants, `raw:` and a key, or
    /// `rawdata:` and base64.
    ///
    /// - Parameter base: What the dictionary holds unless `json` says otherwise.
    func dictionary(
        _ json: ConformanceJSON, over base: NSDictionary? = nil
    ) throws(ConformanceProblem) -> NSMutableDictionary {
        guard let members = json.object else { throw .malformed("a dictionary", json) }
        let dictionary = base?.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
        for (name, value) in members {
            dictionary[try key(name)] = try object(value)
        }
        return dictionary
    }

    private func key(_ name: String) throws(ConformanceProblem) -> NSObject {
        if name.hasPrefix("rawdata:") {
            guard let data = Data(base64Encoded: String(name.dropFirst("rawdata:".count))) else {
                throw .malformed("base64", .string(name))
            }
            return data as NSData
        }
        return try Self.keyString(name) as NSString
    }

    /// The string that a member of a dictionary is found under.
    static func keyString(_ name: String) throws(ConformanceProblem) -> String {
        if name.hasPrefix("raw:") { return String(name.dropFirst("raw:".count)) }
        guard let string = ConformanceStringConstants.all[name] else { throw .unknown("constant", name) }
        return string
    }

    /// The object that `json` stands for.
    func object(_ json: ConformanceJSON) throws(ConformanceProblem) -> AnyObject {
        switch json {
        case .null: return NSNull()
        case .boolean(let boolean): return NSNumber(value: boolean)
        case .integer(let integer): return NSNumber(value: integer)
        case .real(let real): return NSNumber(value: real)
        case .string(let string): return string as NSString
        case .array(let elements): return try array(elements)
        case .object(let members): return try tagged(members)
        }
    }

    private func array(_ elements: [ConformanceJSON]) throws(ConformanceProblem) -> NSArray {
        let array = NSMutableArray()
        for element in elements { array.add(try object(element)) }
        return array
    }

    /// An object with one member that says what the value is; any other is a dictionary by the names
    /// of its keys.
    private func tagged(_ members: [String: ConformanceJSON]) throws(ConformanceProblem) -> AnyObject {
        if let saved = members["saved"] { return try savedValue(saved, key: members["key"], members) }
        guard members.count == 1, let (tag, content) = members.first else {
            return try dictionary(.object(members))
        }
        switch (tag, content) {
        case ("data", .string(let base64)):
            guard let data = Data(base64Encoded: base64) else { throw .malformed("base64", content) }
            return data as NSData
        case ("generate", .object(let parts)): return try Self.generated(parts) as NSData
        case ("const", .string(let name)):
            guard let constant = ConformanceConstant(named: name) else { throw .unknown("constant", name) }
            return constant.object
        case ("ref", .string(let name)):
            guard let reference = try savedResult(name) else { throw .malformed("an object saved as '\(name)'", nil) }
            return reference
        case ("date", .string(let text)):
            guard let date = Self.date(text) else { throw .malformed("an ISO 8601 date", content) }
            return date as NSDate
        case ("null", .boolean(true)): return NSNull()
        case ("number", .integer), ("number", .real), ("boolean", .boolean), ("string", .string):
            return try object(content)
        case ("array", .array(let elements)): return try array(elements)
        case ("dictionary", .object): return try dictionary(content)
        case ("accessControl", .object(let parts)): return try accessControl(parts)
        case ("laContext", .object(let properties)): return try ConformanceAuthentication.context(properties)
        case ("policy", .string(let name)): return try ConformanceReferences.policy(named: name)
        default:
            if tag.hasPrefix("kSec") || tag.hasPrefix("raw") { return try dictionary(.object(members)) }
            throw .unknown("kind of value", tag)
        }
    }

    private static func generated(_ parts: [String: ConformanceJSON]) throws(ConformanceProblem) -> Data {
        guard parts.count == 2, case .integer(let byte)? = parts["byte"], let byte = UInt8(exactly: byte),
            case .integer(let count)? = parts["count"], (0...(1 << 26)).contains(count)
        else { throw .malformed("a byte and a count", .object(parts)) }
        return Data(repeating: byte, count: Int(count))
    }

    private func savedValue(
        _ name: ConformanceJSON, key: ConformanceJSON?, _ members: [String: ConformanceJSON]
    ) throws(ConformanceProblem) -> AnyObject {
        guard let name = name.string, members.count == (key == nil ? 1 : 2) else {
            throw .malformed("the name of a saved result", .object(members))
        }
        let result = try savedResult(name)
        guard let key else {
            guard let result else { throw .malformed("a result saved as '\(name)'", nil) }
            return result
        }
        guard let keyName = key.string else { throw .malformed("a key", key) }
        guard let dictionary = result as? NSDictionary, let member = dictionary[try Self.keyString(keyName)] else {
            throw .malformed("'\(keyName)' in the result saved as '\(name)'", nil)
        }
        return member as AnyObject
    }

    private func accessControl(_ parts: [String: ConformanceJSON]) throws(ConformanceProblem) -> AnyObject {
        var arguments = ConformanceArguments(parts)
        let protection = try protectionObject(arguments.take("protection"))
        let flags = try Self.flags(arguments.take("flags"))
        try arguments.finish()
        var error: Unmanaged<CFError>?
        guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, &error) else {
            let code = error.map { CFErrorGetCode($0.takeRetainedValue()) }
            throw ConformanceProblem(expected: "an access control", got: "status \(code ?? 0)")
        }
        return control
    }

    /// A protection class is named by its constant; any other string stands for itself.
    func protectionObject(_ json: ConformanceJSON?) throws(ConformanceProblem) -> AnyObject {
        guard let json else { return NSNull() }
        if let name = json.string { return (ConformanceStringConstants.all[name] ?? name) as NSString }
        return try object(json)
    }

    /// Names without the prefix, such as `userPresence`.
    static func flags(_ json: ConformanceJSON?) throws(ConformanceProblem) -> SecAccessControlCreateFlags {
        guard let names = json?.strings else { throw .malformed("an array of flag names", json) }
        var flags: SecAccessControlCreateFlags = []
        for name in names {
            guard let flag = ConformanceConstant.accessControlFlags[name] else { throw .unknown("flag", name) }
            flags.insert(flag)
        }
        return flags
    }

    /// With or without fractions of a second.
    static func date(_ text: String) -> Date? {
        (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}
