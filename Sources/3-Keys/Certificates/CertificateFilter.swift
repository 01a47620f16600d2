import FoundationEssentials

/// The conditions of a search for stored certificates. Bytes that are not a certificate meet none of them.
package enum CertificateFilter {
    /// Returns whether the certificate has this e-mail address. Ignores case.
    package static func hasEmailAddress(_ address: String, in der: Data) -> Bool {
        let wanted = address.lowercased()
        return certificate(der)?.emailAddresses.contains { $0.lowercased() == wanted } ?? false
    }

    /// Returns whether the time is in the certificate's validity, including both ends.
    package static func isValid(_ der: Data, on date: Date) -> Bool {
        certificate(der).map { $0.notBefore <= date && date <= $0.notAfter } ?? false
    }

    /// Returns the certificate's issuer in the form for storage and comparison.
    package static func normalizedIssuer(of der: Data) -> Data? {
        certificate(der)?.issuer.normalizedContent
    }

    /// Returns the certificate's subject in the form for storage and comparison.
    package static func normalizedSubject(of der: Data) -> Data? {
        certificate(der)?.subject.normalizedContent
    }

    /// Returns the stored form of a name, which is given as a complete DER SEQUENCE; nil for any other bytes.
    package static func normalizedName(fromDER sequence: Data) -> Data? {
        (try? DistinguishedName(der: sequence))?.normalizedContent
    }

    private static func certificate(_ der: Data) -> Certificate? { try? Certificate(der: der) }
}
