#if TLSSupport
import Foundation
import KeychainServices
import ProcessVault
import VaultInterface

/// A private key of the keychain as the key of a TLS server or client of swift-nio-ssl.
///
/// It holds a reference to the key. The private half of a key of the enclave never enters this process.
public struct KeychainPrivateKey: Hashable, Sendable {
    /// The kinds of keys that TLS has signatures for.
    public enum Kind: Hashable, Sendable {
        case p256, p384, p521, rsa
    }

    /// The key, as the keychain returned it.
    public let key: SecKey
    /// The kind of the key, which decides on the signature algorithms.
    public let kind: Kind
    /// The public half in Apple's external form: the point of a curve in X9.63's form (SEC 1, 2.3.3), or an RSA key as
    /// PKCS#1's `RSAPublicKey` (RFC 8017, A.1.1).
    public let publicKeyBytes: Data
    /// The keychain of a test (`KeychainTesting`), which belongs to a task: NIO's threads sign, and have no task.
    private let provider: (any VaultSessionProvider)?

    /// Wraps a private key.
    ///
    /// - Parameter key: A private key, RSA or on one of the curves P-256, P-384 and P-521.
    /// - Throws: ``KeychainKeyError`` if it is another one.
    public init(_ key: SecKey) throws {
        let attributes = SecKeyCopyAttributes(key) as? [String: Any] ?? [:]
        guard attributes[kSecAttrKeyClass as String] as? String == kSecAttrKeyClassPrivate as String else {
            throw KeychainKeyError("This is not a private key.")
        }
        var failure: Unmanaged<CFError>?
        guard let publicHalf = SecKeyCopyPublicKey(key),
            let bytes = SecKeyCopyExternalRepresentation(publicHalf, &failure) as Data?
        else {
            throw KeychainKeyError("The keychain does not return the public key.", failure)
        }
        let type = attributes[kSecAttrKeyType as String] as? String
        let size = (attributes[kSecAttrKeySizeInBits as String] as? NSNumber)?.intValue ?? 0
        let (rsa, curve) = (kSecAttrKeyTypeRSA as String, kSecAttrKeyTypeECSECPrimeRandom as String)
        switch size {
        case _ where type == rsa: kind = .rsa
        case 256 where type == curve: kind = .p256
        case 384 where type == curve: kind = .p384
        case 521 where type == curve: kind = .p521
        default: throw KeychainKeyError("TLS has no signatures with this kind of key: use RSA, P-256, P-384 or P-521.")
        }
        publicKeyBytes = bytes
        provider = VaultSession.override
        self.key = key
    }

    /// Signs a message. Blocks until the TPM has answered, and until a person has, if the key asks for one.
    ///
    /// - Returns: The signature: DER for a curve (X9.62), and as long as the modulus for RSA.
    /// - Throws: ``KeychainKeyError`` with the reason that the keychain gives.
    public func signature(of message: Data, by algorithm: SecKeyAlgorithm) throws -> Data {
        var failure: Unmanaged<CFError>?
        let signature = VaultSession.$override.withValue(provider) {
            SecKeyCreateSignature(key, algorithm, message as CFData, &failure)
        }
        guard let signature else {
            throw KeychainKeyError("The key did not sign.", failure)
        }
        return signature as Data
    }

    /// Decrypts with RSA without removing a padding. Blocks as signing does.
    ///
    /// - Throws: ``KeychainKeyError`` with the reason that the keychain gives.
    func decrypted(_ cryptogram: Data) throws -> Data {
        var failure: Unmanaged<CFError>?
        let message = VaultSession.$override.withValue(provider) {
            SecKeyCreateDecryptedData(key, .rsaEncryptionRaw, cryptogram as CFData, &failure)
        }
        guard let message else {
            throw KeychainKeyError("The key did not decrypt.", failure)
        }
        return message as Data
    }

    /// Two references to one key are equal.
    public static func == (one: KeychainPrivateKey, other: KeychainPrivateKey) -> Bool { one.key == other.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
#endif
