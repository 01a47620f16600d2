import GRDB
import GRDBSQLite
import SQLCipherWire

/// A statement that SQLite does not accept.
struct SourceStatementError: Error, CustomStringConvertible {
    let description: String
}

/// A database of GRDB's, on whatever VFS: used through SQLite's own interface, because GRDB's ends texts at a zero.
///
/// Valid while `database` is, which means within the closure that has it.
package final class GRDBTransferConnection: TransferConnection {
    private let database: Database
    private let connection: SQLiteConnection
    private var kept: (sql: String, statement: SQLiteStatement)?

    package init(_ database: Database) throws {
        guard let connection = database.sqliteConnection else {
            throw SQLCipherError.misused(reason: "the connection is closed")
        }
        self.database = database
        self.connection = connection
    }

    deinit { if let kept { sqlite3_finalize(kept.statement) } }

    package var engine: TransferEngine {
        TransferEngine(name: "this database", sqliteVersion: String(cString: sqlite3_libversion()))
    }

    package var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    package func forEachRow(_ sql: String, _ bindings: [SQLValue], _ body: ([SQLValue]) throws -> Void) throws {
        guard let statement = try prepare(sql) else { return }
        defer { sqlite3_finalize(statement) }
        try bind(bindings, to: statement)
        while try step(statement) {
            var row: [SQLValue] = []
            for place in 0..<sqlite3_column_count(statement) { row.append(try value(statement, place)) }
            try body(row)
        }
    }

    package func run(_ script: String) throws {
        let code = sqlite3_exec(connection, script, nil, nil, nil)
        // GRDB remembers the schema.
        database.clearSchemaCache()
        guard code == SQLITE_OK else { throw failure(code) }
    }

    package func write(_ rows: RowBatch, _ sql: String) throws {
        let statement: SQLiteStatement
        if let kept, kept.sql == sql {
            statement = kept.statement
        } else {
            try finishRows()
            guard let prepared = try prepare(sql) else { return }
            kept = (sql, prepared)
            statement = prepared
        }
        for row in rows.rows {
            try bind(row, to: statement)
            while try step(statement) {}
            sqlite3_reset(statement)
        }
    }

    package func finishRows() throws {
        if let kept { sqlite3_finalize(kept.statement) }
        kept = nil
    }

    private func prepare(_ sql: String) throws -> SQLiteStatement? {
        var statement: SQLiteStatement?
        let code = sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw failure(code) }
        return statement
    }

    private func step(_ statement: SQLiteStatement) throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = failure(code)
            sqlite3_reset(statement)
            throw error
        }
    }

    private func bind(_ values: [SQLValue], to statement: SQLiteStatement) throws {
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let code: Int32
            switch value {
            case .null: code = sqlite3_bind_null(statement, place)
            case .integer(let integer): code = sqlite3_bind_int64(statement, place, integer)
            case .real(let real): code = sqlite3_bind_double(statement, place, real)
            case .text(let bytes) where bytes.isEmpty: code = sqlite3_bind_text(statement, place, "", 0, copied)
            case .text(let bytes):
                code = bytes.withUnsafeBytes {
                    let start = $0.baseAddress?.assumingMemoryBound(to: CChar.self)
                    return sqlite3_bind_text(statement, place, start, Int32(clamping: $0.count), copied)
                }
            case .blob(let bytes) where bytes.isEmpty: code = sqlite3_bind_zeroblob(statement, place, 0)
            case .blob(let bytes):
                code = bytes.withUnsafeBytes {
                    sqlite3_bind_blob(statement, place, $0.baseAddress, Int32(clamping: $0.count), copied)
                }
            }
            guard code == SQLITE_OK else { throw failure(code) }
        }
    }

    private func value(_ statement: SQLiteStatement, _ place: Int32) throws -> SQLValue {
        switch sqlite3_column_type(statement, place) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, place))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, place))
        case SQLITE_TEXT: .text(try bytes(sqlite3_column_text(statement, place), statement, place))
        case SQLITE_BLOB: .blob(try bytes(sqlite3_column_blob(statement, place), statement, place))
        default: .null
        }
    }

    private func bytes(_ start: UnsafeRawPointer?, _ statement: SQLiteStatement, _ place: Int32) throws -> [UInt8] {
        let count = Int(sqlite3_column_bytes(statement, place))
        guard start != nil || count == 0 else { throw failure(SQLITE_NOMEM) }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A statement's own failure is about what is carried; any other is about the file.
    private func failure(_ code: Int32) -> any Error {
        let message = String(cString: sqlite3_errmsg(connection))
        guard [SQLITE_ERROR, SQLITE_AUTH].contains(code & 0xFF) else {
            return DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
        return SourceStatementError(description: message)
    }
}
