// Status codes of TLS connections. The numbers are those of Apple's SecBase.h. Only `SecKeyRawVerify` of this package
// returns one of them; the others are here for code that compares with them or shows their texts.

/// A TLS message broke the protocol.
public let errSSLProtocol: OSStatus = -9800
/// The two sides have no cipher suite in common.
public let errSSLNegotiation: OSStatus = -9801
/// The peer sent a fatal alert.
public let errSSLFatalAlert: OSStatus = -9802
/// The operation would have to wait for input or output.
public let errSSLWouldBlock: OSStatus = -9803
/// The session to resume is not known.
public let errSSLSessionNotFound: OSStatus = -9804
/// The peer closed the connection properly.
public let errSSLClosedGraceful: OSStatus = -9805
/// The connection was closed because of an error.
public let errSSLClosedAbort: OSStatus = -9806
/// The peer's chain of certificates is not valid.
public let errSSLXCertChainInvalid: OSStatus = -9807
/// A certificate is malformed.
public let errSSLBadCert: OSStatus = -9808
/// A cryptographic operation failed.
public let errSSLCrypto: OSStatus = -9809
/// The TLS implementation failed internally.
public let errSSLInternal: OSStatus = -9810
/// A cryptographic module could not be attached.
public let errSSLModuleAttach: OSStatus = -9811
/// The chain of certificates is valid, but its root is not trusted.
public let errSSLUnknownRootCert: OSStatus = -9812
/// The chain of certificates has no root.
public let errSSLNoRootCert: OSStatus = -9813
/// A certificate of the chain has expired.
public let errSSLCertExpired: OSStatus = -9814
/// A certificate of the chain is not valid yet.
public let errSSLCertNotYetValid: OSStatus = -9815
/// The peer closed the connection without saying so.
public let errSSLClosedNoNotify: OSStatus = -9816
/// The buffer is too small.
public let errSSLBufferOverflow: OSStatus = -9817
/// The cipher suite cannot be used.
public let errSSLBadCipherSuite: OSStatus = -9818
/// The peer did not expect a message.
public let errSSLPeerUnexpectedMsg: OSStatus = -9819
/// The peer could not authenticate a record.
public let errSSLPeerBadRecordMac: OSStatus = -9820
/// The peer could not decrypt a record.
public let errSSLPeerDecryptionFail: OSStatus = -9821
/// The peer found a record too long.
public let errSSLPeerRecordOverflow: OSStatus = -9822
/// The peer could not decompress a record.
public let errSSLPeerDecompressFail: OSStatus = -9823
/// The peer ended the handshake.
public let errSSLPeerHandshakeFail: OSStatus = -9824
/// The peer found a certificate damaged.
public let errSSLPeerBadCert: OSStatus = -9825
/// The peer does not support this type of certificate.
public let errSSLPeerUnsupportedCert: OSStatus = -9826
/// The peer found a certificate revoked.
public let errSSLPeerCertRevoked: OSStatus = -9827
/// The peer found a certificate expired.
public let errSSLPeerCertExpired: OSStatus = -9828
/// The peer did not accept a certificate.
public let errSSLPeerCertUnknown: OSStatus = -9829
/// A field of a message has a value that is not allowed.
public let errSSLIllegalParam: OSStatus = -9830
/// The peer does not know the certificate authority.
public let errSSLPeerUnknownCA: OSStatus = -9831
/// The peer denied access.
public let errSSLPeerAccessDenied: OSStatus = -9832
/// The peer could not decode a message.
public let errSSLPeerDecodeError: OSStatus = -9833
/// A cryptographic step of the handshake failed at the peer.
public let errSSLPeerDecryptError: OSStatus = -9834
/// The peer found an export restriction violated.
public let errSSLPeerExportRestriction: OSStatus = -9835
/// The peer does not support this version of the protocol.
public let errSSLPeerProtocolVersion: OSStatus = -9836
/// The peer wants cipher suites that are more secure.
public let errSSLPeerInsufficientSecurity: OSStatus = -9837
/// The peer failed internally.
public let errSSLPeerInternalError: OSStatus = -9838
/// The handshake was cancelled at the peer.
public let errSSLPeerUserCancelled: OSStatus = -9839
/// The peer allows no renegotiation.
public let errSSLPeerNoRenegotiation: OSStatus = -9840
/// The peer's certificate was checked, or did not have to be.
public let errSSLPeerAuthCompleted: OSStatus = -9841
/// The server asked for a certificate of the client.
public let errSSLClientCertRequested: OSStatus = -9842
/// The peer's certificate is for another host name.
public let errSSLHostNameMismatch: OSStatus = -9843
/// The peer closed the connection before it answered.
public let errSSLConnectionRefused: OSStatus = -9844
/// A record could not be decrypted.
public let errSSLDecryptionFail: OSStatus = -9845
/// A record could not be authenticated.
public let errSSLBadRecordMac: OSStatus = -9846
/// A record is too long.
public let errSSLRecordOverflow: OSStatus = -9847
/// The configuration of the connection is not valid.
public let errSSLBadConfiguration: OSStatus = -9848
/// A DTLS record that was not expected was skipped.
public let errSSLUnexpectedRecord: OSStatus = -9849
/// The peer's ephemeral Diffie-Hellman key is too weak.
public let errSSLWeakPeerEphemeralDHKey: OSStatus = -9850
/// The client's first message has arrived.
public let errSSLClientHelloReceived: OSStatus = -9851
/// The connection under TLS was reset.
public let errSSLTransportReset: OSStatus = -9852
/// The network did not answer in time.
public let errSSLNetworkTimeout: OSStatus = -9853
/// TLS could not be configured.
public let errSSLConfigurationFailed: OSStatus = -9854
/// A TLS extension is not supported.
public let errSSLUnsupportedExtension: OSStatus = -9855
/// A message was not expected.
public let errSSLUnexpectedMessage: OSStatus = -9856
/// Data could not be decompressed.
public let errSSLDecompressFail: OSStatus = -9857
/// The handshake failed.
public let errSSLHandshakeFail: OSStatus = -9858
/// A message could not be decoded.
public let errSSLDecodeError: OSStatus = -9859
/// The client fell back to an older version of the protocol without need.
public let errSSLInappropriateFallback: OSStatus = -9860
/// A TLS extension that is required is missing.
public let errSSLMissingExtension: OSStatus = -9861
/// The OCSP response for a certificate is not valid.
public let errSSLBadCertificateStatusResponse: OSStatus = -9862
/// A certificate is required.
public let errSSLCertificateRequired: OSStatus = -9863
/// The identity of the pre-shared key is not known.
public let errSSLUnknownPSKIdentity: OSStatus = -9864
/// The server name is not known.
public let errSSLUnrecognizedName: OSStatus = -9865
/// The connection violates App Transport Security.
public let errSSLATSViolation: OSStatus = -9880
/// App Transport Security forbids this version of the protocol.
public let errSSLATSMinimumVersionViolation: OSStatus = -9881
/// App Transport Security forbids this cipher suite.
public let errSSLATSCiphersuiteViolation: OSStatus = -9882
/// App Transport Security forbids a key as short as the peer's.
public let errSSLATSMinimumKeySizeViolation: OSStatus = -9883
/// App Transport Security forbids the digest with which the peer's certificate is signed.
public let errSSLATSLeafCertificateHashAlgorithmViolation: OSStatus = -9884
/// App Transport Security forbids the digest with which a certificate of the chain is signed.
public let errSSLATSCertificateHashAlgorithmViolation: OSStatus = -9885
/// App Transport Security does not trust the issuer of the peer's certificate.
public let errSSLATSCertificateTrustViolation: OSStatus = -9886
/// The peer rejected the early data.
public let errSSLEarlyDataRejected: OSStatus = -9890

