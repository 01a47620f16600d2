import Foundation
import KeychainX509
import SwiftASN1
import X509
import _CryptoExtras

/// A minimal certificate authority: it has one key, and issues certificates to the holder of a request's key.
struct CertificateAuthority {
    let key: CertificateKey
    let certificate: Certificate

    /// Ten years for the authority, ninety days for what it signs. Both begin an hour ago, for clocks that go slow.
    private static let ownLifetime: TimeInterval = 10 * 365 * 86400
    private static let lifetime: TimeInterval = 90 * 86400
    private static let clockSkew: TimeInterval = 3600

    /// An authority known from before.
    init(key: CertificateKey, certificate: Certificate) {
        (self.key, self.certificate) = (key, certificate)
    }

    /// A new authority, which signs its own certificate.
    init(name: String, key: CertificateKey) async throws {
        let subject = try DistinguishedName { CommonName(name) }
        self.key = key
        certificate = try await Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey,
            notValidBefore: Date() - Self.clockSkew, notValidAfter: Date() + Self.ownLifetime,
            issuer: subject, subject: subject, signatureAlgorithm: key.defaultSignatureAlgorithm,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
            },
            issuerAsyncPrivateKey: .init(key))
    }

    /// Signs a request.
    ///
    /// - Throws: ``ExampleError`` if the request is not signed with the key that it is for.
    func certificate(for request: CertificateSigningRequest) async throws -> Certificate {
        guard request.publicKey.isValidSignature(request.signature, for: request) else {
            throw ExampleError("the request of \(request.subject) is not signed with its own key")
        }
        // What is asked for beyond names is not granted.
        let names = try request.attributes.extensionRequest?.extensions.subjectAlternativeNames
        let isRSA = _RSA.Signing.PublicKey(request.publicKey) != nil
        return try await Certificate(
            version: .v3, serialNumber: .init(), publicKey: request.publicKey,
            notValidBefore: Date() - Self.clockSkew, notValidAfter: Date() + Self.lifetime,
            issuer: certificate.subject, subject: request.subject, signatureAlgorithm: key.defaultSignatureAlgorithm,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true, keyEncipherment: isRSA))
                try ExtendedKeyUsage([.serverAuth, .clientAuth])
                if let names { names }
            },
            issuerAsyncPrivateKey: .init(key))
    }
}

/// A private key and the certificate for it: one end of a connection.
struct Credentials {
    let key: CertificateKey
    let certificate: Certificate

    /// Has a certificate made for a key.
    init(name: String, key: CertificateKey, from authority: CertificateAuthority) async throws {
        // As on its way to an authority somewhere else.
        let sent = try await CertificateSigningRequest(for: name, key: key).serializeAsPEM().pemString
        certificate = try await authority.certificate(for: CertificateSigningRequest(pemEncoded: sent))
        self.key = key
    }

    init(key: CertificateKey, certificate: Certificate) {
        (self.key, self.certificate) = (key, certificate)
    }
}

extension CertificateSigningRequest {
    /// Asks for a certificate for a key, which signs the request wherever it is.
    init(for name: String, key: CertificateKey) async throws {
        let names = try Certificate.Extensions { SubjectAlternativeNames([.dnsName("localhost")]) }
        try await self.init(
            version: .v1, subject: try DistinguishedName { CommonName(name) }, asyncPrivateKey: .init(key),
            attributes: .init([try .init(ExtensionRequest(extensions: names))]),
            signatureAlgorithm: key.defaultSignatureAlgorithm)
    }
}

extension Certificate {
    var der: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(self)
            return serializer.serializedBytes
        }
    }

    func isValid(at date: Date) -> Bool { notValidBefore <= date && date < notValidAfter }
}
