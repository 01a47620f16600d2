import Bytes
import CSQLite
import FoundationEssentials
import StatusCodes
import SystemSQLite

/// Runs statements one after the other, and prints every value as SQLite would.
struct ShellStatements {
    let connection: SQLConnection
    let asJSON: Bool

    func run(_ text: String) throws {
        do {
            try connection.forEachStatement(in: text) { try step($0) }
        } catch let error as SQLiteError {
            throw Self.failure(error)
        }
    }

    private func step(_ statement: SQLStatement) throws {
        let columns = (0..<statement.columnCount).map { statement.name(of: $0) }
        var output = Data()
        var rows = 0
        while try next(statement, &output) {
            if asJSON { output += Data((rows == 0 ? "[" : ",\n").utf8) }
            output += Data((asJSON ? object(statement, columns) : line(statement, columns)).utf8)
            rows += 1
            guard output.count > 1 << 16 else { continue }
            try StandardOutput.write(output)
            output.removeAll(keepingCapacity: true)
        }
        if asJSON, !columns.isEmpty { output += Data((rows == 0 ? "[]\n" : "]\n").utf8) }
        try StandardOutput.write(output)
    }

    /// Returns whether there is another row. Before a failure is thrown, what was read is written.
    private func next(_ statement: SQLStatement, _ output: inout Data) throws -> Bool {
        do throws(SQLiteError) {
            return try statement.step()
        } catch {
            try StandardOutput.write(output)
            throw error
        }
    }

    private func line(_ statement: SQLStatement, _ columns: [String]) -> String {
        let values = (0..<Int32(columns.count)).map { column -> String in
            guard statement.kind(of: column) != .blob else {
                return "X'" + bytes(statement, column).hexadecimal(uppercase: true) + "'"
            }
            let text = text(statement, column)
            return StandardOutput.isTerminal ? text.escapedForTerminal : text
        }
        return values.joined(separator: "|") + "\n"
    }

    private func object(_ statement: SQLStatement, _ columns: [String]) -> String {
        let members = columns.enumerated().map { index, name in
            let column = Int32(index)
            let value =
                switch statement.kind(of: column) {
                case .null: "null"
                case .integer: text(statement, column)
                case .real: Self.number(statement.real(column) ?? 0)
                case .blob: Self.quoted(bytes(statement, column).base64EncodedString())
                case .text: Self.quoted(text(statement, column))
                }
            return "\(Self.quoted(name)):\(value)"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// JSON has no infinity, but readers take a number that is too large for it.
    private static func number(_ value: Double) -> String {
        value.isInfinite ? (value < 0 ? "-1e999" : "1e999") : "\(value)"
    }

    private static func quoted(_ text: String) -> String { (try? JSON.string(text)) ?? "\"\"" }

    private func text(_ statement: SQLStatement, _ column: Int32) -> String {
        statement.withText(column) { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func bytes(_ statement: SQLStatement, _ column: Int32) -> Data {
        statement.withBlob(column) { Data($0) } ?? Data()
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
        default: Failure(status: errSecParam, "\(message): what ran before stays")
        }
    }
}
