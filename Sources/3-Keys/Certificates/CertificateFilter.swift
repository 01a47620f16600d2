import FoundationEssentials

/// The conditions a search puts on stored certificates. Bytes that are no certificate meet none.
package enum CertificateFilter {
    /// Whether the certificate names this e-mail address; compared without case.
    package static func hasEmailAddress(_ address: String, in der: Data) -> Bool {
        let wanted = address.lowercased()
        return certificate(der)?.emailAddresses.contains { $0.lowercased() == wanted } ?? false
    }

    /// Whether the moment lies in the certificate's validity period, both ends included.
    package static func isValid(_ der: Data, on date: Date) -> Bool {
        certificate(der).map { $0.notBefore <= date && date <= $0.notAfter } ?? false
    }

    /// The certificate's issuer as it is stored and compared.
    package static func normalizedIssuer(of der: Data) -> Data? {
        certificate(der)?.issuer.normalizedContent
    }

    /// The certificate's subject as it is stored and compared.
    package static func normalizedSubject(of der: Data) -> Data? {
        certificate(der)?.subject.normalizedContent
    }

    /// The stored form of a name given as a complete DER SEQUENCE; nil for anything else.
    package static func normalizedName(fromDER sequence: Data) -> Data? {
        (try? DistinguishedName(der: sequence))?.normalizedContent
    }

    private static func certificate(_ der: Data) -> Certificate? {
        try? Certificate(der: der)
    }
}
