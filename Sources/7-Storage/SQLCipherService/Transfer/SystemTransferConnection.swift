import Bytes
import CSQLite
import SQLCipherWire
import SystemSQLite

/// The error for a statement that SQLite does not accept.
struct SourceStatementError: Error, CustomStringConvertible {
    let description: String
}

/// A database of the system's SQLite, on any VFS.
package final class SystemTransferConnection: TransferConnection {
    private let connection: SQLConnection
    private var kept: (sql: String, statement: SQLStatement)?

    package init(_ connection: SQLConnection) { self.connection = connection }

    package var engine: TransferEngine {
        TransferEngine(name: "this database", sqliteVersion: String(cString: sqlite3_libversion()))
    }

    package var isInTransaction: Bool { connection.isInTransaction }

    package func forEachRow(_ sql: String, _ bindings: [SQLValue], _ body: ([SQLValue]) throws -> Void) throws {
        let statement = try translating(connection.prepare(sql))
        try translating(Self.bind(bindings, to: statement))
        while try translating(statement.step()) {
            try body((0..<statement.columnCount).map { try Self.value(statement, $0) })
        }
    }

    package func run(_ script: String) throws {
        try translating(connection.execute(script))
    }

    package func write(_ rows: RowBatch, _ sql: String) throws {
        let statement: SQLStatement
        if let kept, kept.sql == sql {
            statement = kept.statement
        } else {
            finishRows()
            statement = try translating(connection.prepare(sql))
            kept = (sql, statement)
        }
        for row in rows.rows {
            try translating(Self.bind(row, to: statement))
            try translating(statement.run())
        }
    }

    package func finishRows() { kept = nil }

    private static func bind(_ values: [SQLValue], to statement: SQLStatement) throws(SQLiteError) {
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            switch value {
            case .null: try statement.bindNull(at: place)
            case .integer(let integer): try statement.bind(integer, at: place)
            case .real(let real): try statement.bind(real, at: place)
            case .text(let bytes):
                try bytes.withBytes { (bytes) throws(SQLiteError) in try statement.bind(text: bytes, at: place) }
            case .blob(let bytes):
                try bytes.withBytes { (bytes) throws(SQLiteError) in try statement.bind(bytes, at: place) }
            }
        }
    }

    private static func value(_ statement: SQLStatement, _ place: Int32) throws -> SQLValue {
        switch statement.kind(of: place) {
        case .null: return .null
        case .integer: return .integer(statement.integer(place) ?? 0)
        case .real: return .real(statement.real(place) ?? 0)
        case .text:
            guard let bytes = statement.withText(place, { Array($0) }) else { throw noMemory }
            return .text(bytes)
        case .blob:
            guard let bytes = statement.withBlob(place, { Array($0) }) else { throw noMemory }
            return .blob(bytes)
        }
    }

    private static var noMemory: SQLiteError { SQLiteError(extendedCode: SQLITE_NOMEM, message: "out of memory") }

    /// Throws a ``SourceStatementError`` for a statement's own error, which is about the copied object. Any other error
    /// is about the file.
    private func translating<Result>(_ body: @autoclosure () throws(SQLiteError) -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            guard [SQLITE_ERROR, SQLITE_AUTH].contains(error.code) else { throw error }
            throw SourceStatementError(description: error.message)
        }
    }
}
