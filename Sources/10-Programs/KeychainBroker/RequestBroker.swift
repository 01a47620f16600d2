#if HTTPClientSupport
import Access
import Broker
import Bytes
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Carries the requests of one program, and puts secrets into those that rules name.
final class RequestBroker: Sendable {
    let group: MultiThreadedEventLoopGroup
    let authority: RunAuthority
    let secrets: SecretsInUse
    let clients: ServerClients
    let addresses: ServerAddresses
    let strangers = Strangers()
    /// Nil if the program has a loopback interface of its own, where nobody else is.
    private let peers: PeerUsers?
    let link: BrokerLink
    private let others: BrokerSettings.Others
    private let pinned: BrokerDestination?
    private let tls: TLSConfiguration
    private let contexts = Mutex<[String: NIOSSLContext]>([:])
    /// `Proxy-Authorization`, as the program has to send it.
    let credentials: String
    let token: String

    init(_ start: BrokerStart, _ link: BrokerLink, on group: MultiThreadedEventLoopGroup) throws {
        self.group = group
        self.link = link
        authority = try RunAuthority()
        secrets = try SecretsInUse(start, link)
        (others, pinned) = (start.settings.others, start.settings.pinned)
        addresses = ServerAddresses(isForLogin: start.settings.pinned != nil)
        peers = start.settings.port == nil && start.settings.isProxy ? PeerUsers() : nil
        var tls = TLSConfiguration.makeClientConfiguration()
        // RFC 8996.
        tls.minimumTLSVersion = .tlsv12
        if !start.settings.authorities.isEmpty {
            guard let authorities = try? NIOSSLCertificate.fromPEMBytes(Array(start.settings.authorities.utf8)),
                !authorities.isEmpty
            else { throw UntrustedServer(reason: "the file with authorities has no certificates in PEM") }
            tls.additionalTrustRoots = [.certificates(authorities)]
        }
        clients = ServerClients(group, tls: tls)
        self.tls = tls
        var random = SystemRandomNumberGenerator()
        // 128 bits.
        let bytes = (0..<2).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        token = UnpaddedBase64.url.string(bytes)
        credentials = "Basic " + Data("keychain:\(token)".utf8).base64EncodedString()
    }

    /// Whether the request is of the program that this process serves.
    func isAuthentic(_ head: HTTPRequestHead) -> Bool {
        let given = head.headers["proxy-authorization"]
        guard given.count == 1, let given = given.first, given.utf8.count == credentials.utf8.count else {
            return false
        }
        // The name of the scheme may be in any case.
        return given.lowercased().hasPrefix("basic ")
            && isEqualInConstantTime(Data(given.dropFirst(6).utf8), Data(credentials.dropFirst(6).utf8))
    }

    /// What is done with a connection.
    enum Plan {
        case inspect
        case tunnel
        case refuse(String)
    }

    func plan(_ host: String, _ port: Int) -> Plan {
        if isOfRule(host, port) { return .inspect }
        return switch others {
        case .inspect: .inspect
        case .tunnel: .tunnel
        case .refuse: .refuse("no rule names \(host), port \(port), and this run reaches no other server")
        }
    }

    /// Whether a rule names the server, so that it may know a secret.
    func isOfRule(_ host: String, _ port: Int) -> Bool { destination(host, port) != nil }

    private func destination(_ host: String, _ port: Int) -> BrokerDestination? {
        secrets.rules.lazy.flatMap(\.destinations).first {
            $0.login == nil && $0.port == port && $0.isHost(host)
        }
    }

    /// The address to dial.
    ///
    /// - Throws: ``ServerAddresses/Refusal``.
    func address(_ host: String, _ port: Int) async throws -> String {
        let known = (pinned.map { [$0] } ?? []) + secrets.rules.flatMap(\.destinations)
        let address = known.first {
            $0.login == nil && $0.port == port && $0.isHost(host) && $0.address != nil
        }?.address
        if let address { return address }
        return try await addresses.address(of: host)
    }

    func record(_ record: BrokeredRequest) async { await link.send(.record(record)) }

    /// How the certificate of a server is verified to which connections are made here: as those of other servers. It
    /// reads all authorities of the system, so it is made once.
    ///
    /// - Parameter name: Of the protocol, at IANA (RFC 7301). A server of another one does not take the connection.
    func tls(for name: String) throws -> NIOSSLContext {
        try contexts.withLock { contexts in
            if let known = contexts[name] { return known }
            var tls = tls
            tls.applicationProtocols = [name]
            let made = try NIOSSLContext(configuration: tls)
            contexts[name] = made
            return made
        }
    }

