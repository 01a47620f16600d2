import Bytes
import Certificates
import FoundationEssentials

/// The operations of a private key in any place: in this process, or in an enclave that never releases it.
///
/// Callers check ``KeyAlgorithm/isSupported(for:byKeyOf:_:sizeInBits:)`` first. An algorithm for another type of key
/// still throws ``KeyError/unsupported(reason:)``.
package protocol PrivateKeyOperations: Sendable {
    /// Returns the signature of a message or digest.
    func sign(_ input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Data

    /// Decrypts a ciphertext that was encrypted for the key.
    func decrypt(_ ciphertext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data

    /// Returns the shared secret of this key and a public key.
    ///
    /// - Parameters:
    ///   - requestedSize: The number of bytes to derive. Ignored without a derivation.
    ///   - sharedInfo: An input of the derivation.
    func exchange(
        with peer: KeyData, by algorithm: KeyExchangeAlgorithm, requestedSize: Int, sharedInfo: Data
    ) throws(KeyError) -> Data
}

/// A private key on one of the curves: two operations, which all others build on. An enclave's key needs only these
/// two.
package protocol CurvePrivateKey: PrivateKeyOperations {
    var curve: EllipticCurve { get }

    /// Returns an ECDSA signature of a digest. If the digest is longer than the order of the curve, its leftmost bits
    /// count.
    ///
    /// - Returns: r and s, each as long as the order of the curve.
    func signature(ofDigest digest: Data) throws(KeyError) -> Data

    /// Returns the x coordinate of the shared point of both keys, in the length of a coordinate.
    ///
    /// - Parameter point: A public key on the same curve, as `04 ‖ X ‖ Y`, from any source. The implementation checks
    ///   that it is on the curve.
    func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes
}

extension CurvePrivateKey {
    package func sign(_ input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Data {
        guard case .ecdsa(let encoding, let kind) = algorithm else { throw .notForCurves }
        let signature = try signature(ofDigest: kind.digest(of: input))
        return switch encoding {
        case .rfc4754: signature
        case .x962: try ECDSASignature(raw: signature).der
        }
    }

    package func decrypt(_ ciphertext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data {
        guard case .ecies(let digest, let derivesNonce) = algorithm else { throw .notForCurves }
        return try ECIES(curve: curve, digest: digest, derivesNonce: derivesNonce).decrypt(ciphertext, with: self)
    }

    package func exchange(
        with peer: KeyData, by algorithm: KeyExchangeAlgorithm, requestedSize: Int, sharedInfo: Data
    ) throws(KeyError) -> Data {
        guard peer.keyClass == .public, peer.curve == curve else {
            throw .invalidInput(reason: "The other key is not a public key on the same curve.")
        }
        let secret = try sharedSecret(with: peer.publicRepresentation)
        guard let digest = algorithm.derivation else { return secret.data }
        return try X963KeyDerivation(digest: digest).derive(
            count: requestedSize, from: secret, sharedInfo: sharedInfo
        ).data
    }
}

extension SignatureInput {
    /// Returns the digest to sign.
    ///
    /// - Throws: ``KeyError/invalidInput(reason:)`` if the input should be a digest of a named function but has another
    ///   length.
    func digest(of input: Data) throws(KeyError) -> Data {
        switch self {
        case .message(let digest): return try digest.hash(input)
        case .digest(nil): return input
        case .digest(let digest?):
            guard input.count == digest.byteCount else { throw .notADigest(digest) }
            return input
        }
    }
}

extension KeyError {
    static let notForCurves = KeyError.unsupported(reason: "Elliptic-curve keys have no such algorithm.")

    static func notADigest(_ digest: DigestAlgorithm) -> KeyError {
        .invalidInput(reason: "A \(digest.rawValue) digest has \(digest.byteCount) bytes.")
    }
}

extension KeyData {
    /// The curve of SEC 2 of the key; nil for other keys.
    package var curve: EllipticCurve? {
        guard type == .ellipticCurve else { return nil }
        return EllipticCurve.allCases.first { $0.sizeInBits == sizeInBits }
    }
}
