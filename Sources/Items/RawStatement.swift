import Foundation
import GRDB
import GRDBSQLite

/// A prepared statement stepped through SQLite's own interface.
///
/// The read path spends more time in the generic decoding of rows than in SQLite; here a column is read
/// once, without an intermediate, and its type is checked, because SQLite columns have no fixed type
/// and a changed file may hold anything anywhere.
struct RawStatement {
    /// Owns `statement`.
    private let owner: AnyObject
    private let statement: SQLiteStatement
    private let connection: SQLiteConnection

    /// The statement that `database` keeps, or one of its own while that one is being stepped through,
    /// as by a search inside a search; valid while `database` is.
    init(_ sql: String, in database: any StatementSource) throws {
        var prepared = try database.keptStatement(sql)
        if sqlite3_stmt_busy(prepared.pointer) != 0 { prepared = try database.freshStatement(sql) }
        owner = prepared.owner
        statement = prepared.pointer
        guard let connection = database.sqliteConnection else {
            throw StoreError.inputOutput(reason: "the connection is closed")
        }
        self.connection = connection
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }

    func bind(_ integer: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(statement, index, integer))
    }

    func bind(_ bytes: Data, at index: Int32) throws {
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        try check(
            bytes.withUnsafeBytes {
                sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), transient)
            })
    }

    /// Moves to the next row; false when there is none.
    func step() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        case let code:
            let failure = error(code)
            reset()
            throw failure
        }
    }

    /// Ends the reading, and with it the lock on the database.
    func reset() {
        sqlite3_reset(statement)
    }

    /// The integer in a column, or nil if it holds anything else.
    func integer(_ column: Int32) -> Int64? {
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement, column)
    }

    /// The text in a column, or nil if it holds anything else.
    func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
        return sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    /// A copy of the blob in a column, or nil if it holds anything else.
    func blob(_ column: Int32) -> Data? {
        withBlob(column) { Data($0) }
    }

    /// Lends the blob in a column; nil if it holds anything else.
    func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        // The pointer is nil for an empty blob and for lack of memory; the count tells them apart.
        let start = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        guard start != nil || count == 0 else { return nil }
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(code, on: connection)
    }
}
