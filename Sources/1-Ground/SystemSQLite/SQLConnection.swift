import CSQLite

/// A connection to a database, used by one thread at a time.
///
/// Statements are prepared once and kept. Extended result codes are on, and a text in double quotes is an error.
package final class SQLConnection {
    /// What a connection may do.
    package enum Access: Sendable {
        case readOnly
        case readWrite
        /// Reading and writing. A file that is not there is made.
        case create
    }

    /// The connection for SQLite's own functions; nil once it is closed.
    package private(set) var handle: OpaquePointer?
    /// Interrupts what the connection does, from any thread.
    package let interrupter: SQLInterrupter
    private var kept: [(sql: String, statement: SQLStatement)] = []
    private let limit: Int

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: A file, `:memory:`, or a URI if `isURI`.
    ///   - vfs: The name of the file interface; nil for SQLite's default.
    ///   - keeping: The number of statements that are kept. Above it, the oldest one is prepared again when needed.
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
            // SQLite hands out a connection even when it fails, to ask for the reason and to be closed.
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
    /// - Throws: `SQLITE_BUSY` if somebody still holds a statement; the connection stays open.
    package func close() throws(SQLiteError) {
        kept = []
        // Takes the connection away from the interrupter first, and gives it back if it stays open.
        interrupter.set(nil)
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else {
            interrupter.set(handle)
            throw SQLiteError(code, on: handle)
        }
        handle = nil
    }

    /// Closes the connection. Statements that somebody still holds keep the file open until they are gone.
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

    /// Gives back the memory of pages that were read and can be read again.
    package func releaseMemory() {
        if let handle { sqlite3_db_release_memory(handle) }
    }

    /// Asks `handler` with the number of attempts so far while other connections keep the database busy; 0 gives up.
    package func setBusyHandler(_ handler: @escaping @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32) {
        if let handle { sqlite3_busy_handler(handle, handler, nil) }
    }

    // MARK: Statements

    /// Carries out all statements of `script`, without their rows. The first that fails ends it.
    package func execute(_ script: String) throws(SQLiteError) {
        let connection = try opened()
        let code = sqlite3_exec(connection, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
    }

    /// Returns a kept statement for `sql`, reset and without bindings, or prepares one and keeps it.
    ///
    /// The caller resets the statement after its last step. A statement that is being stepped through is not returned
    /// again: a search inside a search gets a statement of its own.
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

    /// A statement that nobody else has.
    package func prepare(_ sql: String) throws(SQLiteError) -> SQLStatement {
        try prepare(sql, isKept: false)
    }

    private func prepare(_ sql: String, isKept: Bool) throws(SQLiteError) -> SQLStatement {
        let connection = try opened()
        var pointer: OpaquePointer?
        // Statements that live long take less of SQLite's memory for short ones.
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(connection, sql, -1, flags, &pointer, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
        guard let pointer else { throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "there is no statement") }
        return SQLStatement(pointer)
    }

    /// Prepares the statements of `script` one by one. Each is prepared after `body` is done with the one before it, on
    /// which it may depend.
    package func forEachStatement(in script: String, _ body: (SQLStatement) throws -> Void) throws {
        let connection = try opened()
        try script.withCString { start in
            var place = start
            while place.pointee != 0 {
                var pointer: OpaquePointer?
                var rest: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(connection, place, -1, &pointer, &rest)
                guard code == SQLITE_OK else { throw SQLiteError(code, on: connection) }
                // A comment is no statement.
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

    /// Whether a transaction has begun and not ended.
    package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Runs `body` in a transaction that has the right to write from its start. It is committed when `body` returns, and
    /// undone when it throws.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        // One that could not be undone must not take in what comes now.
        if isInTransaction { try end("ROLLBACK") }
        try end("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try requireTransaction()
            try end("COMMIT")
            return result
        } catch {
            // After some errors, such as a full disk, SQLite has undone it already. The first error says why.
            if isInTransaction { try? end("ROLLBACK") }
            throw error
        }
    }

    /// Makes sure that SQLite has not undone the transaction, as it does after some errors: what is written afterwards
    /// would be committed by itself.
    package func requireTransaction() throws(SQLiteError) {
        guard isInTransaction else {
            throw SQLiteError(extendedCode: SQLITE_ABORT, message: "the transaction was undone")
        }
    }

    private func end(_ sql: String) throws(SQLiteError) {
        let statement = try statement(sql)
        try statement.run()
    }
}
