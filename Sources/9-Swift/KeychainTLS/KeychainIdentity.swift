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
    /// - Parameter label: The label of the certificate (`kSecAttrLabel`).
    /// - Throws: ``KeychainKeyError`` if there is none, the vault is locked, or TLS cannot use the key.
    public init(label: String) throws {
        let query: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecAttrLabel: label, kSecReturnRef: true]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard status == errSecSuccess, let identity = found as? SecIdentity else {
            throw KeychainKeyError(
                "The keychain returns no key and certificate with the label '\(label)'.",
                status == errSecSuccess ? errSecItemNotFound : status)
        }
        try self.init(identity)
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
            // Two authorities may have one name; a wrong certificate in the path would only make it longer.
            guard let issuer = (found as? [SecCertificate])?.first,
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
