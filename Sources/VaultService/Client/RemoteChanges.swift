import Access
import Foundation
import Glibc
import Synchronization
import VaultInterface

/// Tells the observers in this process of its own changes at once.
final class LocalChanges: Sendable {
    private let observers = Mutex<[UUID: AsyncStream<VaultChange>.Continuation]>([:])

    func changed() {
        for observer in observers.withLock({ Array($0.values) }) {
            observer.yield(VaultChange(origin: .thisProcess))
        }
    }

    func add(_ observer: AsyncStream<VaultChange>.Continuation) -> UUID {
        let key = UUID()
        observers.withLock { $0[key] = observer }
        return key
    }

    func remove(_ key: UUID) {
        observers.withLock { $0[key] = nil }
    }
}

/// Follows the changes that a daemon tells of, on a thread and a connection of their own.
final class RemoteChanges: Sendable {
    private let pool: ConnectionPool
    private let client: Client
    private let observer: AsyncStream<VaultChange>.Continuation
    private struct State {
        var connection: ClientConnection?
        var isEnded = false
    }
    private let state = Mutex(State())

    /// The daemon does not know which of its clients made a change, so each is reported as another's; one of this
    /// process is reported a second time.
    static func stream(
        from pool: ConnectionPool, as client: Client, _ local: LocalChanges
    ) -> AsyncStream<VaultChange> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let changes = RemoteChanges(pool, client, continuation)
            let key = local.add(continuation)
            continuation.onTermination = { _ in
                local.remove(key)
                changes.end()
            }
            // What happens after this call returns must be told of.
            changes.subscribe()
            if !ConnectionThread.start({ changes.follow() }) { continuation.finish() }
        }
    }

    private init(_ pool: ConnectionPool, _ client: Client, _ observer: AsyncStream<VaultChange>.Continuation) {
        self.pool = pool
        self.client = client
        self.observer = observer
    }

    private func subscribe() {
        guard let connection = try? pool.connect(),
            (try? connection.perform(
                WireCall(.changes, claim: client, canAsk: false), prompt: nil)) != nil
        else { return }
        state.withLock { state in
            if state.isEnded { connection.end() } else { state.connection = connection }
        }
    }

    private func follow() {
        while true {
            let (connection, isEnded) = state.withLock { ($0.connection, $0.isEnded) }
            if isEnded { return }
            if let connection {
                while (try? connection.waitForChange()) != nil {
                    observer.yield(VaultChange(origin: .anotherProcess))
                }
                state.withLock { $0.connection = nil }
            } else {
                usleep(500_000)
                subscribe()
                // Something may have happened while nobody told.
                if state.withLock({ $0.connection != nil }) { observer.yield(VaultChange(origin: .anotherProcess)) }
            }
        }
    }

    private func end() {
        state.withLock { state in
            state.isEnded = true
            state.connection?.end()
        }
    }
}
