import AsyncHTTPClient
import Foundation
import KeychainServices
import KeychainTLS
import KeychainX509
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SwiftASN1
import Testing
import X509

/// An authority with an intermediate one, and the keys and certificates that they give to others. All of it is in the
/// current keychain.
struct Authority {
    let root: Certificate
    private let intermediate: Certificate
    private let key: CertificateKey

    init() async throws {
        let rootKey = try CertificateKey(KeychainPrivateKey(Self.key(.init(named: "root"))))
        root = try await Self.certificate("root", for: rootKey, from: "root", signing: rootKey, isAuthority: true)
        key = try CertificateKey(KeychainPrivateKey(Self.key(.init(named: "intermediate"))))
        intermediate = try await Self.certificate(
            "intermediate", for: key, from: "root", signing: rootKey, isAuthority: true)
        try Self.store(root, label: "root")
        try Self.store(intermediate, label: "intermediate")
    }

    /// What distinguishes a new key.
    struct KeyForm: CustomTestStringConvertible {
        var name = ""
        var type = kSecAttrKeyTypeECSECPrimeRandom as String
        var size = 256
        var isInEnclave = false

        init(named name: String = "", type: CFString = kSecAttrKeyTypeECSECPrimeRandom, size: Int = 256) {
            (self.name, self.type, self.size) = (name, type as String, size)
        }

        static var enclave: KeyForm {
            var form = KeyForm()
            form.isInEnclave = true
            return form
        }

        var testDescription: String { isInEnclave ? "enclave" : "\(type) of \(size) bits" }
    }

    /// Makes a key and a certificate for it, and stores both in the keychain.
    ///
    /// - Parameter age: For how many seconds the certificate has been valid.
    func issue(_ form: KeyForm, label: String, age: TimeInterval = 60) async throws {
        var form = form
        form.name = label
        let own = try CertificateKey(KeychainPrivateKey(Self.key(form)))
        try Self.store(
            await Self.certificate(label, for: own, from: "intermediate", signing: key, isAuthority: false, age: age),
            label: label)
    }

    private static func key(_ form: KeyForm) throws -> SecKey {
        var parameters: [CFString: Any] = [
            kSecAttrKeyType: form.type, kSecAttrKeySizeInBits: form.size,
            kSecPrivateKeyAttrs: [
                kSecAttrIsPermanent: true, kSecAttrLabel: form.name, kSecAttrApplicationTag: Data(form.name.utf8),
            ] as [CFString: Any],
        ]
        if form.isInEnclave { parameters[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave }
        var failure: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &failure) else {
            throw failure?.takeRetainedValue() as (any Error)? ?? KeychainKeyError("no key")
        }
        return key
    }

    private static func certificate(
        _ name: String, for key: CertificateKey, from issuer: String, signing: CertificateKey, isAuthority: Bool,
        age: TimeInterval = 3600
    ) async throws -> Certificate {
        try await Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: Date() - age,
            notValidAfter: Date() + 86_400, issuer: try DistinguishedName { CommonName(issuer) },
            subject: try DistinguishedName { CommonName(name) },
            signatureAlgorithm: signing.defaultSignatureAlgorithm,
            extensions: try Certificate.Extensions {
                if isAuthority {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(KeyUsage(keyCertSign: true))
                } else {
                    Critical(BasicConstraints.notCertificateAuthority)
                    SubjectAlternativeNames([.dnsName("localhost")])
                    try ExtendedKeyUsage([.serverAuth, .clientAuth])
                }
            },
            issuerAsyncPrivateKey: .init(signing))
    }

    private static func store(_ certificate: Certificate, label: String) throws {
        guard let reference = SecCertificateCreateWithData(nil, Data(try certificate.der) as CFData) else {
            throw KeychainKeyError("no certificate")
        }
        let item: [CFString: Any] = [kSecValueRef: reference, kSecAttrLabel: label]
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else { throw KeychainKeyError("The certificate is not stored: \(status)") }
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
}

/// Serves HTTP over TLS at a port of the loopback interface while `body` runs. The answer to each request is the common
/// name of the client's certificate, or nothing.
func withServer<R>(_ context: NIOSSLContext, _ body: (_ port: Int) async throws -> R) async throws -> R {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                try channel.pipeline.syncOperations.addHandler(NameOfClient())
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let port = server.localAddress?.port ?? 0
    do {
        let result = try await body(port)
        try await server.close()
        return result
    } catch {
        try? await server.close()
        throw error
    }
}

private final class NameOfClient: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let certificate = try? context.channel.pipeline.syncOperations.nioSSL_peerCertificate()
        let subject = certificate.flatMap { try? Certificate(derEncoded: $0.toDERBytes()).subject }
        let name = ByteBuffer(string: subject.map { "\($0)" } ?? "")
        context.write(
            wrapOutboundOut(
                .head(
                    .init(
                        version: .http1_1, status: .ok,
                        headers: [
                            "content-length": "\(name.readableBytes)"
                        ]))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(name))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// What a server on this port answers.
func answer(port: Int, _ configuration: HTTPClient.Configuration) async throws -> String {
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
        let response = try await client.execute(
            HTTPClientRequest(url: "https://localhost:\(port)/"), timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 1 << 20)
        try await client.shutdown()
        return String(buffer: body)
    } catch {
        try await client.shutdown()
        throw error
    }
}
