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
    init(keychainData data: Data) throws(KeychainError)

    /// The bytes to store.
    ///
    /// - Throws: ``KeychainError/Code/unencodableValue`` when the value has no such form.
    func keychainData() throws(KeychainError) -> Data
}

extension KeychainValue where Self: Codable {
    /// Decodes JSON.
    public init(keychainData data: Data) throws(KeychainError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            // The decoder's own error may quote the secret, so it goes no further.
            throw .undecodable(as: Self.self)
        }
    }

    /// Encodes JSON with sorted keys, so that equal values are equal bytes.
    public func keychainData() throws(KeychainError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(self)
        } catch {
            throw .unencodable(Self.self)
        }
    }
}

extension String: KeychainValue {
    /// Reads UTF-8; malformed UTF-8 is an error and not repaired.
    public init(keychainData data: Data) throws(KeychainError) {
        guard let string = String(validating: data, as: UTF8.self) else { throw .undecodable(as: String.self) }
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
    /// The bytes themselves for `[UInt8]`, JSON for every other element.
    public init(keychainData data: Data) throws(KeychainError) {
        if let bytes = [UInt8](data) as? [Element] {
            self = bytes
        } else {
            do {
                self = try JSONDecoder().decode(Self.self, from: data)
            } catch {
                throw .undecodable(as: Self.self)
            }
        }
    }

    /// The bytes themselves for `[UInt8]`, JSON for every other element.
    public func keychainData() throws(KeychainError) -> Data {
        if let bytes = self as? [UInt8] { return Data(bytes) }
        do {
            return try JSONEncoder().encode(self)
        } catch {
            throw .unencodable(Self.self)
        }
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
