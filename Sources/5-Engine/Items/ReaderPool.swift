import CLibrary
import Dispatch
import SystemSQLite

/// Connections for reading, so that several searches and a write can run at the same time.
final class ReaderPool: Sendable {
    private let open: @Sendable () throws -> ReadConnection
    private let idle = UnfairMutex<[ReadConnection]>([])
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

/// A connection that only reads.
// Safe to share between threads: ``ReaderPool`` takes a connection from its list under its lock before each use, so
// only one thread at a time has it, and the lock orders their uses. SQLite's connections may move between threads in
// this way (`SQLITE_OPEN_NOMUTEX`, sqlite.org/threadsafe.html, "multi-thread").
final class ReadConnection: @unchecked Sendable {
    let database: SQLConnection

    /// Enough for all statements that read.
    private static let limit = 16

    /// - Parameters:
    ///   - settings: Statements that run once, such as pragmas.
    ///   - wait: Called with the number of attempts so far while other connections keep the database busy; 0 ends the
    ///     waiting.
    init(
        _ file: StoreFile, settings: String,
        wait: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32
    ) throws {
        database = try file.connect(.readOnly, keeping: Self.limit)
        database.setBusyHandler(wait)
        try database.distrustSchema()
        try database.execute(settings)
    }
}
