#if HTTPClientSupport
import Broker
import NIOCore
import NIOPosix
import Synchronization

/// Listens for a program's log-ins at the PostgreSQL server of one rule.
final class DatabaseListener: Sendable {
    let broker: RequestBroker
    /// Of the rule.
    let number: Int
    let destination: BrokerDestination
    let login: PostgresLogin
    /// By which queries of open sessions are ended.
    private let keys = Mutex<Set<[UInt8]>>([])

    typealias Connections = NIOAsyncChannel<Prelude.Handle, Never>

    private init(_ broker: RequestBroker, _ number: Int, _ destination: BrokerDestination, _ login: PostgresLogin) {
        (self.broker, self.number, self.destination, self.login) = (broker, number, destination, login)
    }

    /// One for each rule for PostgreSQL, in their order.
    static func all(of broker: RequestBroker) -> [DatabaseListener] {
        broker.secrets.rules.enumerated().compactMap { number, rule in
            guard let destination = rule.destinations.first, let login = destination.login else { return nil }
            return DatabaseListener(broker, number, destination, login)
        }
    }

    var rule: BrokerRule { broker.secrets.rules[number] }

    /// Listens for the program, and returns the port.
    func listen() async throws -> (connections: Connections, port: Int) {
        let channel = try await bootstrap().bind(host: "127.0.0.1", port: 0) { self.begin($0) }
        return (channel, channel.channel.localAddress?.port ?? 0)
    }

    /// Listens for the program at a socket that listens already.
    func listen(on socket: Int32) async throws -> Connections { try await bootstrap().bind(socket) { self.begin($0) } }

    private func bootstrap() -> ServerBootstrap {
        broker.bootstrap().childChannelOption(.socketOption(.so_keepalive), value: 1)
    }

    private func begin(_ channel: any Channel) -> EventLoopFuture<Prelude.Handle> {
        channel.eventLoop.makeCompletedFuture {
            try broker.take(channel)
            return try Prelude.add(to: channel)
        }
    }

    func serve(_ connections: Connections) async throws {
        try await connections.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { tasks in
                for try await program in connections {
                    tasks.addTask { await DatabaseLogin(self, program).run() }
                }
            }
        }
    }

    /// Notes the key of a session, until the program's connection ends.
    func note(_ key: [UInt8], of channel: any Channel) {
        _ = keys.withLock { $0.insert(key) }
        channel.closeFuture.whenComplete { [self] _ in _ = keys.withLock { $0.remove(key) } }
    }

    func isKnown(_ key: [UInt8]) -> Bool { keys.withLock { $0.contains(key) } }
}
#endif
