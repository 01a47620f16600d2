import SystemSQLite

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
    init(path: String, settings: String, wait: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32)
        throws
    {
        database = try SQLConnection(path, .readOnly, keeping: Self.limit)
        database.setBusyHandler(wait)
        try database.execute(settings)
    }
}
