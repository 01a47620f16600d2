// Status codes about certificates, revocation, mail and code signing. The numbers are those of Apple's SecBase.h.

/// The service this needs is not available.
public let errSecServiceNotAvailable: OSStatus = -67585
/// The client identification does not suffice.
public let errSecInsufficientClientID: OSStatus = -67586
/// The device was reset.
public let errSecDeviceReset: OSStatus = -67587
/// The device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// The application could not be added to the access control list.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// The public key lacks parameters.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// The signature does not match.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// The start date of the key is not valid.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// The end date of the key is not valid.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// A conversion failed.
public let errSecConversionError: OSStatus = -67594
/// A rollback to SSL 2 was detected.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// The quota is used up.
public let errSecQuotaExceeded: OSStatus = -67596
/// The file is too large.
public let errSecFileTooBig: OSStatus = -67597
/// The database contains a blob that is not valid.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// The database contains a key blob that is not valid.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// The database contains an incompatible blob.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// The database contains an incompatible key blob.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// The host name does not match.
public let errSecHostNameMismatch: OSStatus = -67602
/// An extension that is not known is marked critical.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// There are no basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// The basic constraints do not allow a certificate authority.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// The authority key identifier is not valid.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// The subject key identifier is not valid.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// The policy does not allow this key usage.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// The extended key usage is not valid.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The identifiers do not link the certificates.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// The certificate chain is longer than a constraint allows.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// The root or anchor certificate is not valid.
public let errSecInvalidRoot: OSStatus = -67612
/// The certificate revocation list has expired.
public let errSecCRLExpired: OSStatus = -67613
/// The certificate revocation list is not valid yet.
public let errSecCRLNotValidYet: OSStatus = -67614
/// The certificate revocation list was not found.
public let errSecCRLNotFound: OSStatus = -67615
/// The server of the certificate revocation list does not answer.
public let errSecCRLServerDown: OSStatus = -67616
/// The address of the certificate revocation list is not valid.
public let errSecCRLBadURI: OSStatus = -67617
/// A certificate extension is not known.
public let errSecUnknownCertExtension: OSStatus = -67618
/// An extension of the certificate revocation list is not known.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// The certificate revocation list is not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// The certificate revocation list fails the policy.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// The issuing distribution point is not valid.
public let errSecIDPFailure: OSStatus = -67622
/// The e-mail address does not match the certificate.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// The extended key usage does not allow secure mail.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// The key usage does not allow secure mail.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// The key usage extension is not critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// The certificate contains no e-mail address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// The subject alternative name extension is not critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// The extended key usage does not allow TLS.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// The OCSP response could not be read.
public let errSecOCSPBadResponse: OSStatus = -67630
/// The OCSP request could not be read.
public let errSecOCSPBadRequest: OSStatus = -67631
/// The OCSP service is not available.
public let errSecOCSPUnavailable: OSStatus = -67632
/// The OCSP server does not know the certificate.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// The data has come to its end.
public let errSecEndOfData: OSStatus = -67634
/// The revocation check is incomplete.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The network failed.
public let errSecNetworkFailure: OSStatus = -67636
/// The OCSP response does not lead to a trusted anchor.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// The record was changed meanwhile.
public let errSecRecordModified: OSStatus = -67638
/// The signature of the OCSP response is not valid.
public let errSecOCSPSignatureError: OSStatus = -67639
/// The OCSP response names no signer.
public let errSecOCSPNoSigner: OSStatus = -67640
/// The OCSP responder found the request malformed.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// The OCSP responder failed internally.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// The OCSP responder is busy; try again later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// The OCSP responder wants signed requests.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// The OCSP responder refused the request as unauthorised.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// The nonces of OCSP request and response differ.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// The certificate chain of the code signature has the wrong length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// The code-signing certificate has no basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// The path length constraint of the code-signing certificate is not right.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// The code-signing certificate has no extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// The code-signing certificate is for development only.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// The certificate chain of the resource signature has the wrong length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// The extended key usage does not allow resource signing.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// The trust settings deny this policy.
public let errSecTrustSettingDeny: OSStatus = -67654
/// The subject name of the certificate is not valid.
public let errSecInvalidSubjectName: OSStatus = -67655
/// A qualified certificate statement is not known.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
/// The MobileMe request will be sent when the network is back.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// The MobileMe request was redirected.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// The MobileMe server reported an error.
public let errSecMobileMeServerError: OSStatus = -67659
/// The MobileMe server is not available.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// The MobileMe server says that the item exists already.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// A MobileMe service failed.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// A MobileMe request is pending already.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// No MobileMe request is pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// The MobileMe signing request could not be verified.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// A MobileMe consistency check failed.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666

