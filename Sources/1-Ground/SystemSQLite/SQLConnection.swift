import Bytes
import CSQLite

/// A connection to a database, used by one thread at a time.
///
/// Prepares each statement once and keeps it. Extended result codes are on. A text in double quotes is an error.
package final class SQLConnection {
    /// What a connection may do.
    package enum Access: Sendable {
        case readOnly
        case readWrite
        /// Reads and writes. Creates the file if it does not exist.
        case create
    }

    /// The connection for SQLite's own functions; nil after closing.
    package private(set) var handle: OpaquePointer?
    /// Interrupts the statements of this connection, from any thread.
    package let interrupter: SQLInterrupter
    private var kept: [(sql: String, statement: SQLStatement)] = []
    private let limit: Int

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: A file, `:memory:`, or a URI if `isURI`.
    ///   - vfs: The name of the VFS; nil for SQLite's default.
    ///   - keeping: The number of statements to keep. Beyond it, the oldest one is prepared again when it is needed.
    package init(
        _ path: String, _ access: Access, isURI: Bool = false, vfs: String? = nil, keeping limit: Int = 32
    ) throws(SQLiteError) {
        let right =
            switch access {
            case .readOnly: SQLITE_OPEN_READONLY
            case .readWrite: SQLITE_OPEN_READWRITE
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        let flags = right | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (isURI ? SQLITE_OPEN_URI : 0)
        var opened: OpaquePointer?
        var code = sqlite3_open_v2(path, &opened, flags, vfs)
        if code == SQLITE_OK { code = csqlite_refuse_double_quoted_text(opened) }
        guard code == SQLITE_OK else {
            // SQLite returns a connection even after a failure: the caller asks it for the reason and closes it.
            let failure = SQLiteError(code, on: opened)
            sqlite3_close_v2(opened)
            throw failure
        }
        handle = opened
        interrupter = SQLInterrupter(opened)
        self.limit = limit
    }

    deinit { end() }

    /// Closes the connection, which cannot be used afterwards.
    ///
    /// - Throws: `SQLITE_BUSY` if a statement is still in use. The connection then stays open.
    package func close() throws(SQLiteError) {
        kept = []
        // Takes the connection from the interrupter first. Gives it back if the connection stays open.
        interrupter.set(nil)
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else {
            interrupter.set(handle)
            throw SQLiteError(code, on: handle)
        }
        handle = nil
    }

    /// Closes the connection. A statement that is still in use keeps the file open until the statement ends.
    private func end() {
        kept = []
        interrupter.set(nil)
        sqlite3_close_v2(handle)
        handle = nil
    }

    // MARK: Settings

    /// Waits for other connections up to `milliseconds` before a call fails with `SQLITE_BUSY`.
    package func setBusyTimeout(milliseconds: Int32) {
        if let handle { sqlite3_busy_timeout(handle, milliseconds) }
    }

    /// Lets no trigger and no view of the file do anything, and nothing change the schema as text.
    package func distrustSchema() throws(SQLiteError) {
        let connection = try opened()
        let code = csqlite_distrust_schema(connection)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
    }

    /// Returns the first bytes of the file as it is without its log, and zeros for those after its end.
    ///
    /// Nothing else may open and close the file while the process has a connection: that would end the locks of all its
    /// connections.
    package func start(_ count: Int) throws(SQLiteError) -> [UInt8] {
        let connection = try opened()
        var bytes = [UInt8](repeating: 0, count: count)
        let code = csqlite_read_start(connection, &bytes, Int32(clamping: count))
        // SQLite fills up with zeros.
        guard code == SQLITE_OK || code == SQLITE_IOERR | 2 << 8 else { throw SQLiteError(code, on: connection) }
        return bytes
    }

    /// Frees the memory of cached pages that can be read again.
    package func releaseMemory() {
        if let handle { sqlite3_db_release_memory(handle) }
    }

    /// Sets a handler for a busy database. SQLite calls it with the number of attempts so far; 0 ends the waiting.
    package func setBusyHandler(_ handler: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32) {
        if let handle { sqlite3_busy_handler(handle, handler, nil) }
    }

    // MARK: Statements

    /// Runs all statements of `script` without their rows. Stops at the first failure.
    package func execute(_ script: String) throws(SQLiteError) {
        let connection = try opened()
        let code = sqlite3_exec(connection, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
    }

    /// Returns a kept statement for `sql`, reset and without bindings; or prepares one and keeps it.
    ///
    /// The caller resets the statement after its last step. A statement between its first and last step is not returned
    /// again: a search inside a search gets its own statement.
    package func statement(_ sql: String) throws(SQLiteError) -> SQLStatement {
        if let index = kept.firstIndex(where: { $0.sql == sql }) {
            let statement = kept[index].statement
            if statement.isBusy { return try prepare(sql) }
            statement.reset()
            statement.clearBindings()
            return statement
        }
        let statement = try prepare(sql, isKept: true)
        if kept.count == limit { kept.removeFirst() }
        kept.append((sql, statement))
        return statement
    }

    /// Returns a statement of the caller's own, which is not kept.
    package func prepare(_ sql: String) throws(SQLiteError) -> SQLStatement {
        try prepare(sql, isKept: false)
    }

    private func prepare(_ sql: String, isKept: Bool) throws(SQLiteError) -> SQLStatement {
        let connection = try opened()
        var pointer: OpaquePointer?
        // Tells SQLite that the statement lives long, so that it takes less of the memory for short-lived ones.
        let flags = isKept ? UInt32(truncatingIfNeeded: SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(connection, sql, -1, flags, &pointer, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
        guard let pointer else { throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is no statement") }
        return SQLStatement(pointer)
    }

    /// Runs `body` with each statement of `script`. Prepares a statement after `body` returns for the one before,
    /// because it may depend on that one.
    package func forEachStatement(in script: String, _ body: (SQLStatement) throws -> Void) throws {
        let connection = try opened()
        try script.withCString { start in
            var place = start
            while place.pointee != 0 {
                var pointer: OpaquePointer?
                var rest: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(connection, place, -1, &pointer, &rest)
                guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
                // SQLite returns nil for a comment.
                if let pointer { try body(SQLStatement(pointer)) }
                guard let rest else { return }
                place = rest
            }
        }
    }

    func opened() throws(SQLiteError) -> OpaquePointer {
        guard let handle else { throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "the connection is closed") }
        return handle
    }

    // MARK: Transactions

    /// Whether a transaction is open.
    package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Runs `body` in a transaction that may write from its start. Commits it when `body` returns, and rolls it back
    /// when `body` throws.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(begunBy: "BEGIN IMMEDIATE") {
            let result = try body()
            try requireTransaction()
            return result
        }
    }

    /// Runs `body`, which only reads, in a read transaction: all its statements see the same state, and SQLite takes
    /// its locks once.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(begunBy: "BEGIN", body)
    }

    private func transaction<Result>(begunBy begin: String, _ body: () throws -> Result) throws -> Result {
        // An earlier transaction whose rollback failed must not include the statements of this one.
        if isInTransaction { try run("ROLLBACK") }
        try run(begin)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // After some errors, such as a full disk, SQLite has already rolled back. The first error is the reason.
            if isInTransaction { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Throws if SQLite has rolled the transaction back, as it does after some errors. Otherwise each later statement
    /// would be committed on its own.
    package func requireTransaction() throws(SQLiteError) {
        guard isInTransaction else {
            throw SQLiteError(extendedCode: SQLITE_ABORT, message: "the transaction was undone")
        }
    }

    private func run(_ sql: String) throws(SQLiteError) {
        let statement = try statement(sql)
        try statement.run()
    }
}
