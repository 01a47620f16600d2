import Foundation
import KeychainServices
import KeychainTLS
import KeychainX509
import NIOSSL
import X509

/// Server and client in one process, with everything that has to succeed and to fail.
struct SelfTest {
    private let authority: CertificateAuthority
    private let server: Credentials
    private let client: Credentials

    init() async throws {
        authority = try await .stored()
        server = try await .stored("server", from: authority)
        client = try await .stored("client", from: authority)
    }

    /// - Throws: ``ExampleError`` at the first thing that is not as it should be.
    func run() async throws {
        try keysStayInside()
        try keysAreFoundAgain()
        for version in [TLSVersion.tlsv13, .tlsv12] {
            try await talk("keys of the enclave", server, client, version)
        }
        try await refuseStrangers()
        try await otherKinds()
    }

    private func keysStayInside() throws {
        for (name, credentials) in [("server", server), ("client", client)] {
            var failure: Unmanaged<CFError>?
            let exported = SecKeyCopyExternalRepresentation(credentials.key.privateKey.key, &failure)
            let reason = failure?.takeRetainedValue()
            guard exported == nil else { throw ExampleError("the private key of the \(name) can be exported") }
            say(
                "ok  the private key of the \(name) is not to be had: \(reason?.localizedDescription ?? "no reason given")"
            )
        }
    }

    private func keysAreFoundAgain() throws {
        let found = try Vault.key(named: "server", in: .enclave)
        guard found.privateKey == server.key.privateKey else {
            throw ExampleError("the vault gives another key for the same name")
        }
        guard try Vault.certificate(named: "server") == server.certificate.der else {
            throw ExampleError("the vault gives another certificate for the same name")
        }
        say("ok  key and certificate of the server are found in the vault")
    }

    /// Both ends verify each other, and bytes go there and back.
    private func talk(
        _ what: String, _ server: Credentials, _ client: Credentials, _ version: TLSVersion,
        ciphers: [NIOTLSCipher]? = nil
    ) async throws {
        var serving = try TLSConfiguration.server(server, trusting: authority.certificate)
        var asking = try TLSConfiguration.client(client, trusting: authority.certificate)
        (serving.maximumTLSVersion, asking.maximumTLSVersion) = (version, version)
        if let ciphers { (serving.cipherSuiteValues, asking.cipherSuiteValues) = (ciphers, ciphers) }
        let message = "over \(version) with \(what)"
        let (result, visit) = try await visit(serving, asking, message)
        let (reply, seenServer) = try result.get()
        guard reply == message else { throw ExampleError("\(message): the server sent back something else") }
        guard case .served(let seenClient) = visit else { throw ExampleError("\(message): \(visit)") }
        guard seenServer.subject == server.certificate.subject, seenClient.subject == client.certificate.subject else {
            throw ExampleError("\(message): one end took the other for somebody else")
        }
        guard seenServer.version == version, seenClient.version == version else {
            throw ExampleError("\(message): another version of TLS was spoken")
        }
        say("ok  \(what), \(version): the client verified \(seenServer.subject), the server \(seenClient.subject)")
    }

    private func refuseStrangers() async throws {
        let key = try CertificateKey(KeychainPrivateKey(Vault.passingEnclaveKey()))
        // It says that it is ours, and has another key.
        let strangers = try await CertificateAuthority(name: "Example authority", key: key)
        let foreign = try await Credentials(name: "client", key: client.key, from: strangers)
        // What the handshake lacks whose certificate is stolen is the signature.
        let stolen = Credentials(key: key, certificate: client.certificate)
        let ours = authority.certificate
        for (whom, client, reason) in [
            ("a client with a certificate of another authority", foreign, "CERTIFICATE_VERIFY_FAILED"),
            ("a client without a certificate", nil, "PEER_DID_NOT_RETURN_A_CERTIFICATE"),
            ("a client with somebody else's certificate", stolen, "BAD_SIGNATURE"),
        ] {
            try await refuse(whom, by: "server", .client(client, trusting: ours), reason: reason)
        }
        try await refuse(
            "a server with a certificate of another authority", by: "client",
            .client(client, trusting: strangers.certificate), reason: "CERTIFICATE_VERIFY_FAILED")
    }

    /// - Parameter reason: What BoringSSL calls it at the end that refuses.
    private func refuse(
        _ whom: String, by end: String, _ asking: TLSConfiguration, reason: String
    ) async throws {
        let serving = try TLSConfiguration.server(server, trusting: authority.certificate)
        let (result, visit) = try await visit(serving, asking, "hello")
        guard case .failure(let asked) = result, case .failed(let served) = visit else {
            throw ExampleError("\(whom) was accepted")
        }
        let said = end == "server" ? served : "\(asked)"
        guard said.contains(reason) else { throw ExampleError("\(whom): not \(reason) but \(said)") }
        say("ok  refused by the \(end): \(whom) (\(reason))")
    }

    /// The same with the kinds of keys that no TPM keeps here.
    private func otherKinds() async throws {
        for (type, size) in [
            (kSecAttrKeyTypeECSECPrimeRandom, 384), (kSecAttrKeyTypeECSECPrimeRandom, 521), (kSecAttrKeyTypeRSA, 2048),
        ] {
            let key = try CertificateKey(KeychainPrivateKey(Vault.passingKey(type: type, sizeInBits: size)))
            let credentials = try await Credentials(name: "\(size) bits", key: key, from: authority)
            let name = "\(type == kSecAttrKeyTypeRSA ? "RSA" : "a curve") of \(size) bits"
            for version in [TLSVersion.tlsv13, .tlsv12] { try await talk(name, credentials, credentials, version) }
            guard type == kSecAttrKeyTypeRSA else { continue }
            // The one handshake in which the server's key decrypts.
            try await talk(
                "\(name) and RSA key exchange", credentials, client, .tlsv12,
                ciphers: [.TLS_RSA_WITH_AES_128_GCM_SHA256])
        }
    }

    /// Runs a server for one connection.
    ///
    /// - Returns: What became of the client's side, and of the server's.
    private func visit(
        _ serving: TLSConfiguration, _ asking: TLSConfiguration, _ message: String
    ) async throws -> (Result<(reply: String, server: Peer), any Error>, Visit) {
        let server = try await EchoServer(serving)
        let (visits, continuation) = AsyncStream.makeStream(of: Visit.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { continuation.yield($0) } }
            defer { group.cancelAll() }
            let result: Result<(reply: String, server: Peer), any Error>
            do {
                result = .success(try await EchoClient.exchange(message, port: server.port, asking))
            } catch {
                result = .failure(error)
            }
            for await visit in visits { return (result, visit) }
            throw ExampleError("the server ended by itself")
        }
    }
}
