import AsyncHTTPClient
import Foundation
import KeychainHTTP
import KeychainServices
import KeychainTLS
import KeychainTesting
import NIOSSL
import Testing

@Suite(.timeLimit(.minutes(5))) struct KeychainTLSTests {
    /// A client that trusts the root, which is in no system's list.
    private static func client(trusting authority: Authority) throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.trustRoots = .certificates([
            try NIOSSLCertificate(bytes: authority.root.der, format: .der)
        ])
        return configuration
    }

    /// The client trusts the root alone: the server has to show the intermediate certificate too.
    @Test(
        arguments: [
            Authority.KeyForm.enclave, .init(size: 256), .init(size: 384), .init(type: kSecAttrKeyTypeRSA, size: 2048),
        ], [TLSVersion.tlsv12, .tlsv13])
    func aServerShowsTheWholePath(_ form: Authority.KeyForm, _ version: TLSVersion) async throws {
        try await withTestKeychain { _ in
            let authority = try await Authority()
            try await authority.issue(form, label: "server")
            let identity = try KeychainIdentity(label: "server")
            let names = identity.certificates.map { SecCertificateCopySubjectSummary($0) as String? }
            #expect(names == ["server", "intermediate"])
            var server = try TLSConfiguration.makeServerConfiguration(identity: identity)
            server.maximumTLSVersion = version
            let configuration = try Self.client(trusting: authority)
            let context = try NIOSSLContext(configuration: server)
            #expect(try await withServer(context) { try await answer(port: $0, configuration) } == "")
        }
    }

    /// The authority has new keys and its old names, and so has the server.
    @Test func afterARenewalTheNewPathIsShown() async throws {
        try await withTestKeychain { _ in
            let former = try await Authority()
            try await former.issue(.enclave, label: "server", age: 3000)
            let authority = try await Authority()
            try await authority.issue(.enclave, label: "server")
            let context = try NIOSSLContext(
                configuration: .makeServerConfiguration(identity: KeychainIdentity(label: "server")))
            let (new, old) = (try Self.client(trusting: authority), try Self.client(trusting: former))
            try await withServer(context) { port in
                let answered = try await answer(port: port, new)
                #expect(answered == "")
                _ = await #expect(throws: (any Error).self) { try await answer(port: port, old) }
            }
        }
    }

    @Test func aLockedVaultFailsTheHandshakeAndNoMore() async throws {
        try await withTestKeychain { world in
            let authority = try await Authority()
            try await authority.issue(.enclave, label: "server")
            let context = try NIOSSLContext(
                configuration: .makeServerConfiguration(identity: KeychainIdentity(label: "server")))
            let configuration = try Self.client(trusting: authority)
            try await withServer(context) { port in
                world.lock()
                _ = await #expect(throws: (any Error).self) { try await answer(port: port, configuration) }
                let error = #expect(throws: KeychainKeyError.self) { try KeychainIdentity(label: "server") }
                #expect(error?.status == errSecInteractionNotAllowed)
                world.unlock()
                let answered = try await answer(port: port, configuration)
                #expect(answered == "")
            }
        }
    }

    @Test func whatIsNotThereIsSaid() throws {
        try withTestKeychain { _ in
            let error = #expect(throws: KeychainKeyError.self) { try KeychainIdentity(label: "nobody") }
            #expect(error?.status == errSecItemNotFound)
            #expect(error?.description.contains("'nobody'") == true)
        }
    }

    @Test func keysThatTLSCannotUseAreRefused() throws {
        try withTestKeychain { _ in
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            ]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let error = #expect(throws: KeychainKeyError.self) { try KeychainPrivateKey(publicKey) }
            #expect(error?.status == errSecParam)
        }
    }
}
