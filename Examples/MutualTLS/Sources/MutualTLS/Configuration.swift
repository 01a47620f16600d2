import KeychainTLS
import KeychainX509
import NIOCore
import NIOSSL
import X509

extension TLSConfiguration {
    /// A server that talks to nobody without a certificate of the authority.
    static func server(_ own: Credentials, trusting authority: Certificate) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfigurationWithMTLS(
            certificateChain: [.certificate(try NIOSSLCertificate(own.certificate))],
            privateKey: .privateKey(NIOSSLPrivateKey(customPrivateKey: own.key.privateKey)),
            trustRoots: .certificates([try NIOSSLCertificate(authority)]))
        configuration.allowWhatKeysCanDo()
        return configuration
    }

    /// A client that shows its certificate, if it has one, and checks the server's and the name in it.
    static func client(_ own: Credentials?, trusting authority: Certificate) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([try NIOSSLCertificate(authority)])
        if let own {
            configuration.certificateChain = [.certificate(try NIOSSLCertificate(own.certificate))]
            configuration.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: own.key.privateKey))
        }
        configuration.allowWhatKeysCanDo()
        return configuration
    }

    private mutating func allowWhatKeysCanDo() {
        minimumTLSVersion = .tlsv12
        // P-521 is not in BoringSSL's own lists; TLS 1.2 looks for a certificate's curve in the first.
        curves = [.x25519, .secp256r1, .secp384r1, .secp521r1]
        verifySignatureAlgorithms = [
            .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha256, .rsaPssRsaeSha384,
            .rsaPssRsaeSha512, .rsaPkcs1Sha256, .rsaPkcs1Sha384, .rsaPkcs1Sha512,
        ]
    }
}

extension NIOSSLCertificate {
    convenience init(_ certificate: Certificate) throws {
        try self.init(bytes: certificate.der, format: .der)
    }
}

/// Who is at the other end, as TLS has verified it.
struct Peer: Equatable, CustomStringConvertible {
    let subject: DistinguishedName
    let version: TLSVersion

    /// To be asked when the handshake is over.
    init(at channel: any Channel) async throws {
        guard let certificate = try await channel.nioSSL_peerCertificate().get(),
            let version = try await channel.nioSSL_tlsVersion().get()
        else {
            throw ExampleError("the peer has shown no certificate")
        }
        subject = try Certificate(derEncoded: certificate.toDERBytes()).subject
        self.version = version
    }

    var description: String { "\(subject), \(version)" }
}