extension StatusMessages {
    static let certificates: [OSStatus: String] = [
        errSecServiceNotAvailable: "The service this needs is not available.",
        errSecInsufficientClientID: "The client identification does not suffice.",
        errSecDeviceReset: "The device was reset.",
        errSecDeviceFailed: "The device failed.",
        errSecAppleAddAppACLSubject: "The application could not be added to the access control list.",
        errSecApplePublicKeyIncomplete: "The public key lacks parameters.",
        errSecAppleSignatureMismatch: "The signature does not match.",
        errSecAppleInvalidKeyStartDate: "The start date of the key is not valid.",
        errSecAppleInvalidKeyEndDate: "The end date of the key is not valid.",
        errSecConversionError: "A conversion failed.",
        errSecAppleSSLv2Rollback: "A rollback to SSL 2 was detected.",
        errSecQuotaExceeded: "The quota is used up.",
        errSecFileTooBig: "The file is too large.",
        errSecInvalidDatabaseBlob: "The database contains a blob that is not valid.",
        errSecInvalidKeyBlob: "The database contains a key blob that is not valid.",
        errSecIncompatibleDatabaseBlob: "The database contains an incompatible blob.",
        errSecIncompatibleKeyBlob: "The database contains an incompatible key blob.",
        errSecHostNameMismatch: "The host name does not match.",
        errSecUnknownCriticalExtensionFlag: "An extension that is not known is marked critical.",
        errSecNoBasicConstraints: "There are no basic constraints.",
        errSecNoBasicConstraintsCA: "The basic constraints do not allow a certificate authority.",
        errSecInvalidAuthorityKeyID: "The authority key identifier is not valid.",
        errSecInvalidSubjectKeyID: "The subject key identifier is not valid.",
        errSecInvalidKeyUsageForPolicy: "The policy does not allow this key usage.",
        errSecInvalidExtendedKeyUsage: "The extended key usage is not valid.",
        errSecInvalidIDLinkage: "The identifiers do not link the certificates.",
        errSecPathLengthConstraintExceeded: "The certificate chain is longer than a constraint allows.",
        errSecInvalidRoot: "The root or anchor certificate is not valid.",
        errSecCRLExpired: "The certificate revocation list has expired.",
        errSecCRLNotValidYet: "The certificate revocation list is not valid yet.",
        errSecCRLNotFound: "The certificate revocation list was not found.",
        errSecCRLServerDown: "The server of the certificate revocation list does not answer.",
        errSecCRLBadURI: "The address of the certificate revocation list is not valid.",
        errSecUnknownCertExtension: "A certificate extension is not known.",
        errSecUnknownCRLExtension: "An extension of the certificate revocation list is not known.",
        errSecCRLNotTrusted: "The certificate revocation list is not trusted.",
        errSecCRLPolicyFailed: "The certificate revocation list fails the policy.",
        errSecIDPFailure: "The issuing distribution point is not valid.",
        errSecSMIMEEmailAddressesNotFound: "The e-mail address does not match the certificate.",
        errSecSMIMEBadExtendedKeyUsage: "The extended key usage does not allow secure mail.",
        errSecSMIMEBadKeyUsage: "The key usage does not allow secure mail.",
        errSecSMIMEKeyUsageNotCritical: "The key usage extension is not critical.",
        errSecSMIMENoEmailAddress: "The certificate contains no e-mail address.",
        errSecSMIMESubjAltNameNotCritical: "The subject alternative name extension is not critical.",
        errSecSSLBadExtendedKeyUsage: "The extended key usage does not allow TLS.",
        errSecOCSPBadResponse: "The OCSP response could not be read.",
        errSecOCSPBadRequest: "The OCSP request could not be read.",
        errSecOCSPUnavailable: "The OCSP service is not available.",
        errSecOCSPStatusUnrecognized: "The OCSP server does not know the certificate.",
        errSecEndOfData: "The data has come to its end.",
        errSecIncompleteCertRevocationCheck: "The revocation check is incomplete.",
        errSecNetworkFailure: "The network failed.",
        errSecOCSPNotTrustedToAnchor: "The OCSP response does not lead to a trusted anchor.",
        errSecRecordModified: "The record was changed meanwhile.",
        errSecOCSPSignatureError: "The signature of the OCSP response is not valid.",
        errSecOCSPNoSigner: "The OCSP response names no signer.",
        errSecOCSPResponderMalformedReq: "The OCSP responder found the request malformed.",
        errSecOCSPResponderInternalError: "The OCSP responder failed internally.",
        errSecOCSPResponderTryLater: "The OCSP responder is busy; try again later.",
        errSecOCSPResponderSignatureRequired: "The OCSP responder wants signed requests.",
        errSecOCSPResponderUnauthorized: "The OCSP responder refused the request as unauthorised.",
        errSecOCSPResponseNonceMismatch: "The nonces of OCSP request and response differ.",
        errSecCodeSigningBadCertChainLength: "The certificate chain of the code signature has the wrong length.",
        errSecCodeSigningNoBasicConstraints: "The code-signing certificate has no basic constraints.",
        errSecCodeSigningBadPathLengthConstraint:
            "The path length constraint of the code-signing certificate is not right.",
        errSecCodeSigningNoExtendedKeyUsage: "The code-signing certificate has no extended key usage.",
        errSecCodeSigningDevelopment: "The code-signing certificate is for development only.",
        errSecResourceSignBadCertChainLength: "The certificate chain of the resource signature has the wrong length.",
        errSecResourceSignBadExtKeyUsage: "The extended key usage does not allow resource signing.",
        errSecTrustSettingDeny: "The trust settings deny this policy.",
        errSecInvalidSubjectName: "The subject name of the certificate is not valid.",
        errSecUnknownQualifiedCertStatement: "A qualified certificate statement is not known.",
        errSecMobileMeRequestQueued: "The MobileMe request will be sent when the network is back.",
        errSecMobileMeRequestRedirected: "The MobileMe request was redirected.",
        errSecMobileMeServerError: "The MobileMe server reported an error.",
        errSecMobileMeServerNotAvailable: "The MobileMe server is not available.",
        errSecMobileMeServerAlreadyExists: "The MobileMe server says that the item exists already.",
        errSecMobileMeServerServiceErr: "A MobileMe service failed.",
        errSecMobileMeRequestAlreadyPending: "A MobileMe request is pending already.",
        errSecMobileMeNoRequestPending: "No MobileMe request is pending.",
        errSecMobileMeCSRVerifyFailure: "The MobileMe signing request could not be verified.",
        errSecMobileMeFailedConsistencyCheck: "A MobileMe consistency check failed.",
    ]
}
