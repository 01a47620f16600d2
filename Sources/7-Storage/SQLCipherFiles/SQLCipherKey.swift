import Bytes
import Crypto
import CryptoExtras
import PreparedKeys

/// What opens a file of SQLCipher.
package enum SQLCipherKey: Sendable, Equatable {
    case passphrase(SecretBytes)
    /// The 32 bytes that SQLCipher calls a raw key: no key is derived from them.
    case raw(SecretBytes)

    /// Returns the key of the pages, of 32 bytes. With a passphrase this takes as long as SQLCipher wants it to take.
    ///
    /// - Throws: `CryptoKitError` for a raw key of another size, and errors of swift-crypto and of memory.
    func pageKey(_ format: CipherFormat, salt: [UInt8]) throws -> SecretBytes {
        switch self {
        case .passphrase(let passphrase):
            return try Self.derive(passphrase, salt, format.hash, rounds: format.rounds)
        case .raw(let key):
            guard key.count == CipherFormat.keySize else { throw CryptoKitError.incorrectKeySize }
            return key
        }
    }

    /// Returns the key of the pages' HMAC: two rounds, with another salt, over the key of the pages.
    static func authenticationKey(_ pageKey: SecretBytes, _ format: CipherFormat, salt: [UInt8]) throws -> SymmetricKey
    {
        // SQLCipher's HMAC_SALT_MASK.
        try derive(pageKey, salt.map { $0 ^ 0x3A }, format.hash, rounds: 2).symmetricKey
    }

    private static func derive(
        _ secret: SecretBytes, _ salt: [UInt8], _ hash: CipherFormat.Hash, rounds: Int
    ) throws -> SecretBytes {
        let key = try secret.withUnsafeBytes { secret in
            try KDF.Insecure.PBKDF2.deriveKey(
                from: secret, salt: salt, using: hash == .sha1 ? .insecureSHA1 : .sha512,
                outputByteCount: CipherFormat.keySize, unsafeUncheckedRounds: rounds)
        }
        return try key.withUnsafeBytes { try SecretBytes(copying: $0) }
    }
}

extension SecretBytes {
    var symmetricKey: SymmetricKey { withUnsafeBytes { SymmetricKey(data: $0) } }
}
