import Bytes
import CSQLite

/// The error of a SQLite call that failed.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code, such as `SQLITE_IOERR_FSYNC` (https://sqlite.org/rescode.html).
    package let extendedCode: Int32
    /// SQLite's own message. It may quote the statement or a name in the file, but never a bound value. What a terminal
    /// would take for a command is escaped, because another program may have written the file.
    package let message: String

    package init(extendedCode: Int32, message: String) {
        self.extendedCode = extendedCode
        self.message = message.unicodeScalars.reduce(into: "") {
            if $1.controlsTerminal { $0 += $1.escaped } else { $0.unicodeScalars.append($1) }
        }
    }

    /// Takes the code and the message of a call on a connection. The connection may be nil.
    package init(_ code: Int32, on connection: OpaquePointer?) {
        // After a misuse, or without memory for a connection, SQLite still holds the message of an earlier call.
        let isLast = connection != nil && sqlite3_extended_errcode(connection) & 0xFF == code & 0xFF
        let text = isLast ? sqlite3_errmsg(connection) : sqlite3_errstr(code)
        self.init(
            extendedCode: code, message: text.map { String(cString: $0) } ?? "SQLite's error \(code)")
    }

    /// SQLite's primary result code, such as `SQLITE_IOERR`.
    package var code: Int32 { extendedCode & 0xFF }

    package var description: String { "\(message) (SQLite's error \(extendedCode))" }
}
