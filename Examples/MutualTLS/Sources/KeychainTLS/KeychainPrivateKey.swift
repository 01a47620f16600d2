import Crypto
import Foundation
import KeychainServices
import X509
import _CryptoExtras

/// A private key of the keychain that signs for NIOSSL and for X509.
///
/// It holds a reference: the private half stays where it is, which for a key of the enclave is outside of this process.
public struct KeychainPrivateKey: Hashable, Sendable {
    /// What decides on the signature algorithms.
    enum Kind: Hashable {
        case p256, p384, p521, rsa
    }

    /// The key, as the keychain gave it.
    public let key: SecKey
    /// Its public half.
    public let publicKey: Certificate.PublicKey
    let kind: Kind

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
            throw KeychainKeyError("The public key cannot be had.", failure)
        }
        let type = attributes[kSecAttrKeyType as String] as? String
        let size = (attributes[kSecAttrKeySizeInBits as String] as? NSNumber)?.intValue ?? 0
        let (rsa, curve) = (kSecAttrKeyTypeRSA as String, kSecAttrKeyTypeECSECPrimeRandom as String)
        switch size {
        case _ where type == rsa:
            (kind, publicKey) = (.rsa, .init(try _RSA.Signing.PublicKey(derRepresentation: bytes)))
        case 256 where type == curve:
            (kind, publicKey) = (.p256, .init(try P256.Signing.PublicKey(x963Representation: bytes)))
        case 384 where type == curve:
            (kind, publicKey) = (.p384, .init(try P384.Signing.PublicKey(x963Representation: bytes)))
        case 521 where type == curve:
            (kind, publicKey) = (.p521, .init(try P521.Signing.PublicKey(x963Representation: bytes)))
        default:
            throw KeychainKeyError("Neither TLS nor certificates have a use for this kind of key.")
        }
        self.key = key
    }

    /// Signs a message. Blocks: until the TPM has answered, and until a person has, if the key asks for one.
    ///
    /// - Throws: ``KeychainKeyError`` with the reason that the keychain gives.
    func signature(of message: Data, by algorithm: SecKeyAlgorithm) throws -> Data {
        var failure: Unmanaged<CFError>?
        guard let signature = SecKeyCreateSignature(key, algorithm, message as CFData, &failure) else {
            throw KeychainKeyError("The key did not sign.", failure)
        }
        return signature as Data
    }

    /// Decrypts without removing a padding. Blocks as signing does.
    ///
    /// - Throws: ``KeychainKeyError`` with the reason that the keychain gives.
    func decrypted(_ cryptogram: Data) throws -> Data {
        var failure: Unmanaged<CFError>?
        guard let message = SecKeyCreateDecryptedData(key, .rsaEncryptionRaw, cryptogram as CFData, &failure) else {
            throw KeychainKeyError("The key did not decrypt.", failure)
        }
        return message as Data
    }
}

/// Why a key of the keychain could not be used.
public struct KeychainKeyError: Error, CustomStringConvertible {
    /// The keychain's status; `errSecParam` if the question was not for the keychain.
    public let status: OSStatus
    /// What happened, and the reason that the keychain gives.
    public let description: String

    init(_ description: String) {
        status = errSecParam
        self.description = description
    }

    init(_ what: String, _ status: OSStatus) {
        self.status = status
        description = [what, SecCopyErrorMessageString(status, nil) as String?].compactMap(\.self).joined(
            separator: " ")
    }

    init(_ what: String, _ failure: Unmanaged<CFError>?) {
        let reason = failure?.takeRetainedValue()
        status = reason.map { OSStatus($0.code) } ?? errSecParam
        description = [what, reason?.localizedDescription].compactMap(\.self).joined(separator: " ")
    }
}
