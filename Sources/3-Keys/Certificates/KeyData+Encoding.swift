import Bytes
import FoundationEssentials
import SwiftASN1

extension KeyData {
    /// The curve of SEC 2; nil for other keys.
    private var namedCurve: EllipticCurve? {
        type == .ellipticCurve ? EllipticCurve.allCases.first { $0.sizeInBits == sizeInBits } : nil
    }

    /// Returns the public half as a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), in DER.
    package func subjectPublicKeyInfo() throws(CertificateError) -> Data {
        try Self.encoding("public key info") { serializer in
            try serializer.appendConstructedNode(identifier: .sequence) { info in
                try appendAlgorithm(to: &info)
                try info.serialize(ASN1BitString(bytes: Array(publicRepresentation)[...]))
            }
        }
    }

    /// Returns a private key as a PrivateKeyInfo (PKCS#8, RFC 5208), in DER; nil for a public key. The memory is wiped
    /// when it is freed.
    package func privateKeyInfo() throws(CertificateError) -> Data? {
        guard keyClass == .private else { return nil }
        let inner = try privateKeyEncoding()
        let info = try Self.encoding("private key info") { serializer in
            try serializer.appendConstructedNode(identifier: .sequence) { info in
                try info.serialize(0)
                try appendAlgorithm(to: &info)
                info.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: inner) }
            }
        }
        return .wipedWhenFreed(info)
    }

    /// Returns an RSAPrivateKey (RFC 8017, A.1.2), an ECPrivateKey (RFC 5915, 3) or a CurvePrivateKey (RFC 8410, 7).
    /// The ECPrivateKey leaves out the curve, because the PrivateKeyInfo names it.
    private func privateKeyEncoding() throws(CertificateError) -> Data {
        if type == .ed25519 {
            return .wipedWhenFreed(
                try Self.encoding("Ed25519 private key") { serializer in
                    serializer.appendPrimitiveNode(identifier: .octetString) {
                        $0.append(contentsOf: externalRepresentation)
                    }
                })
        }
        guard let curve = namedCurve else { return externalRepresentation }
        let scalar = Data.wipedWhenFreed(Data(externalRepresentation.suffix(curve.coordinateByteCount)))
        let encoded = try Self.encoding("elliptic-curve private key") { serializer in
            try serializer.appendConstructedNode(identifier: .sequence) { key in
                try key.serialize(1)
                key.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: scalar) }
                try key.appendConstructedNode(identifier: .context(1)) {
                    try $0.serialize(ASN1BitString(bytes: Array(publicRepresentation)[...]))
                }
            }
        }
        return .wipedWhenFreed(encoded)
    }

    private func appendAlgorithm(to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { algorithm in
            if let curve = namedCurve {
                try algorithm.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.idEcPublicKey)
                try algorithm.serialize(curve.objectIdentifier)
            } else if type == .ed25519 {
                try algorithm.serialize(ASN1ObjectIdentifier.ed25519)
            } else {
                try algorithm.serialize(ASN1ObjectIdentifier.AlgorithmIdentifier.rsaEncryption)
                try algorithm.serialize(ASN1Null())
            }
        }
    }

    static func encoding(
        _ part: String, _ write: (inout DER.Serializer) throws -> Void
    ) throws(CertificateError) -> Data {
        var serializer = DER.Serializer()
        do {
            try write(&serializer)
        } catch {
            throw CertificateError(malformed: part)
        }
        return Data(serializer.serializedBytes)
    }
}