extension StatusMessages {
    static let tls: [OSStatus: String] = [
        errSSLProtocol: "A TLS message broke the protocol.",
        errSSLNegotiation: "The two sides have no cipher suite in common.",
        errSSLFatalAlert: "The peer sent a fatal alert.",
        errSSLWouldBlock: "The operation would have to wait for input or output.",
        errSSLSessionNotFound: "The session to resume is not known.",
        errSSLClosedGraceful: "The peer closed the connection properly.",
        errSSLClosedAbort: "The connection was closed because of an error.",
        errSSLXCertChainInvalid: "The peer's chain of certificates is not valid.",
        errSSLBadCert: "A certificate is malformed.",
        errSSLCrypto: "A cryptographic operation failed.",
        errSSLInternal: "The TLS implementation failed internally.",
        errSSLModuleAttach: "A cryptographic module could not be attached.",
        errSSLUnknownRootCert: "The chain of certificates is valid, but its root is not trusted.",
        errSSLNoRootCert: "The chain of certificates has no root.",
        errSSLCertExpired: "A certificate of the chain has expired.",
        errSSLCertNotYetValid: "A certificate of the chain is not valid yet.",
        errSSLClosedNoNotify: "The peer closed the connection without saying so.",
        errSSLBufferOverflow: "The buffer is too small.",
        errSSLBadCipherSuite: "The cipher suite cannot be used.",
        errSSLPeerUnexpectedMsg: "The peer did not expect a message.",
        errSSLPeerBadRecordMac: "The peer could not authenticate a record.",
        errSSLPeerDecryptionFail: "The peer could not decrypt a record.",
        errSSLPeerRecordOverflow: "The peer found a record too long.",
        errSSLPeerDecompressFail: "The peer could not decompress a record.",
        errSSLPeerHandshakeFail: "The peer ended the handshake.",
        errSSLPeerBadCert: "The peer found a certificate damaged.",
        errSSLPeerUnsupportedCert: "The peer does not support this type of certificate.",
        errSSLPeerCertRevoked: "The peer found a certificate revoked.",
        errSSLPeerCertExpired: "The peer found a certificate expired.",
        errSSLPeerCertUnknown: "The peer did not accept a certificate.",
        errSSLIllegalParam: "A field of a message has a value that is not allowed.",
        errSSLPeerUnknownCA: "The peer does not know the certificate authority.",
        errSSLPeerAccessDenied: "The peer denied access.",
        errSSLPeerDecodeError: "The peer could not decode a message.",
        errSSLPeerDecryptError: "A cryptographic step of the handshake failed at the peer.",
        errSSLPeerExportRestriction: "The peer found an export restriction violated.",
        errSSLPeerProtocolVersion: "The peer does not support this version of the protocol.",
        errSSLPeerInsufficientSecurity: "The peer wants cipher suites that are more secure.",
        errSSLPeerInternalError: "The peer failed internally.",
        errSSLPeerUserCancelled: "The handshake was cancelled at the peer.",
        errSSLPeerNoRenegotiation: "The peer allows no renegotiation.",
        errSSLPeerAuthCompleted: "The peer's certificate was checked, or did not have to be.",
        errSSLClientCertRequested: "The server asked for a certificate of the client.",
        errSSLHostNameMismatch: "The peer's certificate is for another host name.",
        errSSLConnectionRefused: "The peer closed the connection before it answered.",
        errSSLDecryptionFail: "A record could not be decrypted.",
        errSSLBadRecordMac: "A record could not be authenticated.",
        errSSLRecordOverflow: "A record is too long.",
        errSSLBadConfiguration: "The configuration of the connection is not valid.",
        errSSLUnexpectedRecord: "A DTLS record that was not expected was skipped.",
        errSSLWeakPeerEphemeralDHKey: "The peer's ephemeral Diffie-Hellman key is too weak.",
        errSSLClientHelloReceived: "The client's first message has arrived.",
        errSSLTransportReset: "The connection under TLS was reset.",
        errSSLNetworkTimeout: "The network did not answer in time.",
        errSSLConfigurationFailed: "TLS could not be configured.",
        errSSLUnsupportedExtension: "A TLS extension is not supported.",
        errSSLUnexpectedMessage: "A message was not expected.",
        errSSLDecompressFail: "Data could not be decompressed.",
        errSSLHandshakeFail: "The handshake failed.",
        errSSLDecodeError: "A message could not be decoded.",
        errSSLInappropriateFallback: "The client fell back to an older version of the protocol without need.",
        errSSLMissingExtension: "A TLS extension that is required is missing.",
        errSSLBadCertificateStatusResponse: "The OCSP response for a certificate is not valid.",
        errSSLCertificateRequired: "A certificate is required.",
        errSSLUnknownPSKIdentity: "The identity of the pre-shared key is not known.",
        errSSLUnrecognizedName: "The server name is not known.",
        errSSLATSViolation: "The connection violates App Transport Security.",
        errSSLATSMinimumVersionViolation: "App Transport Security forbids this version of the protocol.",
        errSSLATSCiphersuiteViolation: "App Transport Security forbids this cipher suite.",
        errSSLATSMinimumKeySizeViolation: "App Transport Security forbids a key as short as the peer's.",
        errSSLATSLeafCertificateHashAlgorithmViolation:
            "App Transport Security forbids the digest with which the peer's certificate is signed.",
        errSSLATSCertificateHashAlgorithmViolation:
            "App Transport Security forbids the digest with which a certificate of the chain is signed.",
        errSSLATSCertificateTrustViolation:
            "App Transport Security does not trust the issuer of the peer's certificate.",
        errSSLEarlyDataRejected: "The peer rejected the early data.",
    ]
}
