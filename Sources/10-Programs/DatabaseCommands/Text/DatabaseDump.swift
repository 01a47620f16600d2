import Bytes
import FoundationEssentials
import SystemSQLite

/// Writes a database as SQL that makes it again, with the same values, rowids and schema, as the `sqlite3` shell's
/// `.dump` does (https://sqlite.org/cli.html, 10).
///
/// The rows of a virtual table are those of the tables that it keeps them in. Its own entry is put into the schema as
/// it is, so that it makes no such tables.
struct DatabaseDump {
    let connection: SQLConnection
    /// Takes the text, in parts.
    let write: (Data) throws -> Void

    private static let part = 1 << 16

    /// Writes everything, from one snapshot.
    func run() throws {
        try connection.execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        try write("PRAGMA foreign_keys=OFF;\n")
        if let encoding = try connection.printed("PRAGMA encoding").first, encoding != "UTF-8" {
            try write("PRAGMA encoding='\(encoding)';\n")
        }
        if let vacuum = try connection.integer("PRAGMA auto_vacuum"), vacuum != 0 {
            try write("PRAGMA auto_vacuum=\(vacuum);\n")
        }
        try write("BEGIN TRANSACTION;\n")
        var hasVirtualTables = false
        for table in try objects("type = 'table'", order: "name = 'sqlite_sequence', rowid") {
            if table.sql.prefix(20).uppercased() == "CREATE VIRTUAL TABLE" {
                if !hasVirtualTables { try write("PRAGMA writable_schema=ON;\n") }
                hasVirtualTables = true
                try write(
                    "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table',\(SQLText.literal(table.name)),"
                        + "\(SQLText.literal(table.name)),0,\(SQLText.literal(table.sql)));\n")
                continue
            }
            switch table.name {
            case "sqlite_sequence": try write("DELETE FROM sqlite_sequence;\n")
            case let name where name.hasPrefix("sqlite_stat"): try write("ANALYZE sqlite_schema;\n")
            case let name where name.hasPrefix("sqlite_"): continue
            default: try write(table.sql + ";\n")
            }
            try rows(of: table.name)
        }
        for object in try objects("type IN ('index', 'trigger', 'view')", order: "type = 'trigger', rowid") {
            try write(object.sql + ";\n")
        }
        if hasVirtualTables { try write("PRAGMA writable_schema=OFF;\n") }
        for name in ["user_version", "application_id"] {
            if let value = try connection.integer("PRAGMA \(name)"), value != 0 {
                try write("PRAGMA \(name)=\(value);\n")
            }
        }
        try write("COMMIT;\n")
    }

    private func write(_ text: String) throws { try write(Data(text.utf8)) }

    private func objects(_ condition: String, order: String) throws -> [(name: String, sql: String)] {
        let statement = try connection.prepare(
            "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND \(condition) ORDER BY \(order)")
        var found: [(name: String, sql: String)] = []
        while try statement.step() { found.append((statement.text(0) ?? "", statement.text(1) ?? "")) }
        return found
    }

    private func rows(of table: String) throws {
        let layout = try TableLayout(table, connection)
        // The rowid is part of the row where nothing in the row is the rowid.
        let rowid = layout.keyColumns.isEmpty ? layout.rowidName.map { [$0] } ?? [] : []
        let columns = rowid + layout.columns
        guard !columns.isEmpty else { return }
        let list = columns.map(SQLText.name).joined(separator: ",")
        let start = "INSERT INTO \(SQLText.name(table))(\(list)) VALUES("
        let statement = try connection.prepare("SELECT \(list) FROM \(SQLText.name(table))")
        var output = Data()
        while try statement.step() {
            output += Data(start.utf8)
            for column in columns.indices {
                if column > 0 { output.append(UInt8(ascii: ",")) }
                output += Data(try value(statement, Int32(clamping: column)).utf8)
            }
            output += Data(");\n".utf8)
            guard output.count > Self.part else { continue }
            try write(output)
            output.removeAll(keepingCapacity: true)
        }
        try write(output)
    }

    private func value(_ statement: SQLStatement, _ column: Int32) throws -> String {
        switch statement.kind(of: column) {
        case .null: return "NULL"
        case .integer: return "\(statement.integer(column) ?? 0)"
        case .real: return try real(statement.real(column) ?? 0)
        case .blob: return statement.withBlob(column) { "X'\($0.hexadecimal())'" } ?? "X''"
        case .text:
            return statement.withText(column) { bytes in
                // Bytes that are no UTF-8 would not come back as they are.
                String(validating: bytes, as: UTF8.self).map(SQLText.literal)
                    ?? "CAST(X'\(bytes.hexadecimal())' AS TEXT)"
            } ?? "''"
        }
    }

    /// SQLite writes a number so that it reads the same one.
    private func real(_ value: Double) throws -> String {
        if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
        let statement = try connection.statement("SELECT quote(?)")
        defer { statement.reset() }
        try statement.bind(value, at: 1)
        _ = try statement.step()
        return statement.text(0) ?? "NULL"
    }
}

/// Names and texts in SQL.
enum SQLText {
    static func name(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// A text ends at a zero in SQL, so that zeros are written as `char(0)`.
    static func literal(_ text: String) -> String {
        let parts = text.split(separator: "\0", omittingEmptySubsequences: false).map {
            "'" + $0.replacing("'", with: "''") + "'"
        }
        return parts.count == 1 ? parts[0] : "(" + parts.joined(separator: "||char(0)||") + ")"
    }
}

/// The columns of a table that hold values.
struct TableLayout {
    /// Without generated and hidden columns.
    let columns: [String]
    /// The columns of the primary key, in its order; empty for a table whose rows have only a rowid.
    let keyColumns: [String]
    /// A name for the rowid that no column has; nil for a table without one.
    let rowidName: String?

    /// - Parameter schema: The name of the attached database.
    init(_ table: String, _ connection: SQLConnection, schema: String = "main") throws {
        let name = SQLText.literal(table)
        let statement = try connection.prepare(
            "SELECT name, pk, hidden FROM pragma_table_xinfo(\(name), '\(schema)') ORDER BY cid")
        var (columns, key, names): ([String], [(Int64, String)], Set<String>) = ([], [], [])
        while try statement.step() {
            let column = statement.text(0) ?? ""
            names.insert(column.lowercased())
            if statement.integer(2) == 0 { columns.append(column) }
            if let place = statement.integer(1), place > 0 { key.append((place, column)) }
        }
        self.columns = columns
        keyColumns = key.sorted { $0.0 < $1.0 }.map(\.1)
        let hasRowid =
            try connection.integer(
                "SELECT wr = 0 FROM pragma_table_list WHERE schema = '\(schema)' AND name = \(name)") == 1
        rowidName = hasRowid ? ["rowid", "_rowid_", "oid"].first { !names.contains($0) } : nil
    }
}
