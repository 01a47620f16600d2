import Access
import FoundationEssentials
import Synchronization
import VaultInterface

/// The observers in this process of its own changes, which they learn of at once.
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

/// The changes that a daemon tells of.
enum RemoteChanges {
    /// Returns the changes that the daemon and this process make.
    ///
    /// The daemon does not know which of its clients made a change. So each is reported as another's, and one of this
    /// process is reported a second time.
    static func stream(
        from pool: ConnectionPool, as client: Client, _ local: LocalChanges
    ) -> AsyncStream<VaultChange> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let key = local.add(continuation)
            let tell = { @Sendable () in _ = continuation.yield(VaultChange(origin: .anotherProcess)) }
            let subscription = RemoteSubscription(
                to: .changes, from: pool, as: client,
                .init(
                    receive: { connection in
                        try connection.waitForChange()
                        tell()
                    }, resumed: tell, ended: { continuation.finish() }))
            continuation.onTermination = { _ in
                local.remove(key)
                subscription.end()
            }
        }
    }
}

/// The notifications of a daemon about its lock.
enum RemoteLockEvents {
    static func stream(from pool: ConnectionPool, as client: Client) -> AsyncStream<LockEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(8)) { continuation in
            let last = Mutex<LockEvent?>(nil)
            // A new connection begins with how it is now, which may have been told.
            let tell = { @Sendable (event: LockEvent) in
                let isNew = last.withLock { last in
                    guard event != last, event != .willLock || last == .unlocked else { return false }
                    last = event
                    return true
                }
                if isNew { continuation.yield(event) }
            }
            let subscription = RemoteSubscription(
                to: .lockEvents, from: pool, as: client,
                .init(
                    receive: { tell(try $0.waitForLockEvent()) }, lost: { tell(.locked) },
                    ended: { continuation.finish() }))
            continuation.onTermination = { _ in subscription.end() }
        }
    }

    /// Calls `tell` on its own thread, at least once for each lock. Two calls in a row mean that an unlock was missed.
    static func observeLocking(
        of pool: ConnectionPool, as client: Client, _ tell: @escaping @Sendable () -> Void
    ) -> RemoteSubscription {
        RemoteSubscription(
            to: .lockEvents, from: pool, as: client,
            .init(
                receive: { if try $0.waitForLockEvent() == .locked { tell() } },
                // Its keys are gone with it, and nobody would tell of a lock.
                lost: tell, ended: tell))
    }
}
