import Dispatch
import Synchronization

/// Connections for reading, so that searches run side by side with each other and with a write.
final class ReaderPool: Sendable {
    private let open: @Sendable () throws -> ReadConnection
    private let idle = Mutex<[ReadConnection]>([])
    private let places: DispatchSemaphore

    /// A pool of at most `limit` connections made by `open` when they are needed.
    init(limit: Int, open: @escaping @Sendable () throws -> ReadConnection) {
        self.open = open
        places = DispatchSemaphore(value: limit)
    }

    /// Lends a connection to `body`; waits while all are lent, which ends because reads end.
    func read<Result>(_ body: (ReadConnection) throws -> Result) throws -> Result {
        places.wait()
        defer { places.signal() }
        let connection = try idle.withLock { $0.popLast() } ?? open()
        defer { idle.withLock { $0.append(connection) } }
        return try body(connection)
    }

    func close() {
        // A connection closes with its last reference: those at rest now, and one that is lent when it is given back.
        let resting = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(resting) {}
    }
}
