import SystemSQLite

/// What differs between the main database of a connection and one that is attached to it.
struct DatabaseDifference: Encodable {
    /// What is in one of the databases only, or made in another way: a table, an index, a view or a trigger.
    struct Object: Encodable {
        var kind: String
        var name: String
        /// "first", "second" or "both".
        var found: String
    }

    /// Rows, told apart by their primary key, or by their rowid if they have none.
    struct Rows: Encodable {
        var table: String
        var onlyInFirst: Int64
        var onlyInSecond: Int64
        var changed: Int64
    }

    var objects: [Object]
    /// The tables with rows that differ.
    var rows: [Rows]

    var isEmpty: Bool { objects.isEmpty && rows.isEmpty }

    /// Compares from one snapshot of each. Tables that are made in different ways are compared no further.
    init(_ connection: SQLConnection, other: String) throws {
        try connection.execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        objects = try Self.objects(connection, other)
        let different = Set(objects.map(\.name))
        let statement = try connection.prepare(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
        var tables: [String] = []
        while try statement.step() { tables.append(statement.text(0) ?? "") }
        rows = []
        for table in tables where !different.contains(table) {
            let found = try Self.rows(connection, other, table)
            if found.onlyInFirst + found.onlyInSecond + found.changed > 0 { rows.append(found) }
        }
    }

    private static func objects(_ connection: SQLConnection, _ other: String) throws -> [Object] {
        let columns = "type, name, tbl_name, coalesce(sql, '')"
        let statement = try connection.prepare(
            """
            SELECT type, name, sum(side) FROM (
                SELECT *, 1 AS side FROM (SELECT \(columns) FROM main.sqlite_schema
                    EXCEPT SELECT \(columns) FROM \(other).sqlite_schema)
                UNION ALL SELECT *, 2 FROM (SELECT \(columns) FROM \(other).sqlite_schema
                    EXCEPT SELECT \(columns) FROM main.sqlite_schema))
            GROUP BY type, name ORDER BY type, name
            """)
        var found: [Object] = []
        while try statement.step() {
            let side = ["", "first", "second", "both"][Int(clamping: min(statement.integer(2) ?? 0, 3))]
            found.append(Object(kind: statement.text(0) ?? "", name: statement.text(1) ?? "", found: side))
        }
        return found
    }

    private static func rows(_ connection: SQLConnection, _ other: String, _ table: String) throws -> Rows {
        let layout = try TableLayout(table, connection)
        let name = SQLText.name(table)
        let key = layout.keyColumns.isEmpty ? layout.rowidName.map { [$0] } ?? [] : layout.keyColumns
        guard !key.isEmpty else { return Rows(table: table, onlyInFirst: 0, onlyInSecond: 0, changed: 0) }
        // The key's own order, which its index has. What it takes for equal is then compared byte by byte.
        let isSame = key.map { "b.\(SQLText.name($0)) IS a.\(SQLText.name($0))" }.joined(separator: " AND ")
        let differs = layout.columns.map { column in
            let column = SQLText.name(column)
            return "a.\(column) IS NOT b.\(column) COLLATE BINARY OR typeof(a.\(column)) <> typeof(b.\(column))"
        }.joined(separator: " OR ")
        func missing(_ first: String, _ second: String) throws -> Int64 {
            try connection.integer(
                "SELECT count(*) FROM \(first).\(name) a WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(second).\(name) b WHERE \(isSame))") ?? 0
        }
        return Rows(
            table: table, onlyInFirst: try missing("main", other), onlyInSecond: try missing(other, "main"),
            changed: try connection.integer(
                "SELECT count(*) FROM main.\(name) a JOIN \(other).\(name) b ON \(isSame) "
                    + "WHERE \(differs.isEmpty ? "0" : differs)") ?? 0)
    }
}
