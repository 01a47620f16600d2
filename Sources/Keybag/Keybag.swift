import Crypto
import Enclave
import Foundation
import KeychainModel
import SecureMemory

/// The stored form of the class keys: each wrapped under a key that the enclave derives for its class.
///
/// A keybag is a value: changing it makes another one, which replaces the file as a whole. The format
/// is specified in Documentation/Formats.md.
package struct Keybag: Sendable, Equatable {
    /// Names this keybag; the item store records which keybag its rows belong to.
    package let identifier: UUID
    /// The keybag whose erasure made this one. An item store that still names it is emptied, so that an
    /// erase interrupted half-way is completed.
    package let replaces: UUID?
    package let enclaveKind: EnclaveKind
    package let salt: Data
    /// Each class's key, wrapped with AES key wrap (RFC 3394): 40 bytes.
    package private(set) var wrappedKeys: [ProtectionClass: Data]

    /// A keybag with fresh random class keys, all but the passcode-only class.
    package static func generate(
        in enclave: any Enclave, replacing replaced: UUID? = nil
    ) throws(KeybagError) -> Keybag {
        var keybag = Keybag(
            identifier: UUID(), replaces: replaced, enclaveKind: enclave.kind,
            salt: SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }, wrappedKeys: [:])
        for protection in ProtectionClass.allCases where protection != .whenPasscodeSetThisDeviceOnly {
            try keybag.generateKey(for: protection, in: enclave)
        }
        return keybag
    }

    /// Gives `protection` a fresh key; whatever hung on an older one is lost for good.
    package mutating func generateKey(for protection: ProtectionClass, in enclave: any Enclave) throws(KeybagError) {
        let wrapping = try wrappingKey(for: protection, in: enclave)
        do {
            wrappedKeys[protection] = try AES.KeyWrap.wrap(SymmetricKey(size: .bits256), using: wrapping)
        } catch {
            throw .malformed(reason: "class key \(protection.rawValue) cannot be wrapped")
        }
    }

    /// Forgets the key of `protection` for good.
    package mutating func destroyKey(for protection: ProtectionClass) {
        wrappedKeys[protection] = nil
    }

    /// The class key of `protection`, unwrapped.
    package func unwrapKey(for protection: ProtectionClass, in enclave: any Enclave) throws(KeybagError) -> LockedBytes
    {
        guard let wrapped = wrappedKeys[protection] else { throw .noClassKey(protection) }
        let wrapping = try wrappingKey(for: protection, in: enclave)
        guard let key = try? AES.KeyWrap.unwrap(wrapped, using: wrapping) else { throw .authenticationFailed }
        guard let locked = try? key.withUnsafeBytes({ try LockedBytes(copying: $0) }) else { throw .memoryUnavailable }
        return locked
    }

    private func wrappingKey(for protection: ProtectionClass, in enclave: any Enclave) throws(KeybagError)
        -> SymmetricKey
    {
        try Self.derive(in: enclave, salt: salt, context: "swift-keychain/v1/class-key/\(protection.rawValue)")
    }

    static func derive(in enclave: any Enclave, salt: Data, context: String) throws(KeybagError) -> SymmetricKey {
        do {
            return try enclave.deriveKey(tangling: nil, salt: salt, context: context)
        } catch {
            throw .memoryUnavailable
        }
    }

    init(
        identifier: UUID, replaces: UUID?, enclaveKind: EnclaveKind, salt: Data, wrappedKeys: [ProtectionClass: Data]
    ) {
        self.identifier = identifier
        self.replaces = replaces
        self.enclaveKind = enclaveKind
        self.salt = salt
        self.wrappedKeys = wrappedKeys
    }
}
