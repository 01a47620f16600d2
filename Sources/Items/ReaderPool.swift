import Dispatch
import GRDB
import Synchronization

/// Connections for reading, so that searches run side by side with each other and with a write.
///
/// GRDB's own pool asks SQLite for the schema's version before each read, which costs as much as the
/// search; the schema of a store never changes while it is open.
final class ReaderPool: Sendable {
    private let open: @Sendable () throws -> DatabaseQueue
    private let idle = Mutex<[DatabaseQueue]>([])
    private let places: DispatchSemaphore

    /// A pool of at most `limit` connections made by `open` when they are needed.
    init(limit: Int, open: @escaping @Sendable () throws -> DatabaseQueue) {
        self.open = open
        places = DispatchSemaphore(value: limit)
    }

    /// Lends a connection to `body`; waits while all are lent, which ends because reads end.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        places.wait()
        defer { places.signal() }
        let connection = try idle.withLock { $0.popLast() } ?? open()
        defer { idle.withLock { $0.append(connection) } }
        return try connection.unsafeRead(body)
    }

    func close() throws {
        for connection in idle.withLock({ $0 }) { try connection.close() }
    }
}
