import FoundationEssentials
import SwiftASN1

/// A request for a certificate (PKCS#10, RFC 2986). The key of the certificate signs it.
package struct CertificateRequest: Sendable {
    /// The signature algorithm of the request.
    package enum SignatureAlgorithm: Sendable {
        /// ECDSA (RFC 5758, 3.2).
        case ecdsaSHA256, ecdsaSHA384, ecdsaSHA512
        /// RSASSA-PKCS1-v1_5 (RFC 4055, 5).
        case rsaSHA256
        /// RFC 8410, 3.
        case ed25519

        /// Chooses the algorithm for the strength of a key.
        package init(for key: KeyData) {
            self =
                switch (key.type, key.sizeInBits) {
                case (.rsa, _): .rsaSHA256
                case (.ed25519, _): .ed25519
                case (.ellipticCurve, ...256): .ecdsaSHA256
                case (.ellipticCurve, ...384): .ecdsaSHA384
                case (.ellipticCurve, _): .ecdsaSHA512
                }
        }

        fileprivate var identifier: ASN1ObjectIdentifier {
            switch self {
            case .ecdsaSHA256: [1, 2, 840, 10_045, 4, 3, 2]
            case .ecdsaSHA384: [1, 2, 840, 10_045, 4, 3, 3]
            case .ecdsaSHA512: [1, 2, 840, 10_045, 4, 3, 4]
            case .rsaSHA256: .AlgorithmIdentifier.sha256WithRSAEncryption
            case .ed25519: .ed25519
            }
        }
    }

    package let algorithm: SignatureAlgorithm
    /// The bytes to sign: the CertificationRequestInfo in DER.
    package let body: Data

    /// - Parameters:
    ///   - key: Its public half goes into the request.
    ///   - hostNames: For the SubjectAlternativeName of the certificate; empty for none.
    package init(subject: DistinguishedName, key: KeyData, hostNames: [String]) throws(CertificateError) {
        algorithm = SignatureAlgorithm(for: key)
        let keyInfo = try key.subjectPublicKeyInfo()
        var serializer = DER.Serializer()
        do {
            try serializer.appendConstructedNode(identifier: .sequence) { info in
                try info.serialize(0)
                info.serializeRawBytes(subject.encoded)
                info.serializeRawBytes(keyInfo)
                try info.appendConstructedNode(identifier: .context(0)) { attributes in
                    if !hostNames.isEmpty { try Self.appendExtensionRequest(hostNames, to: &attributes) }
                }
            }
        } catch {
            throw CertificateError(malformed: "certificate request")
        }
        body = Data(serializer.serializedBytes)
    }

    /// Returns the complete request in DER.
    ///
    /// - Parameter signature: The signature of ``body`` by ``algorithm``; with ECDSA in DER.
    package func encoded(signature: Data) throws(CertificateError) -> Data {
        var serializer = DER.Serializer()
        do {
            try serializer.appendConstructedNode(identifier: .sequence) { request in
                request.serializeRawBytes(body)
                try request.appendConstructedNode(identifier: .sequence) {
                    try $0.serialize(algorithm.identifier)
                    if case .rsaSHA256 = algorithm { try $0.serialize(ASN1Null()) }
                }
                try request.serialize(ASN1BitString(bytes: Array(signature)[...]))
            }
        } catch {
            throw CertificateError(malformed: "certificate request")
        }
        return Data(serializer.serializedBytes)
    }

    /// Appends an extensionRequest (RFC 2985, 5.4.2) with a SubjectAlternativeName.
    private static func appendExtensionRequest(
        _ hostNames: [String], to serializer: inout DER.Serializer
    ) throws {
        var names = DER.Serializer()
        names.appendConstructedNode(identifier: .sequence) { names in
            for name in hostNames {
                names.appendPrimitiveNode(identifier: .context(2)) { $0.append(contentsOf: name.utf8) }
            }
        }
        try serializer.appendConstructedNode(identifier: .sequence) { attribute in
            try attribute.serialize([1, 2, 840, 113_549, 1, 9, 14] as ASN1ObjectIdentifier)
            try attribute.appendConstructedNode(identifier: .set) { values in
                try values.appendConstructedNode(identifier: .sequence) { extensions in
                    try extensions.appendConstructedNode(identifier: .sequence) { one in
                        try one.serialize(ASN1ObjectIdentifier.subjectAlternativeName)
                        one.appendPrimitiveNode(identifier: .octetString) {
                            $0.append(contentsOf: names.serializedBytes)
                        }
                    }
                }
            }
        }
    }
}
