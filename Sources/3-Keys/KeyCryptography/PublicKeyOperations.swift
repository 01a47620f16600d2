import Certificates
import FoundationEssentials

/// The operations of a public key.
package protocol PublicKeyOperations: Sendable {
    /// Returns whether the key made the signature for this message or digest; false for a malformed signature.
    ///
    /// - Throws: An error if the question has no answer: the input is not a digest, or the key does not support this
    ///   algorithm.
    func isValid(_ signature: Data, of input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Bool

    /// Encrypts for the holder of the private key.
    func encrypt(_ plaintext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data
}

/// The keys of this process.
package enum SoftwareKeys {
    /// Returns the operations of a private key.
    ///
    /// - Throws: ``KeyError/invalidInput(reason:)`` if the two halves do not match. RSA keys are not checked for this.
    package static func privateOperations(of key: KeyData) throws(KeyError) -> any PrivateKeyOperations {
        guard key.keyClass == .private else { throw .unsupported(reason: "The key is a public key.") }
        switch key.curve {
        case nil: return try RSAPrivateKey(key)
        case .p256: return try SwiftCryptoPrivateKey<P256Keys>(key)
        case .p384: return try SwiftCryptoPrivateKey<P384Keys>(key)
        case .p521: return try SwiftCryptoPrivateKey<P521Keys>(key)
        case .p192?, .p224?: return try LibcryptoCurvePrivateKey(key)
        }
    }

    /// Returns the operations of a public key, or of the public half of a private key.
    package static func publicOperations(of key: KeyData) throws(KeyError) -> any PublicKeyOperations {
        switch key.curve {
        case nil: return try RSAPublicKey(key.publicKey)
        case let curve?: return try CurvePublicKey(curve: curve, point: key.publicRepresentation)
        }
    }
}
