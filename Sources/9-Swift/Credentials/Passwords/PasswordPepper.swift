import Bytes
import Crypto
import Foundation
import StoredKeys
import VaultInterface

/// A key that passwords are mixed with before they are hashed. It is kept apart from the hashes: the database alone
/// does not let anybody try a single password.
///
/// The password that is hashed is HMAC-SHA256 (RFC 2104) of the person's under the key. Its id stands in the hash as
/// `keyid`, so that a hasher knows which one a hash was made with, and a new one can follow.
///
/// A pepper that is lost takes all passwords with it: back the keychain up.
public struct PasswordPepper: Sendable {
    /// What stands in the hash: the first nine bytes of HMAC-SHA256 over the word `keyid` under the key.
    let id: String
    private let key: SymmetricKey

    /// The pepper of this name.
    ///
    /// - Parameters:
    ///   - name: What it was made with.
    ///   - accessGroup: Its group; nil for all that the program holds.
    /// - Throws: ``CredentialsError/Code/noPepper``, also where the vault is another one than the one it was made in;
    ///   ``CredentialsError/Code/keychain``.
    public init(named name: String, accessGroup: String? = nil) throws {
        let items = Self.items(name, accessGroup)
        do throws(StoredKeyError) {
            let listed = try items.list(name)
            guard listed.count < 2 else {
                throw StoredKeyError.damaged(reason: "there are several of its name in different groups; say which")
            }
            guard let item = listed.first else { throw StoredKeyError.vault(.itemNotFound) }
            guard let reference = StoredKeyReference(item.generic, noteCount: 16),
                var secret = try items.read(Self.keyName(reference.note), reference)
            else { throw StoredKeyError.damaged(reason: "it is gone, or no key; restore the keychain from a backup") }
            defer { secret.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
            guard secret.count == 32 else { throw StoredKeyError.damaged(reason: "it is no key of 32 bytes") }
            self.init(key: SymmetricKey(data: secret))
        } catch .vault(.itemNotFound) {
            throw CredentialsError(
                .noPepper,
                message:
                    "there is no pepper \(name) in this vault; if there never was one, make it with PasswordPepper.make"
            )
        } catch {
            throw CredentialsError(error)
        }
    }

    /// Makes a pepper, once, when a service is set up.
    ///
    /// - Parameters:
    ///   - name: For another pepper another name.
    ///   - protection: Where it is put, and when it can be had. A hasher at work in the background needs one that can
    ///     be had while the vault is locked.
    ///   - accessGroup: Whose programs may read it; nil for the first group of the program.
    /// - Throws: ``CredentialsError/Code/duplicatePepper`` if there is one of the name;
    ///   ``CredentialsError/Code/keychain``.
    @discardableResult
    public static func make(
        named name: String, protection: StoredKeyProtection = .keychain(.afterFirstUnlock), accessGroup: String? = nil
    ) throws -> PasswordPepper {
        let key = SymmetricKey(size: .bits256)
        let note = Data([UInt8].random(count: 16))
        var value = key.withUnsafeBytes { Data($0) }
        defer { value.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        do throws(StoredKeyError) {
            let isStored = try items(name, accessGroup).store(
                (keyName(note), value), as: name, name: "Pepper \(name)", note: note,
                protection)
            guard isStored else { throw StoredKeyError.vault(.duplicateItem) }
        } catch .vault(.duplicateItem) {
            throw CredentialsError(
                .duplicatePepper, message: "there is a pepper \(name) already; use it, or give this one another name")
        } catch {
            throw CredentialsError(error)
        }
        return PasswordPepper(key: key)
    }

    /// - Parameter key: 32 bytes.
    init(key: SymmetricKey) {
        self.key = key
        let code = HMAC<SHA256>.authenticationCode(for: Data("keyid".utf8), using: key)
        id = Data(code.prefix(9)).base64EncodedString()
    }

    private static func items(_ name: String, _ accessGroup: String?) -> KeyItems {
        KeyItems(
            service: KeyPurpose.pepperService, label: "Pepper \(name)", accessGroup: accessGroup,
            prompt: "Check passwords.")
    }

    private static func keyName(_ note: Data) -> String { note.hexadecimal() }

    /// What is hashed in the place of a password.
    func mixed(with password: SecretBytes) throws -> SecretBytes {
        let code = password.withUnsafeBytes { bytes in
            HMAC<SHA256>.authenticationCode(for: bytes, using: key)
        }
        return try CredentialsError.translating { try code.withUnsafeBytes { try SecretBytes(copying: $0) } }
    }
}
