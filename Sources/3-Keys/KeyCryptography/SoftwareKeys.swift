import Certificates

/// The keys of this process.
package enum SoftwareKeys {
    /// Returns the operations of a private key.
    ///
    /// - Throws: ``KeyError/invalidInput(reason:)`` if the two halves do not match. Only ``checkImported(_:)`` also
    ///   checks RSA keys for this.
    package static func privateOperations(of key: KeyData) throws(KeyError) -> any PrivateKeyOperations {
        guard key.keyClass == .private else { throw .unsupported(reason: "The key is a public key.") }
        switch key.curve {
        case nil: return key.type == .ed25519 ? try Ed25519PrivateKey(key) : try RSAPrivateKey(key)
        case .p256: return try SwiftCryptoPrivateKey<P256Keys>(key)
        case .p384: return try SwiftCryptoPrivateKey<P384Keys>(key)
        case .p521: return try SwiftCryptoPrivateKey<P521Keys>(key)
        case .p192?, .p224?: return try LibcryptoCurvePrivateKey(key)
        }
    }

    /// Checks what reading a key from outside leaves out, because it needs libcrypto: whether the parts of an RSA key,
    /// or of a key on P-192 or P-224, belong together.
    ///
    /// For RSA, libcrypto also tests the primes, which takes 40 ms for 2048 bits and 250 ms for 4096. Therefore the
    /// check is made once, when a key is imported, and not at each use.
    ///
    /// - Throws: ``KeyError/invalidInput(reason:)``.
    package static func checkImported(_ key: KeyData) throws(KeyError) {
        switch (key.curve, key.keyClass) {
        case (nil, .private) where key.type == .rsa: try RSAPrivateKey(key).check()
        case (.p192?, .private), (.p224?, .private): _ = try privateOperations(of: key)
        case (.p192?, .public), (.p224?, .public): _ = try publicOperations(of: key)
        default: break
        }
    }

    /// Returns the operations of a public key, or of the public half of a private key.
    package static func publicOperations(of key: KeyData) throws(KeyError) -> any PublicKeyOperations {
        switch key.curve {
        case nil: return key.type == .ed25519 ? try Ed25519PublicKey(key) : try RSAPublicKey(key.publicKey)
        case let curve?: return try CurvePublicKey(curve: curve, point: key.publicRepresentation)
        }
    }
}
