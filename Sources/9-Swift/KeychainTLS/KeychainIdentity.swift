#if TLSSupport
import Foundation
import KeychainServices
import NIOSSL

/// A private key of the keychain and the certificates for it: what a TLS server or client shows to the other side.
public struct KeychainIdentity: Sendable {
    /// The key that signs handshakes. It stays in the keychain.
    public let privateKey: KeychainPrivateKey
    /// The certificate of the key, and after it each issuer of the one before. The root is left out: the other side
    /// trusts only the roots that it has (RFC 8446, 4.4.2).
    public let certificates: [SecCertificate]

    /// Longer paths than this one are refused by OpenSSL's default of 100 anyway, and no real one has ten.
    private static let longestPath = 10

    /// The identity with this label in the keychain. `keychain key list` and `keychain cert list` show labels.
    ///
    /// Of several certificates, this is the one that is valid now, and of these the one that became valid last: the one
    /// that a renewal brought.
    ///
    /// - Parameter label: The label of the certificate (`kSecAttrLabel`).
    /// - Throws: ``KeychainKeyError`` if there is none, the vault is locked, or TLS cannot use the key.
    public init(label: String) throws {
        let query: [CFString: Any] = [
            kSecClass: kSecClassIdentity, kSecAttrLabel: label, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true,
        ]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        let identities = found as? [SecIdentity] ?? []
        guard status == errSecSuccess, let identity = identities.max(by: { Self.age($0) < Self.age($1) }) else {
            throw KeychainKeyError(
                "The keychain returns no key and certificate with the label '\(label)'.",
                status == errSecSuccess ? errSecItemNotFound : status)
        }
        try self.init(identity)
    }

    /// Sorts the certificates of identities, the best one last.
    private static func age(_ identity: SecIdentity) -> (isValid: Int, begin: Date) {
        var certificate: SecCertificate?
        guard SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess, let certificate,
            let begin = SecCertificateCopyNotValidBeforeDate(certificate) as Date?,
            let end = SecCertificateCopyNotValidAfterDate(certificate) as Date?
        else { return (0, .distantPast) }
        return (begin <= Date() && Date() <= end ? 1 : 0, begin)
    }

    /// - Parameters:
    ///   - identity: As `SecItemCopyMatching` and `SecPKCS12Import` return it.
    ///   - issuers: The certificates between the identity's own and the root, the nearest first. Nil takes those that
    ///     the keychain holds.
    /// - Throws: ``KeychainKeyError`` if TLS cannot use the key, or the keychain does not return the certificate.
    public init(_ identity: SecIdentity, issuers: [SecCertificate]? = nil) throws {
        var key: SecKey?
        var status = SecIdentityCopyPrivateKey(identity, &key)
        guard status == errSecSuccess, let key else {
            throw KeychainKeyError("The keychain does not return the identity's key.", status)
        }
        var certificate: SecCertificate?
        status = SecIdentityCopyCertificate(identity, &certificate)
        guard status == errSecSuccess, let certificate else {
            throw KeychainKeyError("The keychain does not return the identity's certificate.", status)
        }
        privateKey = try KeychainPrivateKey(key)
        certificates = try [certificate] + (issuers ?? Self.issuers(of: certificate))
    }

    /// The intermediate certificates of the keychain that lead from a certificate towards its root.
    private static func issuers(of certificate: SecCertificate) throws -> [SecCertificate] {
        var path: [SecCertificate] = []
        var current = certificate
        while path.count < longestPath, let name = SecCertificateCopyNormalizedIssuerSequence(current) {
            let query: [CFString: Any] = [
                kSecClass: kSecClassCertificate, kSecAttrSubject: name, kSecMatchLimit: kSecMatchLimitAll,
                kSecReturnRef: true,
            ]
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { break }
            guard status == errSecSuccess else {
                throw KeychainKeyError("The keychain does not return the issuer of a certificate.", status)
            }
            // An authority that was renewed has several certificates of one name.
            guard let issuer = (found as? [SecCertificate])?.first(where: { $0.hasSigned(current) }),
                SecCertificateCopyNormalizedIssuerSequence(issuer) as Data?
                    != SecCertificateCopyNormalizedSubjectSequence(issuer) as Data?
            else { break }
            path.append(issuer)
            current = issuer
        }
        return path
    }

    /// The certificates in the form of swift-nio-ssl.
    ///
    /// - Throws: An error of NIOSSL for a certificate that BoringSSL cannot read.
    public var certificateChain: [NIOSSLCertificateSource] {
        get throws {
            try certificates.map {
                .certificate(try NIOSSLCertificate(bytes: [UInt8](SecCertificateCopyData($0) as Data), format: .der))
            }
        }
    }
}

extension SecCertificate {
    /// Whether this certificate's key has signed another one, and both are valid now.
    fileprivate func hasSigned(_ other: SecCertificate) -> Bool {
        var created: SecTrust?
        guard SecTrustCreateWithCertificates(other, SecPolicyCreateBasicX509(), &created) == errSecSuccess,
            let trust = created
        else { return false }
        SecTrustSetAnchorCertificates(trust, [self] as NSArray)
        SecTrustSetAnchorCertificatesOnly(trust, true)
        SecTrustSetNetworkFetchAllowed(trust, false)
        return SecTrustEvaluateWithError(trust, nil)
    }
}

extension TLSConfiguration {
    /// A server with a key and a certificate of the keychain, and otherwise NIOSSL's defaults.
    ///
    /// - Throws: An error of NIOSSL for a certificate that BoringSSL cannot read.
    public static func makeServerConfiguration(identity: KeychainIdentity) throws -> TLSConfiguration {
        makeServerConfiguration(
            certificateChain: try identity.certificateChain,
            privateKey: .privateKey(NIOSSLPrivateKey(customPrivateKey: identity.privateKey)))
    }

    /// Shows a key and a certificate of the keychain to the other side, in the place of those shown before.
    ///
    /// - Throws: An error of NIOSSL for a certificate that BoringSSL cannot read.
    public mutating func show(_ identity: KeychainIdentity) throws {
        certificateChain = try identity.certificateChain
        privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: identity.privateKey))
    }
}
#endif
