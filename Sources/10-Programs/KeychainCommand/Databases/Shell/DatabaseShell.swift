import DatabaseFiles
import FoundationEssentials
import SystemSQLite

/// Runs SQL on an encrypted database, one statement after the other.
final class DatabaseShell {
    private let path: String
    private let database: ProtectedConnection
    private let asJSON: Bool

    init(_ file: ProtectedDatabaseFile, isWriting: Bool, asJSON: Bool) throws {
        path = file.path
        self.asJSON = asJSON
        database = try ProtectedConnection(file, isWriting ? .create : .readOnly, busyTimeout: 10_000)
    }

    func close() { database.close() }

    /// Runs all statements of a text, up to the first that fails.
    func run(_ text: String) throws {
        try namingDatabase(path) {
            try database.use { try ShellStatements(connection: $0, asJSON: asJSON).run(text) }
        }
    }

    // MARK: At a terminal

    /// Runs what is typed, until the end of the input. A statement that fails does not end the session.
    func runLines() throws {
        try StandardOutput.write(line: "Statements end with a semicolon; .help shows the rest.")
        var text = ""
        while true {
            try StandardOutput.write(Data((text.isEmpty ? "sql> " : "...> ").utf8))
            guard let line = readLine(strippingNewline: false) else {
                try StandardOutput.write(line: "")
                return
            }
            if text.isEmpty, line.hasPrefix(".") {
                guard let statement = try Self.statement(of: line) else { return }
                try runReporting(statement)
                continue
            }
            text += line
            if text.allSatisfy(\.isWhitespace) { text = "" }
            guard SQLConnection.isComplete(text) else { continue }
            try runReporting(text)
            text = ""
        }
    }

    private func runReporting(_ text: String) throws {
        do {
            try run(text)
        } catch {
            _ = Failure(error).report(asJSON: asJSON)
        }
    }

    /// Returns the SQL for a line that begins with a dot, or nil if the line ends the session.
    private static func statement(of line: String) throws -> String? {
        switch String(line.reversed().drop(while: \.isWhitespace).reversed()) {
        case ".quit", ".exit": return nil
        case ".tables": return "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        case ".schema": return "SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        default:
            try StandardOutput.write(line: ".tables  tables and views\n.schema  how they are made\n.quit    ends")
            return ""
        }
    }
}
