import AsyncHTTPClient
import Crypto
import Foundation
import KeychainHTTP
import KeychainServices
import KeychainTLS
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Testing

/// Clients that accept one server's key and no other, even if an authority signed the other's certificate.
@Suite struct PinningTests {
    /// SHA-256 of a certificate's key in Base64, as the server says it.
    private static func pin(of certificate: SecCertificate) throws -> String {
        let key = try #require(SecCertificateCopyKey(certificate))
        let point = try #require(SecKeyCopyExternalRepresentation(key, nil)) as Data
        let bytes = try P256.Signing.PublicKey(x963Representation: point).derRepresentation
        return Data(SHA256.hash(data: bytes)).base64EncodedString()
    }

    /// A question about a certificate that only its own key vouches for.
    private static func question(_ certificate: SecCertificate, host: String) -> SecTrust? {
        var trust: SecTrust?
        let policy = SecPolicyCreateSSL(true, host as NSString)
        guard SecTrustCreateWithCertificates(certificate, policy, &trust) == errSecSuccess, let trust else {
            return nil
        }
        _ = SecTrustSetAnchorCertificates(trust, [certificate] as NSArray)
        return trust
    }

    /// What a pinned client gets from an address.
    private static func status(_ address: String, pin: String, host: String = "localhost") async throws -> UInt {
        // The server's certificate comes from no authority.
        var configuration = HTTPClient.Configuration(certificateVerification: .none)
        configuration.requireTrust { certificate in
            guard (try? Self.pin(of: certificate)) == pin else { return nil }
            return question(certificate, host: host)
        }
        let client = HTTPClient(configuration: configuration)
        do {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
            try await client.shutdown()
            return response.status.code
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    @Test func aPinnedClientTalksToItsServerAlone() async throws {
        try await withServer { server in
            #expect(try await Self.status("\(server.address)/health", pin: server.keyPin) == 200)
            // Another server, with a certificate of the same names.
            try await withServer { other in
                _ = await #expect(throws: UntrustedServer.self) {
                    try await Self.status("\(other.address)/health", pin: server.keyPin)
                }
            }
            let error = await #expect(throws: UntrustedServer.self) {
                try await Self.status("\(server.address)/health", pin: server.keyPin, host: "example.com")
            }
            #expect("\(try #require(error))".contains("is not for this host name"))
        }
    }

    @Test func aPinnedClientSendsNothingWithoutTLS() async throws {
        try await withServer(options: ["--plain"]) { server in
            _ = await #expect(throws: UntrustedServer.self) {
                try await Self.status("\(server.address)/health", pin: "any")
            }
        }
    }

    @Test func aHandshakeAsksSecTrust() async throws {
        try await withServer { server in
            func handshake(_ verification: @escaping NIOSSLCustomVerificationCallback) async throws {
                nonisolated(unsafe) let verification = verification
                let context = try NIOSSLContext(configuration: .makeClientConfiguration())
                let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connect(host: "127.0.0.1", port: server.port) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                                wrappingChannelSynchronously: channel.pipelined(context, verification))
                        }
                    }
                try await channel.executeThenClose { inbound, outbound in
                    try await outbound.write(
                        ByteBuffer(string: "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                    var bytes = ByteBuffer()
                    for try await part in inbound { bytes.writeImmutableBuffer(part) }
                    #expect(String(buffer: bytes).hasPrefix("HTTP/1.1 200"))
                }
            }
            try await handshake(
                SecTrust.verification(of: "localhost") { trust in
                    _ = SecTrustSetAnchorCertificates(trust, SecTrustCopyCertificateChain(trust))
                })
            // No authority of the system vouches for it.
            await #expect(throws: (any Error).self) {
                try await handshake(SecTrust.verification(of: "localhost") { _ in })
            }
        }
    }
}

extension Channel {
    fileprivate func pipelined(
        _ context: NIOSSLContext, _ verification: @escaping NIOSSLCustomVerificationCallback
    ) throws -> any Channel {
        try pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(
                context: context, serverHostname: "localhost", customVerificationCallback: verification))
        return self
    }
}
