#if HTTPClientSupport
import ArgumentParser
import AsyncHTTPClient
import Bytes
import CLibrary
import CircleEtcd
import CommandKit
import Foundation
import KeychainDaemon
import KeychainHTTP
import KeychainTLS
import NIOCore
import NIOSSL
import ProcessVault
import StatusCodes
import Vault
import VaultInterface
import VaultService

/// The program: `keychain-sync`.
@main
enum Program {
    static func main() async {
        CommandProcess.prepare()
        ProcessVault.use(EmbeddedVault.self, orDaemonThrough: RemoteVault.self)
        do {
            let command = try SyncProgram.parse()
            try await command.carry()
            ProcessVault.close()
            exit(0)
        } catch {
            ProcessVault.close()
            guard let failure = Failure(reporting: error) else { SyncProgram.exit(withError: error) }
            exit(failure.report(asJSON: CommandLine.arguments.contains("--json")))
        }
    }
}

struct SyncProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychain-sync",
        abstract: "Have the items of a circle travel between this vault and etcd.",
        discussion: """
            The vaults of a circle that was made with `keychain circle create --etcd` meet in etcd. This program writes \
            this vault's changes to etcd and reads those of the others, as soon as they happen. It runs until a signal \
            ends it. It holds no key and reads no item. A daemon lets it in with the right `synchronize`.

            EXAMPLES:
              # All the time, with a certificate of the keychain
              keychain-sync --authority /etc/etcd/ca.pem --certificate sync.example.com

              # Once, with a user of etcd
              keychain-sync --once --user web --password-file /run/secrets/etcd
            """,
        version: DaemonProgram.version)

    @Option(
        help: ArgumentHelp(
            "A node of etcd, instead of those that the vault remembers; may be given several times.", valueName: "url"))
    var endpoint: [String] = []

    @Option(help: ArgumentHelp("The user of etcd.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "The file with the user's password; by default systemd's credential etcd-password.", valueName: "path"),
        completion: .file())
    var passwordFile: String?

    @Option(help: ArgumentHelp("The label of the certificate of the keychain to show to etcd.", valueName: "label"))
    var certificate: String?

    @Option(
        help: ArgumentHelp(
            "A file in PEM with the certificates of etcd's authority; by default those of the system.",
            valueName: "path"), completion: .file())
    var authority: String?

    @Option(
        help: ArgumentHelp(
            "Write figures for Prometheus into this file, after each change and every ten seconds.", valueName: "path"),
        completion: .file())
    var metrics: String?

    @Flag(help: "Write and read everything once, and end.")
    var once = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print what happens as JSON, one object on each line.")
    var json = false

    func carry() async throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if passcode.descriptor != nil { _ = try session.unlockIfPossible() }
        let http = HTTPClient(configuration: try configuration())
        let client = session.withoutUnlocking.client
        do {
            let gateway = EtcdGateway(try endpoints(session), user: try login(), over: http)
            try await carry(EtcdCarrier(session.vault, as: client, through: gateway), session)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    private func carry(_ carrier: EtcdCarrier, _ session: VaultSession) async throws {
        let log = SyncLog(asJSON: json)
        if once {
            do { try await carrier.synchronize() } catch {
                throw Failure(
                    status: (error as? VaultError)?.osStatus ?? errSecIO, EtcdCarrier.reason(error).escapedForTerminal)
            }
            let report = await carrier.report
            log.show(report)
            if report.standing == .removed { throw Failure(status: errSecParam, SyncLog.removed) }
            return
        }
        Systemd.notify("READY=1")
        let (reports, continuation) = AsyncStream.makeStream(
            of: EtcdCarrier.Report.self, bufferingPolicy: .bufferingNewest(1))
        await carrier.observe { continuation.yield($0) }
        let file = metrics.map { SyncMetrics(path: $0) }
        let showing = Task {
            for await report in reports {
                log.show(report)
                file?.write(report)
                // What comes quickly one after another is shown together.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        let measuring = Task {
            while file != nil, !Task.isCancelled {
                continuation.yield(await carrier.report)
                try? await Task.sleep(for: .seconds(10))
            }
        }
        defer {
            showing.cancel()
            measuring.cancel()
        }
        await carrier.run()
    }

    private func endpoints(_ session: VaultSession) throws -> [String] {
        if !endpoint.isEmpty { return try endpoint.map { try Self.checked($0, user: user) } }
        let state = try session.withoutUnlocking.perform(CollectCircleObjects(for: CollectCircleObjects.etcd, limit: 0))
        {
            (_: CircleObject) throws(VaultError) in
        }
        guard case .etcd(let endpoints)? = CircleLocation(state.location) else {
            throw Failure.usage(
                state.standing == .none
                    ? "this vault is in no circle: make one with `keychain circle create --etcd`, or join one"
                    : "this circle travels through a folder: `keychain circle sync --watch` does that")
        }
        return try endpoints.map { try Self.checked($0, user: user) }
    }

    /// A password goes over TLS, or not further than this machine.
    private static func checked(_ address: String, user: String?) throws -> String {
        guard let endpoint = CircleLocation.endpoint(address) else {
            throw Failure.usage("'\(address.escapedForTerminal)' is no address of etcd: name it as https://host:2379")
        }
        let host = URLComponents(string: endpoint)?.host ?? ""
        let isLocal = ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host)
        guard endpoint.hasPrefix("https://") || user == nil || isLocal else {
            throw Failure.usage("the password would go to \(endpoint) in clear text: use https")
        }
        return endpoint
    }

    private func login() throws -> EtcdGateway.User? {
        guard let user else { return nil }
        let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        guard let path = passwordFile ?? folder.map({ $0 + "/etcd-password" }) else {
            throw Failure.usage("name the file with the password of '\(user)': --password-file")
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure.input(path, "the password of etcd cannot be read from this file")
        }
        var password = String(decoding: bytes, as: UTF8.self)
        // "\r\n" is one character.
        if password.last?.isNewline == true { password.removeLast() }
        guard !password.isEmpty else { throw Failure.input(path, "the password of etcd in this file is empty") }
        return EtcdGateway.User(name: user, password: password)
    }

    private func configuration() throws -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        // RFC 8996.
        tls.minimumTLSVersion = .tlsv12
        if let authority {
            guard let certificates = try? NIOSSLCertificate.fromPEMFile(authority), !certificates.isEmpty else {
                throw Failure.input(authority, "this file has no certificates in PEM, or cannot be read")
            }
            tls.trustRoots = .certificates(certificates)
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        // A connection for the watch and one for calls: etcd starves a watch that shares a connection with large reads.
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(3)
        if let certificate {
            do { try configuration.show(KeychainIdentity(label: certificate)) } catch {
                throw Failure(
                    status: errSecItemNotFound, "the certificate '\(certificate)': \(error)".escapedForTerminal)
            }
        }
        return configuration
    }
}
#else
import CLibrary

/// Without the trait `HTTPClientSupport`, there is no client of HTTP to speak with etcd.
@main
enum Program {
    static func main() {
        let text = "keychain-sync: this program was built without the trait HTTPClientSupport\n"
        text.withCString { _ = write(2, $0, strlen($0)) }
        exit(69)
    }
}
#endif
