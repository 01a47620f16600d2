import Crypto
import Foundation
import Keychain
import KeychainServices

/// Keys that the app has for itself, in the keychain: what was made with them before a restart is good after it.
public enum ServerKey: String, Sendable {
    /// By which the server knows its own pages' forms.
    case forms
    /// By which it knows devices that have signed in before.
    case devices

    /// The key, of 256 bits; made at the first use.
    ///
    /// - Throws: `KeychainError`.
    public func load() throws -> SymmetricKey {
        let keychain = Keychain(
            service: "org.example.friendvatars.keys", accessibility: .afterFirstUnlockThisDeviceOnly)
        let key = try keychain.update(Data.self, for: rawValue) {
            if $0 == nil { $0 = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) } }
        }
        guard var key else {
            throw KeychainError(
                .itemNotFound, status: errSecItemNotFound,
                message: "the key '\(rawValue)' was removed while it was made")
        }
        // The copy goes; the key itself is in memory that swift-crypto wipes.
        defer { key.resetBytes(in: key.startIndex..<key.endIndex) }
        return SymmetricKey(data: key)
    }
}
