import Bytes
import Crypto
import FoundationEssentials
import SwiftASN1

extension KeyData {
    /// Reads a private key in a PrivateKeyInfo (PKCS#8, RFC 5208; OneAsymmetricKey of RFC 5958).
    package init(privateKeyInfo der: Data) throws(CertificateError) {
        let part = "private key info"
        let members = try ASN1Node.parse(der, as: part).members(of: .sequence, as: part)
        guard members.count >= 3, try (0...1).contains(members[0].decoded(Int.self, as: part)) else {
            throw CertificateError(malformed: part)
        }
        let algorithm = try AlgorithmIdentifier(node: members[1], as: part)
        let key = Data(try members[2].bytes(of: .octetString, as: part))
        switch algorithm.algorithm {
        case .AlgorithmIdentifier.rsaEncryption:
            try self.init(key, type: .rsa, keyClass: .private)
        case .AlgorithmIdentifier.idEcPublicKey:
            try self.init(sec1: key, curve: algorithm.parameters)
        case .ed25519:
            // RFC 8410, 7: the key is an OCTET STRING in the OCTET STRING.
            let bytes = try ASN1Node.parse(key, as: part).bytes(of: .octetString, as: part)
            try self.init(.wipedWhenFreed(Data(bytes)), type: .ed25519, keyClass: .private)
            // The public key of RFC 5958, 2, whose tag is implicit: a byte that counts unused bits comes first.
            if let own = members.dropFirst(3).first(where: { $0.identifier == .context(1) }),
                case .primitive(let bits) = own.content, Data(bits.dropFirst()) != publicRepresentation
            {
                throw Self.contradictory
            }
        default:
            throw CertificateError(malformed: "private key: neither RSA, nor on a NIST prime curve, nor Ed25519")
        }
    }

    /// Returns the name of the algorithm of a whole PrivateKeyInfo whose key has no type here; nil for any other bytes,
    /// also for a damaged key with a type.
    package static func foreignAlgorithm(ofPrivateKeyInfo der: Data) -> String? {
        let part = "private key info"
        guard let members = try? ASN1Node.parse(der, as: part).members(of: .sequence, as: part), members.count >= 3,
            let algorithm = try? AlgorithmIdentifier(node: members[1], as: part),
            (try? members[2].bytes(of: .octetString, as: part)) != nil
        else { return nil }
        switch algorithm.algorithm {
        case .AlgorithmIdentifier.rsaEncryption, .ed25519: return nil
        case .AlgorithmIdentifier.idEcPublicKey:
            let curve = algorithm.parameters.flatMap { try? ASN1ObjectIdentifier(derEncoded: $0) }
            guard let curve, !EllipticCurve.allCases.contains(where: { $0.objectIdentifier == curve }) else {
                return nil
            }
            return "elliptic-curve (curve \(curve))"
        // RFC 8410, 3, and RFC 3279, 2.3.2.
        case [1, 3, 101, 110]: return "X25519"
        case [1, 3, 101, 111]: return "X448"
        case [1, 3, 101, 113]: return "Ed448"
        case [1, 2, 840, 10_040, 4, 1]: return "DSA"
        case let other: return "algorithm \(other)"
        }
    }

    /// Reads a private key in the form of RFC 5915 (SEC 1, C.4).
    package init(sec1 der: Data) throws(CertificateError) {
        try self.init(sec1: der, curve: nil)
    }

    private init(sec1 der: Data, curve outer: ASN1Node?) throws(CertificateError) {
        let part = "elliptic-curve private key"
        var members = try ASN1Node.parse(der, as: part).members(of: .sequence, as: part)[...]
        guard members.count >= 2, try members.removeFirst().decoded(Int.self, as: part) == 1 else {
            throw CertificateError(malformed: part)
        }
        let scalar = try members.removeFirst().bytes(of: .octetString, as: part)
        var name = outer
        if let own = members.first, own.identifier == .context(0) {
            members.removeFirst()
            let own = try own.members(of: .context(0), as: part)
            guard own.count == 1 else { throw CertificateError(malformed: part) }
            if let outer, outer.encodedBytes != own[0].encodedBytes { throw Self.contradictory }
            name = own[0]
        }
        guard let name, let identifier = try? ASN1ObjectIdentifier(derEncoded: name),
            let curve = EllipticCurve.allCases.first(where: { $0.objectIdentifier == identifier }),
            scalar.count <= curve.coordinateByteCount
        else { throw CertificateError(malformed: part) }
        let point = try Self.point(in: members.first, as: part)
        // Some software drops leading zeros.
        let padded = Data(repeating: 0, count: curve.coordinateByteCount - scalar.count) + scalar
        if let bytes = curve.privateKey(scalar: padded) {
            let computed = bytes.prefix(curve.publicByteCount)
            guard point.map({ $0 == computed || $0 == curve.compressed(computed) }) ?? true else {
                throw Self.contradictory
            }
            try self.init(bytes, type: .ellipticCurve, keyClass: .private)
        } else {
            // P-192 and P-224: only the form is checked.
            guard let point, !curve.isKnownToCrypto, point.count == curve.publicByteCount else {
                throw CertificateError(malformed: part)
            }
            try self.init(.wipedWhenFreed(point + padded), type: .ellipticCurve, keyClass: .private)
        }
    }

    /// A key that says two things of itself was cut or put together wrongly: nobody knows which one is meant.
    package static let contradictory = CertificateError(
        malformed: "private key: its private key, its public key and its curve contradict each other")

    /// Returns the public key beside a private key; nil if there is none.
    private static func point(in member: ASN1Node?, as part: String) throws(CertificateError) -> Data? {
        guard let member, member.identifier == .context(1) else { return nil }
        let members = try member.members(of: .context(1), as: part)
        guard members.count == 1 else { throw CertificateError(malformed: part) }
        return Data(try members[0].decoded(ASN1BitString.self, as: part).bytes)
    }
}

extension EllipticCurve {
    fileprivate var isKnownToCrypto: Bool { self != .p192 && self != .p224 }

    /// Returns the compressed form of a public key `04 ‖ X ‖ Y` (SEC 1, 2.3.3).
    fileprivate func compressed(_ point: Data) -> Data {
        [point.last.map { 2 + ($0 & 1) } ?? 2] + point.dropFirst().prefix(coordinateByteCount)
    }

    /// Returns `04 ‖ X ‖ Y ‖ K` of a private scalar; nil if it is out of range or if swift-crypto does not have the
    /// curve.
    fileprivate func privateKey(scalar: Data) -> Data? {
        switch self {
        case .p192, .p224: nil
        case .p256: try? P256.Signing.PrivateKey(rawRepresentation: scalar).x963Representation
        case .p384: try? P384.Signing.PrivateKey(rawRepresentation: scalar).x963Representation
        case .p521: try? P521.Signing.PrivateKey(rawRepresentation: scalar).x963Representation
        }
    }
}
