import CommandKit
import DatabaseFiles
import SystemSQLite

/// Runs SQL on an encrypted database, one statement after the other.
final class DatabaseShell {
    private let path: String
    private let database: ProtectedConnection
    private let format: ShellFormat

    init(_ file: ProtectedDatabaseFile, isWriting: Bool, format: ShellFormat) throws {
        path = file.path
        self.format = format
        database = try ProtectedConnection(file, isWriting ? .create : .readOnly, busyTimeout: 10_000)
    }

    func close() { database.close() }

    /// Runs all statements of a text, up to the first that fails.
    func run(_ text: String) throws { try run(text, format, nil) }

    private func run(_ text: String, _ format: ShellFormat, _ interrupts: ShellInterrupts?) throws {
        try namingDatabase(path) {
            try database.use { connection in
                let statements = ShellStatements(connection: connection, format: format)
                guard let interrupts else { return try statements.run(text) }
                try interrupts.ending(connection.interrupter) { try statements.run(text) }
            }
        }
    }

    // MARK: At a terminal

    /// Runs what is typed, until the end of the input. A statement that fails does not end the session.
    func runLines() throws {
        try StandardOutput.write(line: "Statements end with a semicolon; .help shows the rest.")
        let interrupts = try ShellInterrupts()
        let editor = LineEditor(interrupts)
        var text = ""
        while true {
            switch editor.read(text.isEmpty ? "sql> " : "...> ") {
            case .interrupted: text = ""
            case .end: return try StandardOutput.write(line: "")
            case .text(let line):
                switch text.isEmpty || Self.isEnd(line) ? ShellWord(line) : nil {
                case .end: return
                case .help: try StandardOutput.write(line: ShellWord.summary)
                case .statement(let statement): try runReporting(statement, .lines, interrupts)
                case nil:
                    text += line + "\n"
                    if text.allSatisfy(\.isWhitespace) { text = "" }
                    guard SQLConnection.isComplete(text) else { continue }
                    try runReporting(text, format, interrupts)
                    text = ""
                }
            }
        }
    }

    /// Whether a line ends the session also in the middle of a statement.
    private static func isEnd(_ line: String) -> Bool {
        if case .end = ShellWord(line) { true } else { false }
    }

    private func runReporting(_ text: String, _ format: ShellFormat, _ interrupts: ShellInterrupts) throws {
        do {
            try run(text, format, interrupts)
        } catch {
            _ = Failure(error).report(asJSON: format == .json)
        }
    }
}

/// A line at the shell that begins with a dot.
private enum ShellWord {
    case end
    case help
    /// What it stands for in SQL.
    case statement(String)

    static let summary = """
        .tables          tables and views
        .schema [NAME]   how they are made
        .quit            ends, also in the middle of a statement, as Ctrl-D does
        Ctrl-C           ends the statement that runs, or drops the one that is typed
        """

    init?(_ line: String) {
        guard line.hasPrefix(".") else { return nil }
        let words = line.split(whereSeparator: \.isWhitespace)
        switch words.first {
        case ".quit", ".exit": self = .end
        case ".tables":
            self = .statement("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        case ".schema":
            let name = words.dropFirst().first.map { "AND tbl_name = '\($0.replacing("'", with: "''"))' " } ?? ""
            self = .statement("SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL \(name)ORDER BY rowid")
        default: self = .help
        }
    }
}
