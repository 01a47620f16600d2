import Foundation
import GRDBSQLite
import KeychainServices

/// Statements through SQLite's own interface, which says where each ends and gives every value as SQLite would print it.
struct ShellStatements {
    let connection: OpaquePointer
    let asJSON: Bool

    func run(_ text: String) throws {
        try text.withCString { start in
            var place = start
            while place.pointee != 0 {
                var statement: OpaquePointer?
                var rest: UnsafePointer<CChar>?
                guard sqlite3_prepare_v2(connection, place, -1, &statement, &rest) == SQLITE_OK else { throw failure }
                defer { sqlite3_finalize(statement) }
                if let statement { try step(statement) }
                guard let rest else { return }
                place = rest
            }
        }
    }

    private func step(_ statement: OpaquePointer) throws {
        let columns = (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
        }
        var output = Data()
        var rows = 0
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                if code != SQLITE_DONE {
                    let failure = failure
                    try StandardOutput.write(output)
                    throw failure
                }
                break
            }
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

    private func line(_ statement: OpaquePointer, _ columns: [String]) -> String {
        let values = columns.indices.map { column -> String in
            let column = Int32(column)
            guard sqlite3_column_type(statement, column) != SQLITE_BLOB else {
                return "X'" + bytes(statement, column).hexadecimal(uppercase: true) + "'"
            }
            let text = text(statement, column)
            return StandardOutput.isTerminal ? text.escapedForTerminal : text
        }
        return values.joined(separator: "|") + "\n"
    }

    private func object(_ statement: OpaquePointer, _ columns: [String]) -> String {
        let members = columns.enumerated().map { index, name in
            let column = Int32(index)
            let value =
                switch sqlite3_column_type(statement, column) {
                case SQLITE_NULL: "null"
                case SQLITE_INTEGER: text(statement, column)
                case SQLITE_FLOAT: Self.number(sqlite3_column_double(statement, column))
                case SQLITE_BLOB: Self.quoted(bytes(statement, column).base64EncodedString())
                default: Self.quoted(text(statement, column))
                }
            return "\(Self.quoted(name)):\(value)"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// JSON has no infinity; a number that is too large is read as one.
    private static func number(_ value: Double) -> String {
        value.isInfinite ? (value < 0 ? "-1e999" : "1e999") : "\(value)"
    }

    private static func quoted(_ text: String) -> String { (try? JSON.string(text)) ?? "\"\"" }

    private func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    private func bytes(_ statement: OpaquePointer, _ column: Int32) -> Data {
        let start = sqlite3_column_blob(statement, column)
        return Data(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// What SQLite says of the last call.
    private var failure: Failure {
        let message = String(cString: sqlite3_errmsg(connection)).escapedForTerminal
        // Without what GRDB has SQLite add to the codes.
        return switch sqlite3_errcode(connection) & 0xFF {
        case SQLITE_READONLY: Failure(status: errSecParam, "\(message): say --write to change it")
        case SQLITE_BUSY, SQLITE_LOCKED:
            Failure(status: errSecIO, "\(message): another program uses it, try again later")
        case SQLITE_FULL: Failure(status: errSecDiskFull, "\(message): free some space, and try again")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR:
            Failure(status: errSecDecode, "\(message): `keychain db verify` shows whether it is damaged")
        default: Failure(status: errSecParam, "\(message): what was carried out before stays")
        }
    }
}
