import CSQLite

extension SQLConnection {
    /// Returns the first column of all rows of `sql`, as SQLite prints it.
    package func printed(_ sql: String) throws(SQLiteError) -> [String] {
        let statement = try prepare(sql)
        var texts: [String] = []
        while try statement.step() {
            texts.append(statement.withText(0) { String(decoding: $0, as: UTF8.self) } ?? "")
        }
        return texts
    }

    /// Returns the integer in the first column of the first row of `sql`; nil if there is none.
    package func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Returns whether a text ends with a whole statement. It may contain other errors.
    package static func isComplete(_ script: String) -> Bool { sqlite3_complete(script) != 0 }
}
