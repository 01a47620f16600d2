import Certificates
import OpenSSLCertificates

// The codes are those of SecPolicyChecks.list (Apple, Security-61901).

extension CertificatePath.Failure {
    /// Apple's status for the failure.
    var status: OSStatus {
        switch self {
        case .expired: errSecCertificateExpired
        case .notYetValid: errSecCertificateNotValidYet
        case .wrongHost: errSecHostNameMismatch
        case .wrongUse: errSecInvalidExtendedKeyUsage
        case .noAnchor, .other: errSecNotTrusted
        case .incomplete: errSecCreateChainFailed
        case .weakKey: errSecUnsupportedKeySize
        case .weakSignature: errSecInvalidDigestAlgorithm
        case .invalidSignature: errSecNotSigner
        case .rule(let violation): violation.status
        case .pathTooLong: errSecPathLengthConstraintExceeded
        case .nameConstraints: errSecInvalidName
        case .policies: errSecInvalidPolicyIdentifiers
        case .revoked: errSecCertificateRevoked
        case .unanswered: errSecIncompleteCertRevocationCheck
        case .unlisted: errSecVerifyActionFailed
        case .malformed: errSecUnknownFormat
        }
    }

    /// Whether exceptions can make up for it.
    var isForgivable: Bool {
        switch self {
        case .revoked, .malformed, .invalidSignature, .weakKey, .rule(.unknownKind), .rule(.shortKey): false
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
        case .noAnchor: "is not trusted: its path ends with a certificate that is no anchor"
        case .incomplete: "is not trusted: a certificate between it and an anchor is missing"
        case .weakKey: "has a key, or an authority with a key, that is too short"
        case .weakSignature: "is signed with a digest that is no longer secure"
        case .invalidSignature: "has a signature that is not valid"
        case .rule(let violation): violation.explanation
        case .pathTooLong: "is signed by more authorities than they allow"
        case .nameConstraints: "has a name that its authorities may not certify"
        case .policies: "does not follow the certificate policies that its authorities ask for"
        case .revoked: "is revoked, or an authority of it is"
        case .unanswered: "is not known to be valid, because nobody says that it is not revoked"
        case .unlisted: "is not in enough public logs of certificates"
        case .malformed: "cannot be read"
        case .other(let code): "is not trusted (code \(code) of libcrypto)"
        }
    }
}

extension PathRules.Violation {
    fileprivate var status: OSStatus {
        switch self {
        case .unreadableExtension: errSecUnknownCertExtension
        case .repeatedExtension: errSecCertificateDuplicateExtension
        case .unknownCriticalExtension: errSecUnknownCriticalExtensionFlag
        case .noSubject: errSecInvalidSubjectName
        case .noBasicConstraints: errSecNoBasicConstraints
        case .notAuthority: errSecNoBasicConstraintsCA
        case .wrongKeyUsage: errSecInvalidKeyUsageForPolicy
        case .unknownKind, .shortKey: errSecUnsupportedKeySize
        case .weakSignature: errSecInvalidDigestAlgorithm
        case .wrongUse, .noServerUse: errSecInvalidExtendedKeyUsage
        case .longValidity: errSecCertificateValidityPeriodTooLong
        case .publicWildcard, .malformedHost: errSecHostNameMismatch
        case .excludedHost, .constrainedMail, .manyConstraints, .unknownConstraint: errSecInvalidName
        }
    }

    fileprivate var explanation: String {
        switch self {
        case .unreadableExtension: "has an extension, or an authority with an extension, that cannot be read"
        case .repeatedExtension: "has an extension twice, or an authority that does"
        case .unknownCriticalExtension: "has a critical extension, or an authority with one, that is not known"
        case .noSubject: "has no subject and no critical alternative name, or an authority without a subject"
        case .noBasicConstraints: "is signed by a certificate that does not say that it is an authority"
        case .notAuthority: "is signed by a certificate that is no authority"
        case .wrongKeyUsage: "is signed by a key that may not sign certificates"
        case .unknownKind:
            "has a key, or an authority with a key, that cannot be read or is of a kind that is not trusted"
        case .weakSignature: "leads to an anchor that is signed with a digest that is no longer secure"
        case .shortKey: "has a key, or an authority with a key, that is too short"
        case .wrongUse: "is not meant for this use"
        case .noServerUse: "does not say that it is for a TLS server"
        case .publicWildcard: "is for hosts of too many owners"
        case .malformedHost: "has a name for this host that is not the name of a host"
        case .excludedHost: "is for a host that its authorities may not certify"
        case .constrainedMail: "has a mail address that its authorities may not certify"
        case .manyConstraints: "has authorities whose names are constrained by too many others"
        case .unknownConstraint: "has an authority whose names are constrained in a way that cannot be checked"
        case .longValidity: "is valid for longer than a TLS server's certificate may be"
        }
    }
}
