import FoundationEssentials
import Sealing
import SystemSQLite

extension ItemStore {
    /// Access to the rows in a write transaction.
    package struct Writer {
        let database: SQLConnection
        let keybag: UUID?
        /// The access groups whose rows were changed so far.
        package let touched = TouchedGroups()

        /// Searches in the same transaction.
        package var reader: Reader { Reader(database: database, keybag: keybag) }

        /// Returns the number for a new row.
        package func nextRowID() throws -> Int64 {
            // After the highest possible number, SQLite does not return an integer.
            guard let number = try database.integer("SELECT coalesce(max(id), 0) + 1 FROM item") else {
                throw StoreError.malformedRow(id: .max, reason: "no number is left behind it")
            }
            return number
        }

        /// Stores a new row and files it under `terms`.
        package func insert(_ row: ItemRow, filedUnder terms: [Int64]) throws {
            try change(
                """
                INSERT INTO item (id, class, pk, uuid, grp, pdmn, flags, terms, meta, seal, data)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            ) { try row.run($0) }
            touched.insert(row.binding.group)
            try file(row.binding.rowID, under: terms)
        }

        /// Replaces the row with the number of `row`.
        package func replace(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            // The row may come from another group.
            try touchGroup(ofRow: row.binding.rowID)
            touched.insert(row.binding.group)
            try change(
                """
                REPLACE INTO item (id, class, pk, uuid, grp, pdmn, flags, terms, meta, seal, data)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            ) { try row.run($0) }
            try refile(row.binding.rowID, under: terms, insteadOf: oldTerms)
        }

        /// Replaces the attributes of the row with this number. Its value stays unchanged.
        package func replaceMetadata(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            touched.insert(row.binding.group)
            try change("UPDATE item SET pk = ?, terms = ?, meta = ? WHERE id = ?") { statement in
                try statement.bind(row.binding.primaryKey, at: 1)
                try statement.bind(row.encodedTerms, at: 2)
                try statement.bind(row.metadata, at: 3)
                try statement.bind(row.binding.rowID, at: 4)
                try statement.run()
            }
            try refile(row.binding.rowID, under: terms, insteadOf: oldTerms)
        }

        /// Removes a row and the terms that it may be filed under.
        package func delete(_ rowID: Int64, filedUnder terms: [Int64]) throws {
            try deleteRow(rowID)
            try unfile(rowID, from: terms)
        }

        /// Removes a row that cannot be read, so that its terms are unknown.
        package func deleteUnread(_ rowID: Int64) throws {
            try deleteRow(rowID)
            try change("DELETE FROM term WHERE item = ?") { statement in
                try statement.bind(rowID, at: 1)
                try statement.run()
            }
        }

        /// Removes all rows and assigns the store to `keybag`.
        package func reset(to keybag: UUID) throws {
            for sql in ["DELETE FROM item", "DELETE FROM term"] { try change(sql) { try $0.run() } }
            try change("UPDATE vault SET keybag = ? WHERE id = 1") { statement in
                try statement.bind(keybag.bytes, at: 1)
                try statement.run()
            }
        }

        private func touchGroup(ofRow rowID: Int64) throws {
            let statement = try database.statement("SELECT grp FROM item WHERE id = ?")
            defer { statement.reset() }
            try statement.bind(rowID, at: 1)
            if try statement.step() { touched.insert(statement.integer(0)) }
        }

        private func deleteRow(_ rowID: Int64) throws {
            try touchGroup(ofRow: rowID)
            try change("DELETE FROM item WHERE id = ?") { statement in
                try statement.bind(rowID, at: 1)
                try statement.run()
            }
        }

        /// Files the row under all of `terms`, including those that it should already be under. So each write repairs
        /// the index entries of its item.
        private func refile(_ rowID: Int64, under terms: [Int64], insteadOf oldTerms: [Int64]) throws {
            try unfile(rowID, from: Set(oldTerms).subtracting(terms))
            try file(rowID, under: terms)
        }

        private func file(_ rowID: Int64, under terms: some Sequence<Int64>) throws {
            try changeFilings(of: rowID, under: terms, "INSERT OR IGNORE INTO term (term, item) VALUES (?, ?)")
        }

        private func unfile(_ rowID: Int64, from terms: some Sequence<Int64>) throws {
            try changeFilings(of: rowID, under: terms, "DELETE FROM term WHERE term = ? AND item = ?")
        }

        private func changeFilings(of rowID: Int64, under terms: some Sequence<Int64>, _ sql: String) throws {
            try change(sql) { statement in
                try statement.bind(rowID, at: 2)
                for term in terms {
                    try statement.bind(term, at: 1)
                    try statement.run()
                }
            }
        }

        /// Runs `body` with the statement `sql`, which `body` runs. Clears the parameters afterwards.
        private func change(_ sql: String, _ body: (SQLStatement) throws -> Void) throws {
            try database.requireTransaction()
            let statement = try database.statement(sql)
            defer { statement.clearBindings() }
            try body(statement)
        }
    }
}
