#if ConfigurationSupport
import Configuration
import Foundation
import Keychain
import VaultInterface

/// Configuration from the keychain: the secrets of one service, for swift-configuration's `ConfigReader`.
///
/// ```swift
/// let config = ConfigReader(providers: [
///     KeychainProvider(service: "com.example.shop"),
///     EnvironmentVariablesProvider(),
/// ])
/// let password = try config.requiredString(forKey: "database.password", isSecret: true)
/// ```
///
/// The value of a key is that of the generic password whose account is the whole key, its components joined by dots.
/// The key's context is not looked at. A key without an item, or with one that has no value, has no value here, and the
/// next provider is asked. An item that cannot be read, because the vault is locked, the program does not hold the
/// access group or something is damaged, is an error and never taken for missing. Nobody is asked: reading an item with
/// an access control that wants a person is an error too.
///
/// Values are bytes, or UTF-8 text in the forms that environment variables have:
///
/// | asked for | stored |
/// |---|---|
/// | string | the text as it is, with its spaces |
/// | int, double | what `Int` and `Double` read, without spaces |
/// | bool | `true`, `false`, `yes`, `no`, `1`, `0`, in small or capital letters |
/// | bytes | the bytes as they are; with a decoder, text |
/// | arrays | elements between separators, without the spaces around them; or JSON, as `Keychain.set` stores an array |
/// | array of byte chunks | elements of such an array, each as base64, or as the decoder wants it |
///
/// All values are marked as secrets. No value is kept: each reading is one of the keychain, and fails when the vault is
/// locked by then. A snapshot keeps values for as long as it lives, and watching keeps the last one.
///
/// All errors are `KeychainError`. Their messages name the key, and never a value.
public struct KeychainProvider: Sendable {
    let keychain: Keychain
    let forms: ValueForms

    /// The secrets of a service; `bytes` are the stored bytes as they are.
    ///
    /// - Parameters:
    ///   - service: The service of the items.
    ///   - accessGroup: The access group they are in; nil for the first group of the program.
    ///   - arraySeparator: What separates the elements of an array.
    public init(service: String, accessGroup: String? = nil, arraySeparator: Character = ",") {
        keychain = Keychain(service: service, accessGroup: accessGroup, interaction: .forbidden)
        forms = ValueForms(separator: arraySeparator)
    }

    /// The secrets of a service; `bytes` are stored as text, as in environment variables.
    ///
    /// - Parameters:
    ///   - service: The service of the items.
    ///   - accessGroup: The access group they are in; nil for the first group of the program.
    ///   - bytesDecoder: What makes bytes of the text, such as `.base64`.
    ///   - arraySeparator: What separates the elements of an array.
    public init(
        service: String, accessGroup: String? = nil, bytesDecoder: some ConfigBytesFromStringDecoder,
        arraySeparator: Character = ","
    ) {
        keychain = Keychain(service: service, accessGroup: accessGroup, interaction: .forbidden)
        forms = ValueForms(bytesDecoder: bytesDecoder, separator: arraySeparator)
    }

    /// What a key has as its value.
    ///
    /// - Parameter data: What is stored for it; nil for nothing.
    func result(
        _ data: Data?, for key: AbsoluteConfigKey, as type: ConfigType
    ) throws -> LookupResult {
        guard let data else { return LookupResult(encodedKey: key.account, value: nil) }
        guard let content = forms.content(of: data, as: type) else { throw KeychainError.notConvertible(to: type) }
        return LookupResult(encodedKey: key.account, value: ConfigValue(content, isSecret: true))
    }
}

extension KeychainProvider: ConfigProvider {
    /// The type and the service, such as `KeychainProvider[com.example.shop]`.
    public var providerName: String { "KeychainProvider[\(keychain.service ?? "")]" }

    /// The value that is stored now. Reads the keychain, which takes about a tenth of a millisecond, and waits for it.
    ///
    /// - Throws: `KeychainError` with the code `undecodableValue` when the value is not one of the type, and what
    ///   reading fails with.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try key.naming {
            try result(keychain.get(Data.self, for: key.account), for: key, as: type)
        }
    }

    /// The value that is stored now. The task waits, its thread does not.
    ///
    /// - Throws: As ``value(forKey:type:)``, and `KeychainError` with the code `taskCanceled`.
    public nonisolated(nonsending) func fetchValue(
        forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult {
        try await key.naming {
            try await result(keychain.get(Data.self, for: key.account), for: key, as: type)
        }
    }

    /// All values of the service, of one moment. Reads them all, and waits for that.
    ///
    /// If one cannot be read, looking up any key in the snapshot throws why.
    public func snapshot() -> any ConfigSnapshot {
        KeychainSnapshot(of: self, Result { try .init(keychain.items(includingValues: true)) })
    }
}

extension KeychainProvider: CustomStringConvertible, CustomDebugStringConvertible {
    /// The type and the service.
    public var description: String { providerName }

    /// The same as the description.
    public var debugDescription: String { description }
}

extension AbsoluteConfigKey {
    /// The account of the item that has the key's value.
    var account: String { components.joined(separator: ".") }

    /// Runs `body`, naming the key in the message of what it throws.
    func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw KeychainError(error).named(account)
        }
    }

    /// Runs `body`, naming the key in the message of what it throws.
    nonisolated(nonsending) func naming<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch {
            throw KeychainError(error).named(account)
        }
    }
}
#endif
