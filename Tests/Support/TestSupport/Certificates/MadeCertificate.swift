import Crypto
import Foundation

/// A certificate that a test makes in its own process, in every form, also such that no authority makes.
package struct MadeCertificate: Sendable {
    package enum Digest: Sendable {
        case sha1, sha256
    }

    /// 1 to 3. Only version 3 has extensions.
    package var version = 3
    package var serial = 1
    /// The bytes of the serial number, in place of ``serial``.
    package var serialBytes: Data?
    /// DER of a Name.
    package var subject: Data
    package var issuer: Data
    package var notBefore: Date
    package var notAfter: Date
    /// DER of a SubjectPublicKeyInfo.
    package var publicKey: Data
    package var extensions: [MadeExtension] = []
    /// Whether the list of extensions is written although there is none.
    package var writesEmptyExtensions = false
    package var digest = Digest.sha256
    /// The identifier of the algorithm that the certificate names, in place of the one that signs it.
    package var algorithm: String?
    /// Whether version 1 is written, which is the one without a number.
    package var writesVersion = false
    /// The bits of the signature that are said not to belong to it.
    package var unusedBits: UInt8 = 0
    /// Whether the certificate is changed after it was signed.
    package var isForged = false

    package init(subject: Data, issuer: Data, from notBefore: Date, to notAfter: Date, publicKey: Data) {
        (self.subject, self.issuer, self.publicKey) = (subject, issuer, publicKey)
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
    }

    /// Makes the certificate.
    ///
    /// - Parameter key: That of the issuer.
    package func signed(with key: P256.Signing.PrivateKey) throws -> Data {
        // ecdsa-with-SHA1 and ecdsa-with-SHA256 (RFC 5758, 3.2; RFC 3279, 2.2.3).
        let algorithm = DERValue.sequence(
            DERValue.identifier(algorithm ?? (digest == .sha1 ? "1.2.840.10045.4.1" : "1.2.840.10045.4.3.2")))
        let body = body(algorithm)
        let signature =
            switch digest {
            case .sha1: try key.signature(for: Insecure.SHA1.hash(data: body))
            case .sha256: try key.signature(for: SHA256.hash(data: body))
            }
        var other = self
        other.serial += 1
        return DERValue.sequence(
            isForged ? other.body(algorithm) : body, algorithm,
            DERValue.bits(signature.derRepresentation, unused: unusedBits))
    }

    private func body(_ algorithm: Data) -> Data {
        let isNewest = version == 3 && (!extensions.isEmpty || writesEmptyExtensions)
        return DERValue.sequence(
            version > 1 || writesVersion ? DERValue.node(0xA0, DERValue.integer(version - 1)) : Data(),
            serialBytes.map { DERValue.node(0x02, $0) } ?? DERValue.integer(serial),
            algorithm, issuer, DERValue.sequence(DERValue.time(notBefore), DERValue.time(notAfter)), subject, publicKey,
            isNewest ? DERValue.node(0xA3, DERValue.sequence(extensions.map(\.encoded))) : Data())
    }
}

/// Text as programs of OpenSSL read it (RFC 7468).
package func privacyEnhancedMail(of certificates: [Data]) -> Data {
    let texts = certificates.map { der in
        let lines = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }
    return Data(texts.joined().utf8)
}
