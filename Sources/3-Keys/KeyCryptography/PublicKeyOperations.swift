import Certificates
import FoundationEssentials

/// What everybody can do with a public key.
package protocol PublicKeyOperations: Sendable {
    /// Whether the signature is the key's for this message or digest. A malformed signature is none.
    ///
    /// - Throws: When that cannot be said: the input is no digest, or the key is not for this algorithm.
    func isValid(_ signature: Data, of input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Bool

    /// Encrypts for the holder of the private key.
    func encrypt(_ plaintext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data
}

/// The keys of this process.
package enum SoftwareKeys {
    /// The operations of a private key.
    ///
    /// - Throws: ``KeyError/invalidInput(reason:)`` if the halves do not belong together, where that is checked.
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

    /// The operations of a public key, or of the public half of a private key.
    package static func publicOperations(of key: KeyData) throws(KeyError) -> any PublicKeyOperations {
        switch key.curve {
        case nil: return try RSAPublicKey(key.publicKey)
        case let curve?: return try CurvePublicKey(curve: curve, point: key.publicRepresentation)
        }
    }
}
