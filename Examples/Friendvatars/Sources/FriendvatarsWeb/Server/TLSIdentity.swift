import Crypto
import Foundation
import Keychain
import KeychainTLS
import KeychainX509
import NIOSSL
import SwiftASN1
import X509

/// The server's key, which stays in the vault's enclave, and a certificate that it has signed for itself.
public struct TLSIdentity: Sendable {
    /// For the server.
    let configuration: TLSConfiguration
    /// SHA-256 of the certificate, by which a person can compare what a browser warns about.
    public let fingerprint: String
    /// SHA-256 of the public key in Base64, as browsers' pins and `--ignore-certificate-errors-spki-list` have it (RFC
    /// 7469).
    public let keyPin: String

    /// Browsers take no certificate for longer than 398 days.
    private static let lifetime: TimeInterval = 397 * 86_400
    /// A certificate that ends sooner is replaced at a start.
    private static let remainder: TimeInterval = 30 * 86_400
    private static let clockSkew: TimeInterval = 3_600

    /// The one of before, so that browsers warn once, or a new one.
    ///
    /// - Parameter name: The name that people reach the server by.
    public init(for name: String) async throws {
        let key = try CertificateKey(.stored(tag: "org.example.friendvatars.tls", label: "Friendvatars: TLS"))
        let certificates = Keychain(service: "org.example.friendvatars.certificates", accessibility: .afterFirstUnlock)
        let certificate: Certificate
        if let stored = try await certificates.get(Data.self, for: name),
            let former = try? Certificate(derEncoded: [UInt8](stored)),
            former.publicKey == key.publicKey, former.notValidAfter > Date() + Self.remainder
        {
            certificate = former
        } else {
            certificate = try await Self.certificate(for: name, key)
            try await certificates.set(Data(Self.bytes(of: certificate)), for: name)
        }
        let bytes = try Self.bytes(of: certificate)
        fingerprint = SHA256.hash(data: bytes).map { String(format: "%02X", $0) }.joined(separator: ":")
        let publicKey = try certificate.publicKey.serializeAsPEM().derBytes
        keyPin = Data(SHA256.hash(data: publicKey)).base64EncodedString()
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: bytes, format: .der))],
            privateKey: .privateKey(NIOSSLPrivateKey(customPrivateKey: key.privateKey)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        self.configuration = configuration
    }

    private static func certificate(for name: String, _ key: CertificateKey) async throws -> Certificate {
        let subject = try DistinguishedName { CommonName(name) }
        var names: [GeneralName] = [.dnsName("localhost"), .ipAddress(.init(contentBytes: [127, 0, 0, 1]))]
        if name != "localhost" { names.append(.dnsName(name)) }
        return try await Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: Date() - clockSkew,
            notValidAfter: Date() + lifetime, issuer: subject, subject: subject,
            signatureAlgorithm: key.defaultSignatureAlgorithm,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names)
            },
            issuerAsyncPrivateKey: .init(key))
    }

    private static func bytes(of certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
