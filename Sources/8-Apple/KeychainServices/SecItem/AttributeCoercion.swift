import Bytes
import Certificates
import Foundation
import KeychainModel

/// Turns what a caller put into a dictionary into attribute values, by the kind of the attribute.
///
/// A dictionary's Booleans arrive as Swift `Bool`, strings as `String`, data as `Data`, dates as `Date`
/// and other numbers as `NSNumber`. A number converts to `Bool` in a cast, so a Boolean is told by its
/// dynamic type and not by `is Bool`.
enum AttributeCoercion {
    static func isBoolean(_ value: Any) -> Bool { type(of: value) == Bool.self }

    /// The Boolean, or nil for anything that is not a Boolean, numbers included.
    static func boolean(_ value: Any) -> Bool? { isBoolean(value) ? value as? Bool : nil }

    /// The value as an attribute of this kind.
    ///
    /// - Throws: -50 for a value of the wrong type.
    static func value(_ value: Any, of name: AttributeName, as kind: AttributeKind) throws(SecItemFailure)
        -> AttributeValue
    {
        switch kind {
        case .blob: try blob(value)
        case .data: try data(value, of: name)
        case .string: .string(try string(value))
        case .number: try number(value)
        case .date: try date(value)
        case .accessible: .string(try protection(value).rawValue)
        // An access control has a field of its own in every request.
        case .accessControl: throw .parameter
        }
    }

    static func string(_ value: Any) throws(SecItemFailure) -> String {
        switch value {
        case let string as String: return string
        case let identifier as UUID: return identifier.uuidString
        case let data as Data:
            guard let string = String(data: data, encoding: .utf8) else { throw .parameter }
            return string
        default: throw .parameter
        }
    }

    static func protection(_ value: Any) throws(SecItemFailure) -> ProtectionClass {
        guard let string = value as? String, let protection = ProtectionClass(rawValue: string) else {
            throw .parameter
        }
        return protection
    }

    static func accessControl(_ value: Any) throws(SecItemFailure) -> AccessControl {
        guard let object = value as? SecAccessControl else { throw .parameter }
        return object.control
    }

    /// Whether the items meant are synchronizable, local or both.
    static func synchronizable(_ value: Any) throws(SecItemFailure) -> SynchronizableScope {
        if value as? String == "syna" { return .any }
        switch try number(value) {
        case .number(let number): return number == 0 ? .localOnly : .synchronizableOnly
        default: throw .parameter
        }
    }

    private static func blob(_ value: Any) throws(SecItemFailure) -> AttributeValue {
        if let string = value as? String { return .string(string) }
        if let data = value as? Data { return .data(data) }
        if !isBoolean(value), let number = value as? NSNumber { return numeric(number) }
        throw .parameter
    }

    private static func data(_ value: Any, of name: AttributeName) throws(SecItemFailure) -> AttributeValue {
        switch try blob(value) {
        case .data(let data): return .data(name == .issuer || name == .subject ? normalizedName(data) : data)
        case let other: return .data(Data(other.canonicalBytes(as: .data)))
        }
    }

    /// Names are stored and compared as the contents of a normalised name; a whole name, which starts
    /// with the tag of a SEQUENCE, is brought into that form.
    private static func normalizedName(_ data: Data) -> Data {
        guard data.first == 0x30, let name = try? DistinguishedName(der: data) else { return data }
        return name.normalizedContent
    }

    private static func number(_ value: Any) throws(SecItemFailure) -> AttributeValue {
        if let boolean = boolean(value) { return .number(boolean ? 1 : 0) }
        if let string = value as? String {
            guard let number = Int32(string), String(number) == string else { return .string(string) }
            return .number(Int64(number))
        }
        guard let number = value as? NSNumber else { throw .parameter }
        return numeric(number)
    }

    /// Whole numbers are integers, whatever type they came in.
    private static func numeric(_ number: NSNumber) -> AttributeValue {
        if let integer = Int64(exactly: number) { return .number(integer) }
        return .real(number.doubleValue)
    }

    private static func date(_ value: Any) throws(SecItemFailure) -> AttributeValue {
        guard let date = value as? Date, date.isStorable else { throw .parameter }
        return .date(date)
    }
}
