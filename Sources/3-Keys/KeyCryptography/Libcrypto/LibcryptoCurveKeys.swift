import Bytes
import Certificates
import FoundationEssentials

/// A private key on P-192 or P-224, which swift-crypto does not have.
struct LibcryptoCurvePrivateKey: CurvePrivateKey, EphemeralKey {
    let curve: EllipticCurve
    let point: Data
    private let key: LibcryptoKey

    init(_ key: KeyData) throws(KeyError) {
        guard let curve = key.curve, let names = CurveNames(curve) else { throw .notForSmallCurves }
        self.curve = curve
        point = key.publicRepresentation
        self.key = try key.withUnsafeBytes { (representation) throws(KeyError) in
            let scalar = UnsafeRawBufferPointer(rebasing: representation.suffix(curve.coordinateByteCount))
            let point = UnsafeRawBufferPointer(rebasing: representation.prefix(curve.publicByteCount))
            return try names.withPrivateKeyEncoding(scalar: scalar, point: point) { (der) throws(KeyError) in
                try LibcryptoKey(der: der, as: .privateKey(type: Libcrypto.ellipticCurve))
            }
        }
        guard try self.key.isConsistent() else {
            throw .invalidInput(reason: "The halves of the key do not belong together.")
        }
    }

    init(randomOn curve: EllipticCurve) throws(KeyError) {
        guard let names = CurveNames(curve) else { throw .notForSmallCurves }
        self.curve = curve
        key = try LibcryptoKey(
            random: Libcrypto.ellipticCurve,
            [("ec_paramgen_curve", names.openSSL), ("ec_param_enc", "named_curve")])
        point = try key.publicEncoding()
    }

    /// Returns the key as `04 ‖ X ‖ Y ‖ K`.
    func representation() throws(KeyError) -> SecretBytes {
        guard let names = CurveNames(curve) else { throw .notForSmallCurves }
        let encoding = try key.privateEncoding()
        return try SecretBytes.filled(count: curve.privateByteCount) { (bytes) throws(KeyError) in
            try encoding.withBytes { (encoding) throws(KeyError) in
                guard let scalar = names.scalar(in: encoding) else { throw .failed(operation: "encode a key") }
                bytes.copyBytes(from: point)
                UnsafeMutableRawBufferPointer(rebasing: bytes[point.count...]).copyMemory(from: scalar)
            }
        }
    }

    func signature(ofDigest digest: Data) throws(KeyError) -> Data {
        let steps = LibcryptoKey.Transformation(name: "sign", start: key.library.startSigning, run: key.library.sign)
        // A SEQUENCE of two INTEGERs, each with tag and length and at most one byte longer than the order.
        let greatestCount = 2 * (curve.coordinateByteCount + 3) + 3
        guard let der = try key.transform(digest, steps, greatestCount: greatestCount),
            let signature = ECDSASignature(der: der, coordinateByteCount: curve.coordinateByteCount)
        else { throw .failed(operation: "sign") }
        return signature.raw
    }

    func sharedSecret(with point: Data) throws(KeyError) -> SecretBytes {
        let peer = try LibcryptoCurvePublicKey(curve: curve, point: point)
        return try key.sharedSecret(with: peer.key, count: curve.coordinateByteCount)
    }
}

/// A public key on P-192 or P-224.
struct LibcryptoCurvePublicKey: CurveVerifier {
    fileprivate let key: LibcryptoKey

    init(curve: EllipticCurve, point: Data) throws(KeyError) {
        guard let names = CurveNames(curve), point.count == curve.publicByteCount, point.first == 0x04 else {
            throw .notOnCurve
        }
        do {
            key = try names.publicKeyInfo(point: point).withBytes { (der) throws(KeyError) in
                try LibcryptoKey(der: der, as: .publicKeyInfo)
            }
        } catch .invalidInput {
            throw .notOnCurve
        } catch {
            throw error
        }
    }

    func isValid(_ signature: ECDSASignature, ofDigest digest: Data) throws(KeyError) -> Bool {
        try key.isValid(signature.der, of: digest)
    }
}

/// The names of a small curve, and the encodings of its keys for libcrypto. All encodings are so short that each length
/// is one byte.
private struct CurveNames {
    let openSSL: String
    /// The object identifier in DER (SEC 2, A.2).
    private let identifier: [UInt8]
    private let coordinateByteCount: Int

    init?(_ curve: EllipticCurve) {
        switch curve {
        case .p192:
            openSSL = "prime192v1"
            identifier = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x01]
        case .p224:
            openSSL = "secp224r1"
            identifier = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x21]
        case .p256, .p384, .p521:
            return nil
        }
        coordinateByteCount = curve.coordinateByteCount
    }

    /// `id-ecPublicKey` (RFC 5480, 2.1.1).
    private static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

    private static func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, UInt8(truncatingIfNeeded: content.count)] + content
    }

    /// Returns a SubjectPublicKeyInfo (RFC 5480).
    func publicKeyInfo(point: Data) -> Data {
        let algorithm = Self.node(0x30, Self.ecPublicKey + identifier)
        return Data(Self.node(0x30, algorithm + Self.node(0x03, [0x00] + point)))
    }

    /// Runs `body` with an ECPrivateKey (RFC 5915): version 1, the scalar, the curve as [0] and the public key as [1].
    func withPrivateKeyEncoding<Result>(
        scalar: UnsafeRawBufferPointer, point: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(KeyError) -> Result
    ) throws(KeyError) -> Result {
        let start: [UInt8] = [0x02, 0x01, 0x01, 0x04, UInt8(truncatingIfNeeded: scalar.count)]
        let end = Self.node(0xA0, identifier) + Self.node(0xA1, Self.node(0x03, [0x00] + point))
        let count = start.count + scalar.count + end.count
        let encoding = try SecretBytes.filled(count: 2 + count) { (bytes) throws(KeyError) in
            bytes.copyBytes(from: [0x30, UInt8(truncatingIfNeeded: count)] + start)
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[(2 + start.count)...])
            rest.copyMemory(from: scalar)
            UnsafeMutableRawBufferPointer(rebasing: rest[scalar.count...]).copyBytes(from: end)
        }
        return try encoding.withBytes(body)
    }

    /// Returns the scalar in an ECPrivateKey of this curve.
    func scalar(in encoding: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let prefix: [UInt8] = [0x02, 0x01, 0x01, 0x04, UInt8(truncatingIfNeeded: coordinateByteCount)]
        guard encoding.first == 0x30, encoding.count >= 7 + coordinateByteCount,
            encoding[2..<7].elementsEqual(prefix)
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: encoding[7..<(7 + coordinateByteCount)])
    }
}

extension KeyError {
    fileprivate static let notForSmallCurves = KeyError.unsupported(reason: "The key is not on P-192 or P-224.")
}
