import AsyncHTTPClient
import Foundation
import KeychainHTTP
import KeychainServices
import KeychainTLS
import KeychainTesting
import NIOSSL
import TestSupport
import Testing

/// What Documentation/Use/TLS.md shows in Swift is run here.
@Suite(.timeLimit(.minutes(5))) struct TLSGuideTests {
    @Test func examples() async throws {
        try await withTestKeychain { _ in
            let issuer = try await Authority()
            try await issuer.issue(.enclave, label: "shop.example.com")
            try await issuer.issue(.enclave, label: "ci@example.com")
            let authority = try NIOSSLCertificate(bytes: issuer.root.der, format: .der)

            let identity = try KeychainIdentity(label: "shop.example.com")
            var server = try TLSConfiguration.makeServerConfiguration(identity: identity)
            server.trustRoots = .certificates([authority])
            server.certificateVerification = .noHostnameVerification
            let context = try NIOSSLContext(configuration: server)
            try await withServer(context) { port in
                var configuration = HTTPClient.Configuration()
                try configuration.show(KeychainIdentity(label: "ci@example.com"))
                configuration.tlsConfiguration?.trustRoots = .certificates([authority])
                let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                try await client.shutdown()
                let name = try await answer(port: port, configuration)
                #expect(name == "CN=ci@example.com")

                // Without the certificate, the server ends the handshake.
                configuration.tlsConfiguration = .makeClientConfiguration()
                configuration.tlsConfiguration?.trustRoots = .certificates([authority])
                _ = await #expect(throws: (any Error).self) { try await answer(port: port, configuration) }
            }

            let anchor = identity.certificates[0]
            var pinned = HTTPClient.Configuration(certificateVerification: .none)
            pinned.requireTrust { certificate in
                var trust: SecTrust?
                SecTrustCreateWithCertificates(certificate, SecPolicyCreateSSL(true, "localhost"), &trust)
                if let trust { SecTrustSetAnchorCertificates(trust, [anchor] as NSArray) }
                return trust
            }
            let plain = try NIOSSLContext(configuration: .makeServerConfiguration(identity: identity))
            #expect(try await withServer(plain) { try await answer(port: $0, pinned) } == "")
            let other = try NIOSSLContext(
                configuration: .makeServerConfiguration(identity: KeychainIdentity(label: "ci@example.com")))
            try await withServer(other) { port in
                _ = await #expect(throws: UntrustedServer.self) { try await answer(port: port, pinned) }
            }

            let key = try KeychainPrivateKey.stored(tag: "com.example.shop.tls", label: "Shop: TLS")
            #expect(try KeychainPrivateKey.stored(tag: "com.example.shop.tls", label: "Shop: TLS") == key)
        }
    }

    @Test func everyExampleIsRun() throws {
        let (examples, missing) = try Guide.missingLines(of: "Use/TLS.md", in: #filePath)
        #expect(examples == 6 && missing == [])
    }
}
