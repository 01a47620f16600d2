import Dispatch
import Synchronization

/// Connections for reading, so that several searches and a write can run at the same time.
final class ReaderPool: Sendable {
    private let open: @Sendable () throws -> ReadConnection
    private let idle = Mutex<[ReadConnection]>([])
    private let places: DispatchSemaphore

    /// Makes a pool of at most `limit` connections, which `open` makes when they are needed.
    init(limit: Int, open: @escaping @Sendable () throws -> ReadConnection) {
        self.open = open
        places = DispatchSemaphore(value: limit)
    }

    /// Lends a connection to `body`. Waits while all are in use; every read ends.
    func read<Result>(_ body: (ReadConnection) throws -> Result) throws -> Result {
        places.wait()
        defer { places.signal() }
        let connection = try idle.withLock { $0.popLast() } ?? open()
        defer { idle.withLock { $0.append(connection) } }
        return try body(connection)
    }

    func close() {
        // A connection closes with its last reference: an idle one now, and one in use when it is returned.
        let resting = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(resting) {}
    }
}
