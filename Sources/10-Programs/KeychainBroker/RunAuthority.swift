#if HTTPClientSupport
import Broker
import Crypto
import Foundation
import NIOCore
import NIOSSL
import Synchronization

/// The certificate authority of one run, by which the program believes that the broker is the server it asked for.
///
/// Its keys are in the memory of this process alone, and end with it.
final class RunAuthority: Sendable {
    /// In PEM.
    let certificate: String

    private let issuer: NewCertificate.Issuer
    /// One key for all servers. It is in the same memory as the authority's key, so more keys would protect nothing.
    private let serverKey: P256.Signing.PublicKey
    private let serverKeyForm: NIOSSLPrivateKey
    private let contexts = Mutex<[String: NIOSSLContext]>([:])

    /// What the memory for contexts is limited to. A program that asks for more servers waits for new ones.
    private static let mostContexts = 1_000
    /// Clocks differ; and a run that is longer than a year is started again.
    private static let (before, after): (TimeInterval, TimeInterval) = (-3_600, 397 * 86_400)

    init() throws {
        // No two runs have the same name: a program that remembers an old one does not mix them up.
        let issuer = NewCertificate.Issuer(name: "keychain broker, run \(UUID().uuidString)")
        let serverKey = P256.Signing.PrivateKey()
        self.issuer = issuer
        self.serverKey = serverKey.publicKey
        serverKeyForm = try NIOSSLPrivateKey(bytes: Array(serverKey.derRepresentation), format: .der)
        let own = try NewCertificate(
            subject: issuer.name, key: issuer.key.publicKey, kind: .authority, from: Self.begin, to: Self.end)
        let lines = Data(try own.encoded(signedBy: issuer)).base64EncodedString(
            options: [.lineLength64Characters, .endLineWithLineFeed])
        certificate = "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }

    private static var begin: Date { Date().addingTimeInterval(before) }
    private static var end: Date { Date().addingTimeInterval(after) }

    /// What the broker shows to a program that asks for a server.
    ///
    /// - Parameter host: A name or an IP address.
    func context(for host: String) throws -> NIOSSLContext {
        if let known = contexts.withLock({ $0[host] }) { return known }
        let address = try? SocketAddress(ipAddress: host, port: 0)
        let leaf = try NewCertificate(
            subject: String(host.prefix(64)), key: serverKey, kind: .server(host, address: address?.bytes),
            from: Self.begin, to: Self.end)
        let form = try NIOSSLCertificate(bytes: leaf.encoded(signedBy: issuer), format: .der)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(form)], privateKey: .privateKey(serverKeyForm))
        configuration.applicationProtocols = ["http/1.1"]
        let context = try NIOSSLContext(configuration: configuration)
        contexts.withLock { contexts in
            if contexts.count >= Self.mostContexts { contexts = [:] }
            contexts[host] = context
        }
        return context
    }
}

extension SocketAddress {
    /// The address in the order of the network; nil for one that is no IP address.
    fileprivate var bytes: [UInt8]? {
        switch self {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: nil
        }
    }
}
#endif
