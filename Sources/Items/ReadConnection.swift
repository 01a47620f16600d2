import GRDB
import GRDBSQLite

/// A connection that only reads, made through SQLite's own interface.
///
/// GRDB prepares each connection for observing and tracing it, for functions and collations of its own;
/// that is a fifth of all that a program does which reads one item and ends.
// Safe to share between threads: ``ReaderPool`` takes a connection out of its list, under its lock, before it is used or
// closed, so that one thread at a time has it, and the lock orders what they do; SQLite's connections may move between
// threads like that (`SQLITE_OPEN_NOMUTEX`, sqlite.org/threadsafe.html, "multi-thread").
final class ReadConnection: StatementSource, @unchecked Sendable {
    private var connection: SQLiteConnection?
    private var kept: [(sql: String, statement: OwnedStatement)] = []

    /// Enough for every statement of the store; what is beyond is prepared again.
    private static let limit = 16

    /// - Parameters:
    ///   - settings: Statements run once, such as pragmas.
    ///   - wait: Asked with the number of attempts so far while others keep the database busy; false gives up.
    init(path: String, settings: String, wait: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32)
        throws
    {
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // SQLite hands out a connection even when it fails, to ask for the reason and to be closed.
        let opened = sqlite3_open_v2(path, &connection, flags, nil)
        guard opened == SQLITE_OK else { throw closing(after: opened) }
        sqlite3_busy_handler(connection, wait, nil)
        let set = sqlite3_exec(connection, settings, nil, nil, nil)
        guard set == SQLITE_OK else { throw closing(after: set) }
    }

    deinit { close() }

    var sqliteConnection: SQLiteConnection? { connection }

    /// Closes the file; statements still held by somebody keep it open until they are gone.
    func close() {
        kept = []
        sqlite3_close_v2(connection)
        connection = nil
    }

    func keptStatement(_ sql: String) throws -> PreparedStatement {
        if let statement = kept.first(where: { $0.sql == sql })?.statement {
            return PreparedStatement(owner: statement, pointer: statement.pointer)
        }
        let statement = try OwnedStatement(sql, on: connection)
        if kept.count == Self.limit { kept.removeFirst() }
        kept.append((sql, statement))
        return PreparedStatement(owner: statement, pointer: statement.pointer)
    }

    func freshStatement(_ sql: String) throws -> PreparedStatement {
        let statement = try OwnedStatement(sql, on: connection)
        return PreparedStatement(owner: statement, pointer: statement.pointer)
    }

    private func closing(after code: Int32) -> DatabaseError {
        let failure = DatabaseError(code, on: connection)
        close()
        return failure
    }
}

/// A statement that ends with its last reference.
private final class OwnedStatement {
    let pointer: SQLiteStatement

    init(_ sql: String, on connection: SQLiteConnection?) throws {
        var pointer: SQLiteStatement?
        // Kept statements live long, which SQLite likes to know.
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else { throw DatabaseError(code, on: connection) }
        self.pointer = pointer
    }

    deinit { sqlite3_finalize(pointer) }
}
