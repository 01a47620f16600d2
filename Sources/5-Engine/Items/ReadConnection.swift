import SystemSQLite

/// A connection that only reads.
// Safe to share between threads: ``ReaderPool`` takes a connection out of its list, under its lock, before it is used, so
// that one thread at a time has it, and the lock orders what they do; SQLite's connections may move between threads like
// that (`SQLITE_OPEN_NOMUTEX`, sqlite.org/threadsafe.html, "multi-thread").
final class ReadConnection: @unchecked Sendable {
    let database: SQLConnection

    /// Enough for every statement that reads.
    private static let limit = 16

    /// - Parameters:
    ///   - settings: Statements run once, such as pragmas.
    ///   - wait: Asked with the number of attempts so far while others keep the database busy; 0 gives up.
    init(path: String, settings: String, wait: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32)
        throws
    {
        database = try SQLConnection(path, .readOnly, keeping: Self.limit)
        database.setBusyHandler(wait)
        try database.execute(settings)
    }
}
