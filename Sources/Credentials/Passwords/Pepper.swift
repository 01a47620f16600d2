import Crypto
import Foundation
import KeychainModel
import StoredKeys

/// A key that passwords are mixed with before they are hashed, kept apart from the hashes: who has the database alone cannot try a
/// single password.
///
/// The password that is hashed is HMAC-SHA256 (RFC 2104) of the person's under the key. Its id stands in the hash as `keyid`, so
/// that a hasher knows which one a hash was made with, and a new one can follow.
///
/// A pepper that is lost takes all passwords with it: back the keychain up.
public struct Pepper: Sendable {
    /// Where a pepper is kept.
    public enum Storage: Sendable, Hashable {
        /// As an item of the keychain, readable from the first unlocking on.
        case keychain
        /// As an item that is encrypted for a key of the Secure Enclave, made for it: it opens on this machine alone.
        case enclave
    }

    /// What stands in the hash: the first eight bytes of SHA-256 over the name.
    let id: String
    private let key: SymmetricKey

    /// The pepper of this name, made when there is none.
    ///
    /// ```swift
    /// let pepper = try Pepper(named: "com.example.shop", in: .enclave)
    /// let hasher = PasswordHasher(pepper: pepper)
    /// ```
    ///
    /// - Parameters:
    ///   - name: For a new pepper another name.
    ///   - storage: Where it is put if it is made.
    ///   - accessGroup: Whose programs may read it; nil for the first group of the program.
    /// - Throws: ``CredentialsError/Code/keychain``.
    public init(
        named name: String, in storage: Storage = .keychain, accessGroup: String? = nil
    ) throws(CredentialsError) {
        let items = KeyItems(
            service: "swift-keychain.pepper", label: "Pepper \(name)", accessGroup: accessGroup,
            prompt: "Check passwords.")
        do throws(StoredKeyError) {
            var secret: Data?
            // Of two programs that make it at once, one finds the other's.
            for _ in 0..<2 where secret == nil {
                if let item = try items.list(name).first, let reference = KeyReference(item.generic, noteCount: 16) {
                    secret = try items.read(Self.keyName(reference.note), reference)
                    if secret == nil {
                        throw StoredKeyError.damaged(reason: "it is gone; restore the keychain from a backup")
                    }
                } else {
                    let (note, value) = (Data([UInt8].random(count: 16)), Data([UInt8].random(count: 32)))
                    let isStored = try items.store(
                        (Self.keyName(note), value), as: name, name: "Pepper \(name)", note: note,
                        StoredKeyProtection(.afterFirstUnlock, isInEnclave: storage == .enclave))
                    if isStored { secret = value }
                }
            }
            guard let secret, secret.count == 32 else {
                throw StoredKeyError.damaged(reason: "it is no key; restore the keychain from a backup")
            }
            key = SymmetricKey(data: secret)
        } catch {
            throw CredentialsError(error)
        }
        id = Self.id(of: name)
    }

    /// - Parameter key: 32 bytes.
    init(name: String, key: SymmetricKey) {
        (id, self.key) = (Self.id(of: name), key)
    }

    private static func keyName(_ note: Data) -> String {
        note.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func id(of name: String) -> String {
        let digest = Data(SHA256.hash(data: Data(name.utf8)).prefix(8))
        return String(digest.base64EncodedString().prefix { $0 != "=" })
    }

    /// What is hashed in the place of a password.
    func mixed(with password: SecretBytes) throws(CredentialsError) -> SecretBytes {
        let code = password.withUnsafeBytes { bytes in
            HMAC<SHA256>.authenticationCode(for: bytes, using: key)
        }
        return try Password.allocating { try code.withUnsafeBytes { try SecretBytes(copying: $0) } }
    }
}
