import Bytes
import Certificates
import FoundationEssentials

/// A public key on one of the curves.
struct CurvePublicKey: PublicKeyOperations {
    let curve: EllipticCurve
    /// `04 ‖ X ‖ Y`.
    let point: Data
    private let verifier: any CurveVerifier

    init(curve: EllipticCurve, point: Data) throws(KeyError) {
        self.curve = curve
        self.point = point
        verifier =
            switch curve {
            case .p256: try SwiftCryptoVerifier<P256Keys>(point: point)
            case .p384: try SwiftCryptoVerifier<P384Keys>(point: point)
            case .p521: try SwiftCryptoVerifier<P521Keys>(point: point)
            case .p192, .p224: try LibcryptoCurvePublicKey(curve: curve, point: point)
            }
    }

    func isValid(_ signature: Data, of input: Data, by algorithm: SignatureAlgorithm) throws(KeyError) -> Bool {
        guard case .ecdsa(let encoding, let kind) = algorithm else { throw .notForCurves }
        let digest = try kind.digest(of: input)
        switch encoding {
        case .rfc4754:
            guard signature.count == 2 * curve.coordinateByteCount else { return false }
            return try verifier.isValid(ECDSASignature(raw: signature), ofDigest: digest)
        case .x962:
            guard let numbers = ECDSASignature(der: signature, coordinateByteCount: curve.coordinateByteCount) else {
                return false
            }
            return try verifier.isValid(numbers, ofDigest: digest)
        }
    }

    func encrypt(_ plaintext: Data, by algorithm: EncryptionAlgorithm) throws(KeyError) -> Data {
        guard case .ecies(let digest, let derivesNonce) = algorithm else { throw .notForCurves }
        return try ECIES(curve: curve, digest: digest, derivesNonce: derivesNonce).encrypt(plaintext, for: point)
    }
}

/// Verifies the ECDSA signatures of one key.
protocol CurveVerifier: Sendable {
    func isValid(_ signature: ECDSASignature, ofDigest digest: Data) throws(KeyError) -> Bool
}

/// A verifier on P-256, P-384 or P-521.
private struct SwiftCryptoVerifier<Keys: SwiftCryptoKeys>: CurveVerifier {
    private let key: Keys.Signing.Public

    init(point: Data) throws(KeyError) {
        do {
            key = try Keys.Signing.Public(x963Representation: point)
        } catch {
            throw .notOnCurve
        }
    }

    func isValid(_ signature: ECDSASignature, ofDigest digest: Data) throws(KeyError) -> Bool {
        guard let numbers = try? Keys.Signing.Public.Signature(rawRepresentation: signature.raw) else { return false }
        return key.isValidSignature(numbers, for: GivenDigest(bytes: digest))
    }
}
