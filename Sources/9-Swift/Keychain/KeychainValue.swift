import Foundation

/// Something that can be the value of a keychain item.
///
/// `String` is stored as UTF-8 and `Data` as it is, so that other programs and Apple's functions read
/// the same value. Any `Codable` type becomes storable, as JSON, by saying so:
///
/// ```swift
/// struct Session: Codable, KeychainValue {
///     var accessToken: String
///     var expires: Date
/// }
/// try keychain.set(session, for: "session")
/// let session = try keychain.get(Session.self, for: "session")
/// ```
public protocol KeychainValue: Sendable {
    /// The value that these bytes stand for.
    ///
    /// - Throws: ``KeychainError/Code/undecodableValue`` when they stand for none, without quoting them.
    init(keychainData data: Data) throws

    /// The bytes to store.
    ///
    /// - Throws: ``KeychainError/Code/unencodableValue`` when the value has no such form.
    func keychainData() throws -> Data
}

extension KeychainValue where Self: Codable {
    /// Decodes JSON.
    ///
    /// - Throws: ``KeychainError``.
    public init(keychainData data: Data) throws { self = try ValueJSON.decode(Self.self, from: data) }

    /// Encodes JSON with sorted keys, so that equal values are equal bytes.
    ///
    /// - Throws: ``KeychainError``.
    public func keychainData() throws -> Data { try ValueJSON.encode(self) }
}

/// The JSON of all values, with errors that quote none of them: those of the coders may have a secret in them.
private enum ValueJSON {
    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw KeychainError.undecodable(as: type)
        }
    }

    static func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(value)
        } catch {
            throw KeychainError.unencodable(Value.self)
        }
    }
}

extension String: KeychainValue {
    /// Reads UTF-8; malformed UTF-8 is an error and not repaired.
    ///
    /// - Throws: ``KeychainError``.
    public init(keychainData data: Data) throws {
        guard let string = String(validating: data, as: UTF8.self) else {
            throw KeychainError.undecodable(as: String.self)
        }
        self = string
    }

    /// The UTF-8 bytes.
    public func keychainData() -> Data { Data(utf8) }
}

extension Data: KeychainValue {
    /// The bytes themselves.
    public init(keychainData data: Data) { self = data }

    /// The bytes themselves.
    public func keychainData() -> Data { self }
}

extension Array: KeychainValue where Element: Codable & KeychainValue {
    /// The bytes themselves for `[UInt8]`, JSON with sorted keys for every other element.
    ///
    /// - Throws: ``KeychainError``.
    public init(keychainData data: Data) throws {
        self = try [UInt8](data) as? [Element] ?? ValueJSON.decode(Self.self, from: data)
    }

    /// The bytes themselves for `[UInt8]`, JSON with sorted keys for every other element.
    ///
    /// - Throws: ``KeychainError``.
    public func keychainData() throws -> Data {
        if let bytes = self as? [UInt8] { return Data(bytes) }
        return try ValueJSON.encode(self)
    }
}

extension Dictionary: KeychainValue where Key: Codable & KeychainValue, Value: Codable & KeychainValue {}
extension Bool: KeychainValue {}
extension UInt8: KeychainValue {}
extension Int: KeychainValue {}
extension Int64: KeychainValue {}
extension UInt64: KeychainValue {}
extension Double: KeychainValue {}
extension Date: KeychainValue {}
extension UUID: KeychainValue {}
extension URL: KeychainValue {}
