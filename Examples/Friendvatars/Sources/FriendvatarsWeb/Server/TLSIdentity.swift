import Crypto
import Foundation
import KeychainTLS
import NIOSSL
import SwiftASN1
import X509

/// The server's key, which stays in the vault's enclave, and a certificate that it has signed for itself.
public struct TLSIdentity: Sendable {
    /// For the server.
    let configuration: TLSConfiguration
    /// SHA-256 of the certificate, by which a person can compare what a browser warns about.
    public let fingerprint: String
    /// SHA-256 of the public key in Base64, as browsers' pins and `--ignore-certificate-errors-spki-list` have it (RFC 7469).
    public let keyPin: String

    /// Browsers take no certificate for longer than 398 days. A new one is made at every start.
    private static let lifetime: TimeInterval = 90 * 86_400
    private static let clockSkew: TimeInterval = 3_600

    /// - Parameter name: The name that people reach the server by.
    public init(for name: String) async throws {
        let key = try KeychainPrivateKey.stored(tag: "org.example.friendvatars.tls", label: "Friendvatars: TLS")
        let subject = try DistinguishedName { CommonName(name) }
        var names: [GeneralName] = [.dnsName("localhost"), .ipAddress(.init(contentBytes: [127, 0, 0, 1]))]
        if name != "localhost" { names.append(.dnsName(name)) }
        let certificate = try await Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: Date() - Self.clockSkew,
            notValidAfter: Date() + Self.lifetime, issuer: subject, subject: subject,
            signatureAlgorithm: key.defaultSignatureAlgorithm,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names)
            },
            issuerAsyncPrivateKey: .init(key))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        let bytes = serializer.serializedBytes
        fingerprint = SHA256.hash(data: bytes).map { String(format: "%02X", $0) }.joined(separator: ":")
        let publicKey = try certificate.publicKey.serializeAsPEM().derBytes
        keyPin = Data(SHA256.hash(data: publicKey)).base64EncodedString()
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: bytes, format: .der))],
            privateKey: .privateKey(NIOSSLPrivateKey(customPrivateKey: key)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        self.configuration = configuration
    }
}
