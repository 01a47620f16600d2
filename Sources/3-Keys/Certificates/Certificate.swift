import Crypto
import FoundationEssentials
import SwiftASN1

/// An X.509 certificate (RFC 5280), read completely.
///
/// Does not check signatures and validity, so it says nothing about trust.
package struct Certificate: Hashable, Sendable {
    /// The DER that the certificate was read from.
    package let encoded: Data
    /// The version, 1 to 3.
    package let version: Int
    /// The content bytes of the serial number's INTEGER, including a leading zero byte.
    package let serialNumber: Data
    /// The algorithm of the signature, as the signed part names it.
    package let signatureAlgorithm: ASN1ObjectIdentifier
    package let issuer: DistinguishedName
    package let subject: DistinguishedName
    /// The start and the end of the validity, both included.
    package let notBefore: Date
    package let notAfter: Date
    package let publicKey: PublicKeyInfo
    /// The SubjectKeyIdentifier extension's value, if there is one and it can be read.
    package let subjectKeyIdentifier: Data?
    /// The names in the SubjectAlternativeName extension; none if it cannot be read.
    package let alternativeNames: AlternativeNames
    /// All extensions, in the order of the encoding.
    package let extensions: [CertificateExtension]
    /// What the certificate says of the paths that it may be part of.
    package let path: PathExtensions

    /// Reads a DER-encoded certificate.
    ///
    /// An extension whose value is malformed does not make the certificate unreadable: ``path`` says so.
    ///
    /// - Throws: ``CertificateError`` if the bytes are not one complete certificate: for a malformed or missing part,
    ///   an unknown version, or bytes after the end.
    package init(der: Data) throws(CertificateError) {
        let parts = try ASN1Node.parse(der, as: "certificate").members(of: .sequence, as: "certificate")
        guard parts.count == 3 else { throw CertificateError(malformed: "certificate") }
        _ = try AlgorithmIdentifier(node: parts[1], as: "certificate signature algorithm")
        _ = try parts[2].bits(as: "certificate signature")

        var fields = try parts[0].members(of: .sequence, as: "certificate body")[...]
        version = try Self.version(from: &fields)
        guard fields.count >= 6 else { throw CertificateError(malformed: "certificate body") }
        serialNumber = Data(try fields.removeFirst().bytes(of: .integer, as: "certificate serial number"))
        // SecCertificateParse (Apple, Security-61901). RFC 5280, 4.1.2.2, allows 20 bytes.
        guard (1...37).contains(serialNumber.count) else {
            throw CertificateError(malformed: "certificate serial number")
        }
        signatureAlgorithm = try AlgorithmIdentifier(node: fields.removeFirst(), as: "certificate signature algorithm")
            .algorithm
        issuer = try DistinguishedName(node: fields.removeFirst(), as: "certificate issuer")
        let validity = try fields.removeFirst().members(of: .sequence, as: "certificate validity")
        guard validity.count == 2 else { throw CertificateError(malformed: "certificate validity") }
        notBefore = try CertificateTime.date(of: validity[0], as: "certificate validity")
        notAfter = try CertificateTime.date(of: validity[1], as: "certificate validity")
        subject = try DistinguishedName(node: fields.removeFirst(), as: "certificate subject")
        publicKey = try PublicKeyInfo(node: fields.removeFirst(), as: "certificate public key")
        for uniqueIdentifier in 1...2 as ClosedRange<UInt> where fields.first?.identifier == .context(uniqueIdentifier)
        {
            _ = try fields.removeFirst().bytes(of: .context(uniqueIdentifier), as: "certificate unique identifier")
        }
        let extensions = try CertificateExtensions(from: &fields)
        guard fields.isEmpty else { throw CertificateError(malformed: "certificate body") }
        subjectKeyIdentifier = extensions.subjectKeyIdentifier
        alternativeNames = extensions.alternativeNames
        self.extensions = extensions.all
        path = PathExtensions(extensions.all)
        encoded = Data(der)
    }

    /// SHA-1 of the public key's bits, which is also the application label of the key.
    package var publicKeyHash: Data { Data(Insecure.SHA1.hash(data: publicKey.bits)) }

    /// The subject's common names in the order of the encoding.
    package var commonNames: [String] { subject.texts(of: .NameAttributes.commonName) }

    /// The e-mail addresses of the alternative names, then those of the subject.
    package var emailAddresses: [String] {
        alternativeNames.emailAddresses + subject.texts(of: .NameAttributes.emailAddress)
    }

    /// A short name for people: the subject's summary, or else the first e-mail address, or else the first host name.
    package var subjectSummary: String? {
        subject.summary ?? emailAddresses.first ?? alternativeNames.hostNames.first
    }

    private static func version(from fields: inout ArraySlice<ASN1Node>) throws(CertificateError) -> Int {
        guard let first = fields.first, first.identifier == .context(0) else { return 1 }
        fields.removeFirst()
        let content = try first.members(of: .context(0), as: "certificate version")
        guard content.count == 1 else { throw CertificateError(malformed: "certificate version") }
        let number = try content[0].decoded(Int.self, as: "certificate version")
        // Version 1 is the one that is not written (RFC 5280, 4.1).
        guard (1...2).contains(number) else { throw CertificateError(malformed: "certificate version") }
        return number + 1
    }
}
