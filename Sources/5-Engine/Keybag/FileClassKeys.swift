import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import PreparedKeys
import SecureMemory

/// Derives the keys of files from class keys (HKDF-SHA256, RFC 5869; AES key wrap, RFC 3394; X25519, RFC 7748).
///
/// A file's key is wrapped for the file's identifier, so that it opens no other file. It is wrapped with a key of its
/// class, so that a file cannot pretend to be of another class.
package enum FileClassKeys {
    package typealias PrivateKey = Curve25519.KeyAgreement.PrivateKey
    package typealias PublicKey = Curve25519.KeyAgreement.PublicKey

    /// Returns the protection class whose key opens the files of a class.
    package static func protection(of fileClass: FileProtectionClass) -> ProtectionClass {
        switch fileClass {
        case .complete, .completeUnlessOpen: .whenUnlocked
        case .completeUntilFirstUserAuthentication: .afterFirstUnlock
        case .none: .always
        }
    }

    /// Returns the name of the class in derivations and messages.
    package static func name(of fileClass: FileProtectionClass) -> String {
        switch fileClass {
        case .complete: "complete"
        case .completeUnlessOpen: "complete-unless-open"
        case .completeUntilFirstUserAuthentication: "until-first-unlock"
        case .none: "none"
        }
    }

    /// Returns the key of a class of files, derived from the class key of ``protection(of:)``.
    package static func key(of fileClass: FileProtectionClass, from classKey: SymmetricKey) -> SymmetricKey {
        derive(from: classKey, salt: Data(), info: Data("swift-keychain/v1/file-class/\(name(of: fileClass))".utf8))
    }

    /// Returns the private key for files that a locked machine may create.
    package static func agreementKey(from classKey: SymmetricKey) throws(KeybagError) -> PrivateKey {
        defer { wipeRecentlyFreed(.derivation) }
        let seed = key(of: .completeUnlessOpen, from: classKey)
        guard let key = try? seed.withUnsafeBytes({ try PrivateKey(rawRepresentation: $0) }) else {
            throw .memoryUnavailable
        }
        return key
    }

    // MARK: Classes with one key

    /// - Returns: 40 bytes.
    package static func wrap(
        _ fileKey: SymmetricKey, for file: Data, under key: SymmetricKey
    ) throws(KeybagError) -> Data {
        try wrap(fileKey, using: derive(from: key, salt: file, info: Data(fileKeyLabel.utf8)))
    }

    /// - Returns: Nil if `wrapped` was not made for this file under this key.
    package static func unwrap(_ wrapped: Data, for file: Data, under key: SymmetricKey) -> SymmetricKey? {
        unwrap(wrapped, using: derive(from: key, salt: file, info: Data(fileKeyLabel.utf8)))
    }

    // MARK: By key agreement

    /// - Parameter ephemeral: A key for only this call.
    /// - Returns: 72 bytes: the public half of `ephemeral`, and the wrapped key.
    package static func wrap(
        _ fileKey: SymmetricKey, for file: Data, to publicKey: PublicKey, ephemeral: PrivateKey = PrivateKey()
    ) throws(KeybagError) -> Data {
        defer { wipeRecentlyFreed(.derivation) }
        let sender = ephemeral.publicKey.rawRepresentation
        guard let secret = shared(ephemeral, publicKey) else { throw .authenticationFailed }
        let wrapping = agreed(secret, for: file, from: sender, to: publicKey.rawRepresentation)
        return sender + (try wrap(fileKey, using: wrapping))
    }

    /// - Returns: Nil if `wrapped` was not made for this file and this key.
    package static func unwrap(_ wrapped: Data, for file: Data, with key: PrivateKey) -> SymmetricKey? {
        defer { wipeRecentlyFreed(.derivation) }
        let sender = Data(wrapped.prefix(publicKeySize))
        guard wrapped.count == publicKeySize + wrappedSize,
            let publicKey = try? PublicKey(rawRepresentation: sender), let secret = shared(key, publicKey)
        else { return nil }
        let wrapping = agreed(secret, for: file, from: sender, to: key.publicKey.rawRepresentation)
        return unwrap(Data(wrapped.dropFirst(publicKeySize)), using: wrapping)
    }

    /// Returns nil for a public key of small order, with which every key shares zeros (RFC 7748, section 6.1).
    private static func shared(_ key: PrivateKey, _ publicKey: PublicKey) -> SharedSecret? {
        guard let secret = try? key.sharedSecretFromKeyAgreement(with: publicKey),
            secret.withUnsafeBytes({ $0.contains { $0 != 0 } })
        else { return nil }
        return secret
    }

    private static func agreed(
        _ secret: SharedSecret, for file: Data, from sender: Data, to recipient: Data
    ) -> SymmetricKey {
        secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: file, sharedInfo: Data(agreedKeyLabel.utf8) + sender + recipient,
            outputByteCount: FileKey.size)
    }

    // MARK: Parts

    package static let publicKeySize = 32
    private static let wrappedSize = FileKey.size + 8
    private static let fileKeyLabel = "swift-keychain/v1/file-key"
    private static let agreedKeyLabel = "swift-keychain/v1/file-key/agreed"

    private static func derive(from key: SymmetricKey, salt: Data, info: Data) -> SymmetricKey {
        defer { if !PreparedAEAD.isAvailable { wipeRecentlyFreed(.derivation) } }
        return key.withUnsafeBytes {
            KeyDerivation.key(from: $0, salt: [UInt8](salt), info: [UInt8](info), count: FileKey.size)
        }
    }

    private static func wrap(_ fileKey: SymmetricKey, using key: SymmetricKey) throws(KeybagError) -> Data {
        guard let wrapped = try? AES.KeyWrap.wrap(fileKey, using: key), wrapped.count == wrappedSize else {
            throw .malformed(reason: "the key of a file cannot be wrapped")
        }
        return wrapped
    }

    private static func unwrap(_ wrapped: Data, using key: SymmetricKey) -> SymmetricKey? {
        defer { wipeRecentlyFreed(.derivation) }
        guard wrapped.count == wrappedSize else { return nil }
        return try? AES.KeyWrap.unwrap(wrapped, using: key)
    }
}

extension ClassKeys {
    /// Returns the key of a class of files.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    package func fileClassKey(of fileClass: FileProtectionClass) throws(KeybagError) -> SymmetricKey {
        FileClassKeys.key(of: fileClass, from: try classKey(for: FileClassKeys.protection(of: fileClass)))
    }

    /// Returns the private key for files that a locked machine may create.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    package func fileAgreementKey() throws(KeybagError) -> FileClassKeys.PrivateKey {
        try FileClassKeys.agreementKey(from: classKey(for: FileClassKeys.protection(of: .completeUnlessOpen)))
    }
}