    // MARK: Connections

    /// Listens for the program, and returns the port.
    func listen() async throws -> (channel: Listener, port: Int) {
        let channel = try await bootstrap().bind(host: "127.0.0.1", port: 0) { self.begin($0) }
        return (channel, channel.channel.localAddress?.port ?? 0)
    }

    /// Listens for the program at a socket that listens already.
    func listen(on socket: Int32) async throws -> Listener {
        try await bootstrap().bind(socket) { self.begin($0) }
    }

    typealias Listener = NIOAsyncChannel<EventLoopFuture<ProxyConnection>, Never>

    func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelInitializer { channel in
                // Without a free descriptor, the program waits for its next connection.
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
    }

    /// Another user of this machine made the connection.
    private struct OtherUser: Error {}

    /// Takes a connection that has not shown yet whose it is.
    ///
    /// - Throws: If another user made it. The connection is closed then.
    func take(_ channel: any Channel) throws {
        guard peers?.isOther(channel) != true else {
            channel.close(promise: nil)
            throw OtherUser()
        }
        strangers.add(channel)
    }

    /// Waits for a connection's first request.
    private func begin(_ channel: any Channel) -> EventLoopFuture<EventLoopFuture<ProxyConnection>> {
        channel.eventLoop.makeCompletedFuture {
            try take(channel)
            let outcome = channel.eventLoop.makePromise(of: ProxyConnection.self)
            let below = ProxyHandshake.Below()
            let operations = channel.pipeline.syncOperations
            try operations.addHandlers(
                below.encoder, below.decoder, below.errors, ProxyHandshake(self, below: below, outcome: outcome))
            return outcome.futureResult
        }
    }

    func serve(_ listener: Listener) async throws {
        try await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { tasks in
                for try await connection in connections {
                    tasks.addTask { await self.serve(connection) }
                }
            }
        }
    }

    private func serve(_ connection: EventLoopFuture<ProxyConnection>) async {
        switch try? await connection.get() {
        case .clear(let requests): await ProgramRequests(self, server: nil).serve(requests)
        case .secure(let requests, let host, let port):
            await ProgramRequests(self, server: (host, port)).serve(requests)
        case .tunnel(let host, let port, let handshake): await tunnel(host, port, handshake)
        case .refused(let host, let port, let reason, let handshake):
            await record(BrokeredRequest(.refused, host: host, port: port, reason: reason))
            handshake?.refuse(.forbidden, reason)
        case .closed, nil: break
        }
    }

    private func tunnel(_ host: String, _ port: Int, _ handshake: ProxyHandshake.Handle) async {
        do {
            let address = try await address(host, port)
            let server = try await ClientBootstrap(group: handshake.channel.eventLoop)
                .connectTimeout(.seconds(15))
                // Nothing is read before there is somebody to pass it to.
                .channelOption(.autoRead, value: false)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .connect(host: address, port: port).get()
            try await handshake.join(server).get()
            await record(BrokeredRequest(.passed, host: host, port: port))
        } catch {
            let reason = (error as? ServerAddresses.Refusal)?.reason ?? "\(error)"
            await record(
                BrokeredRequest(
                    error is ServerAddresses.Refusal ? .refused : .failed, host: host, port: port, reason: reason))
            handshake.refuse(.badGateway, reason)
        }
    }
}

/// Connections that have not shown the password yet. Other users of the machine can make them, too.
final class Strangers: Sendable {
    private let channels = Mutex<[(id: ObjectIdentifier, channel: any Channel)]>([])
    /// When there are more, the oldest goes: the program shows the password at once.
    private static let most = 256
    private static let patience = TimeAmount.seconds(10)

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let oldest = channels.withLock { channels in
            channels.append((id, channel))
            return channels.count > Self.most ? channels.removeFirst().channel : nil
        }
        oldest?.close(promise: nil)
        let timer = channel.eventLoop.scheduleTask(in: Self.patience) { [self] in
            if remove(channel) { channel.close(promise: nil) }
        }
        channel.closeFuture.whenComplete { [self] _ in
            timer.cancel()
            remove(channel)
        }
    }

    /// - Returns: Whether it was one of them.
    @discardableResult func remove(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        return channels.withLock { channels in
            guard let index = channels.firstIndex(where: { $0.id == id }) else { return false }
            channels.remove(at: index)
            return true
        }
    }
}
#endif
