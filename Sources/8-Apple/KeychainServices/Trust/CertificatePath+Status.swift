import OpenSSLCertificates

extension CertificatePath.Failure {
    /// Apple's status for the failure.
    var status: OSStatus {
        switch self {
        case .expired: errSecCertificateExpired
        case .notYetValid: errSecCertificateNotValidYet
        case .wrongHost: errSecHostNameMismatch
        case .wrongUse: errSecInvalidExtendedKeyUsage
        case .noAnchor, .other: errSecNotTrusted
        case .weakKey: errSecUnsupportedKeySize
        case .weakSignature: errSecInvalidDigestAlgorithm
        case .invalidSignature: errSecNotSigner
        case .notAuthority: errSecInvalidCertAuthority
        case .pathTooLong: errSecPathLengthConstraintExceeded
        case .revoked: errSecCertificateRevoked
        case .malformed: errSecUnknownFormat
        case .unhandledExtension: errSecUnknownCertExtension
        }
    }

    /// Whether exceptions can make up for it.
    var isForgivable: Bool {
        switch self {
        case .revoked, .malformed, .invalidSignature, .weakKey: false
        default: true
        }
    }

    /// The end of a sentence that begins with the certificate.
    var explanation: String {
        switch self {
        case .expired: "is expired"
        case .notYetValid: "is not valid yet"
        case .wrongHost: "is not for this host name"
        case .wrongUse: "is not meant for this use"
        case .noAnchor: "is not trusted: no path leads to an anchor"
        case .weakKey: "has a key, or an authority with a key, that is too short"
        case .weakSignature: "is signed with a digest that is no longer secure"
        case .invalidSignature: "has a signature that is not valid"
        case .notAuthority: "is signed by a certificate that is no authority"
        case .pathTooLong: "is signed by more authorities than they allow"
        case .revoked: "is revoked"
        case .malformed: "cannot be read"
        case .unhandledExtension: "has a critical extension that is not known"
        case .other(let code): "is not trusted (code \(code) of libcrypto)"
        }
    }
}
