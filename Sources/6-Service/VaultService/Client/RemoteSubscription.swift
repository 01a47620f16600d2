import Access
import CLibrary
import Connections
import Synchronization
import VaultInterface

/// A subscription to a daemon's notifications, with a thread and a connection of its own.
final class RemoteSubscription: Sendable {
    /// The functions that get the notifications.
    struct Listener: Sendable {
        /// Waits for the next thing that is told on the connection, and passes it on.
        var receive: @Sendable (ClientConnection) throws -> Void
        /// The connection is gone, and there is no other yet.
        var lost: @Sendable () -> Void = {}
        /// There is one again, and something may have happened while nobody told.
        var resumed: @Sendable () -> Void = {}
        /// There will be nothing more.
        var ended: @Sendable () -> Void
    }

    private let pool: ConnectionPool
    private let subscription: VaultSubscription
    private let client: Client
    private let listener: Listener
    private struct State {
        var connection: ClientConnection?
        var isEnded = false
    }
    private let state = Mutex(State())

    /// What happens after this returns is told of.
    init(to subscription: VaultSubscription, from pool: ConnectionPool, as client: Client, _ listener: Listener) {
        self.pool = pool
        self.subscription = subscription
        self.client = client
        self.listener = listener
        subscribe()
        if !ConnectionThread.start({ self.follow() }) { listener.ended() }
    }

    private func subscribe() {
        guard let connection = try? pool.connect() else { return }
        do throws(ClientConnection.Failure) {
            try connection.subscribe(to: subscription, as: client)
        } catch {
            // A daemon of an earlier release will not learn it.
            guard case .refused(.invalidRequest) = error else { return }
            state.withLock { $0.isEnded = true }
            return listener.ended()
        }
        state.withLock { state in
            if state.isEnded { connection.end() } else { state.connection = connection }
        }
    }

    private func follow() {
        var isLost = false
        while true {
            let (connection, isEnded) = state.withLock { ($0.connection, $0.isEnded) }
            if isEnded { return }
            if let connection {
                while (try? listener.receive(connection)) != nil {}
                state.withLock { $0.connection = nil }
                isLost = false
            } else {
                usleep(isLost ? 500_000 : 50_000)
                subscribe()
                let hasConnection = state.withLock { $0.connection != nil }
                if hasConnection { listener.resumed() } else if !isLost { listener.lost() }
                isLost = !hasConnection
            }
        }
    }

    func end() {
        state.withLock { state in
            state.isEnded = true
            state.connection?.end()
        }
    }
}
