import SwiftASN1

/// RFC 5280, 4.2.1 and 4.2.2.
extension ASN1ObjectIdentifier {
    static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
    static let privateKeyUsagePeriod: ASN1ObjectIdentifier = [2, 5, 29, 16]
    static let issuerAlternativeName: ASN1ObjectIdentifier = [2, 5, 29, 18]
    static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
    static let nameConstraints: ASN1ObjectIdentifier = [2, 5, 29, 30]
    static let distributionPoints: ASN1ObjectIdentifier = [2, 5, 29, 31]
    static let certificatePolicies: ASN1ObjectIdentifier = [2, 5, 29, 32]
    static let policyMappings: ASN1ObjectIdentifier = [2, 5, 29, 33]
    static let authorityKeyIdentifier: ASN1ObjectIdentifier = [2, 5, 29, 35]
    static let policyConstraints: ASN1ObjectIdentifier = [2, 5, 29, 36]
    static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]
    static let inhibitAnyPolicy: ASN1ObjectIdentifier = [2, 5, 29, 54]
    static let authorityAccess: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 1]
    static let subjectAccess: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 11]
    /// netscape-cert-type, which Apple's systems know and pass over.
    static let netscapeKind: ASN1ObjectIdentifier = [2, 16, 840, 1, 113_730, 1, 1]
    /// id-pkix-ocsp-nocheck (RFC 6960, 4.2.2.2.1).
    static let unchecked: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 5]
    /// qcStatements (RFC 3739, 3.2.6).
    static let qualifiedStatements: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 1, 3]

    /// The extensions that an evaluation looks at, or that say nothing of what a certificate may be used for.
    private static let known: Set<ASN1ObjectIdentifier> = [
        .subjectKeyIdentifier, .keyUsage, .privateKeyUsagePeriod, .subjectAlternativeName, .issuerAlternativeName,
        .basicConstraints, .nameConstraints, .distributionPoints, .certificatePolicies, .policyMappings,
        .authorityKeyIdentifier, .policyConstraints, .extendedKeyUsage, .inhibitAnyPolicy, .authorityAccess,
        .subjectAccess, .netscapeKind, .unchecked, .qualifiedStatements,
        // Entrust's version, Microsoft's application policies, and two of the Wireless Power Consortium.
        [1, 2, 840, 113_533, 7, 65, 0], [1, 3, 6, 1, 4, 1, 311, 21, 10], [2, 23, 148, 1, 1], [2, 23, 148, 1, 2],
    ]

    /// Below these, Apple's systems know every extension: five of Apple's own, the Car Connectivity Consortium's, and
    /// those of Rich Communication Services (isAppleExtensionOID and isOtherKnownExtensionOID of SecCertificate.c;
    /// Apple, Security-61901).
    private static let knownArcs: [[UInt]] =
        [6, 11, 12, 13, 15].map { [1, 2, 840, 113_635, 100, $0] } + [
            [1, 3, 6, 1, 4, 1, 41_577, 5], [2, 23, 146, 2, 1],
        ]

    /// Whether an extension of this kind is known, so that it may be critical.
    var isKnown: Bool {
        if Self.known.contains(self) { return true }
        let components = oidComponents
        return Self.knownArcs.contains { $0.count < components.count && components.starts(with: $0) }
    }
}
