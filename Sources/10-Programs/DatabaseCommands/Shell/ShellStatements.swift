import CSQLite
import CommandKit
import FoundationEssentials
import StatusCodes
import SystemSQLite

/// Runs statements one after the other, and prints every value as SQLite would.
struct ShellStatements {
    let connection: SQLConnection
    let format: ShellFormat

    func run(_ text: String) throws {
        do {
            try connection.forEachStatement(in: text) { try step($0) }
        } catch let error as SQLiteError {
            throw Self.failure(error)
        }
    }

    private func step(_ statement: SQLStatement) throws {
        let columns = (0..<statement.columnCount).map { statement.name(of: $0) }
        guard !columns.isEmpty else {
            while try statement.step() {}
            return
        }
        var rows = ShellRows(format, columns: columns)
        while try next(statement, &rows) {
            rows.add(statement)
            if rows.output.count > 1 << 16 { try StandardOutput.write(rows.take()) }
        }
        rows.finish()
        try StandardOutput.write(rows.take())
    }

    /// Returns whether there is another row. Before a failure is thrown, what was read is written.
    private func next(_ statement: SQLStatement, _ rows: inout ShellRows) throws -> Bool {
        do throws(SQLiteError) {
            return try statement.step()
        } catch {
            if format == .table { rows.finish() }
            try StandardOutput.write(rows.take())
            throw error
        }
    }

    private static func failure(_ error: SQLiteError) -> Failure {
        let message = error.message.escapedForTerminal
        return switch error.code {
        case SQLITE_READONLY: Failure(status: errSecParam, "\(message): say --write to change it")
        case SQLITE_BUSY, SQLITE_LOCKED:
            Failure(status: errSecIO, "\(message): another program uses it, try again later")
        case SQLITE_FULL: Failure(status: errSecDiskFull, "\(message): free some space, and try again")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR:
            Failure(status: errSecDecode, "\(message): `keychain db verify` shows whether it is damaged")
        case SQLITE_INTERRUPT:
            Failure(status: errSecUserCanceled, "the statement was ended by Ctrl-C: what ran before it stays")
        default: Failure(status: errSecParam, "\(message): what ran before stays")
        }
    }
}
