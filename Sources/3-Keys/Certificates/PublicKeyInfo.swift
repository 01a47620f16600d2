import FoundationEssentials
import SwiftASN1

/// A SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
package struct PublicKeyInfo: Hashable, Sendable {
    package enum Algorithm: Hashable, Sendable {
        case rsa
        case ellipticCurve(EllipticCurve)
        case ed25519
        /// An algorithm or curve without a key type in this module.
        case unsupported
    }

    /// The DER that it was read from.
    package let encoded: Data
    package let algorithm: Algorithm
    /// The algorithm's object identifier.
    package let identifier: ASN1ObjectIdentifier
    /// The content of the BIT STRING: for RSA the PKCS#1 public key, for elliptic curves the point.
    package let bits: Data
    /// Whether the bits are whole bytes, as those of every key are.
    package let hasWholeBytes: Bool

    /// Reads the DER encoding.
    package init(der: Data) throws(CertificateError) {
        try self.init(node: ASN1Node.parse(der, as: "public key info"), as: "public key info")
    }

    init(node: ASN1Node, as part: String) throws(CertificateError) {
        let members = try node.members(of: .sequence, as: part)
        guard members.count == 2 else { throw CertificateError(malformed: part) }
        encoded = Data(node.encodedBytes)
        let identifier = try AlgorithmIdentifier(node: members[0], as: part)
        self.identifier = identifier.algorithm
        let bits = try members[1].bits(as: part)
        self.bits = Data(bits.bytes)
        hasWholeBytes = bits.unused == 0
        guard hasWholeBytes else {
            algorithm = .unsupported
            return
        }
        algorithm =
            switch identifier.algorithm {
            case .AlgorithmIdentifier.rsaEncryption: .rsa
            case .AlgorithmIdentifier.idEcPublicKey: Self.curve(from: identifier.parameters)
            case .ed25519: .ed25519
            default: .unsupported
            }
    }

    private static func curve(from parameters: ASN1Node?) -> Algorithm {
        guard let parameters, let name = try? ASN1ObjectIdentifier(derEncoded: parameters),
            let curve = EllipticCurve.allCases.first(where: { $0.objectIdentifier == name })
        else { return .unsupported }
        return .ellipticCurve(curve)
    }

    /// The key; nil if this module has no key type for it or if the bits are not such a key.
    package var key: KeyData? {
        switch algorithm {
        case .rsa:
            return try? KeyData(bits, type: .rsa, keyClass: .public)
        case .ellipticCurve(let curve):
            guard bits.count == curve.publicByteCount else { return nil }
            return try? KeyData(bits, type: .ellipticCurve, keyClass: .public)
        case .ed25519:
            return try? KeyData(bits, type: .ed25519, keyClass: .public)
        case .unsupported:
            return nil
        }
    }
}

/// An AlgorithmIdentifier (RFC 5280, 4.1.1.2).
struct AlgorithmIdentifier {
    let algorithm: ASN1ObjectIdentifier
    let parameters: ASN1Node?

    init(node: ASN1Node, as part: String) throws(CertificateError) {
        let members = try node.members(of: .sequence, as: part)
        guard (1...2).contains(members.count) else { throw CertificateError(malformed: part) }
        algorithm = try members[0].decoded(as: part)
        parameters = members.count == 2 ? members[1] : nil
    }
}
