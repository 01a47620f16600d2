import FoundationEssentials
import Sealing
import SystemSQLite

extension ItemStore {
    /// Access to the rows within a write transaction.
    package struct Writer {
        let database: SQLConnection
        let keybag: UUID?

        /// The same transaction for searching.
        package var reader: Reader { Reader(database: database, keybag: keybag) }

        /// The number for a new row.
        package func nextRowID() throws -> Int64 {
            // Behind the highest number there is SQLite gives no integer.
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
            try file(row.binding.rowID, under: terms)
        }

        /// Puts `row` in the place of the row with its number.
        package func replace(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            try change(
                """
                REPLACE INTO item (id, class, pk, uuid, grp, pdmn, flags, terms, meta, seal, data)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            ) { try row.run($0) }
            try refile(row.binding.rowID, under: terms, insteadOf: oldTerms)
        }

        /// Gives the row with this number new attributes and leaves its value where it is.
        package func replaceMetadata(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            try change("UPDATE item SET pk = ?, terms = ?, meta = ? WHERE id = ?") { statement in
                try statement.bind(row.binding.primaryKey, at: 1)
                try statement.bind(row.encodedTerms, at: 2)
                try statement.bind(row.metadata, at: 3)
                try statement.bind(row.binding.rowID, at: 4)
                try statement.run()
            }
            try refile(row.binding.rowID, under: terms, insteadOf: oldTerms)
        }

        /// Removes a row and the terms it may be filed under.
        package func delete(_ rowID: Int64, filedUnder terms: [Int64]) throws {
            try deleteRow(rowID)
            try unfile(rowID, from: terms)
        }

        /// Removes a row that cannot be read, so that the terms it is filed under are not known.
        package func deleteUnread(_ rowID: Int64) throws {
            try deleteRow(rowID)
            try change("DELETE FROM term WHERE item = ?") { statement in
                try statement.bind(rowID, at: 1)
                try statement.run()
            }
        }

        /// Removes every row and makes the store belong to `keybag`.
        package func reset(to keybag: UUID) throws {
            for sql in ["DELETE FROM item", "DELETE FROM term"] { try change(sql) { try $0.run() } }
            try change("UPDATE vault SET keybag = ? WHERE id = 1") { statement in
                try statement.bind(keybag.bytes, at: 1)
                try statement.run()
            }
        }

        private func deleteRow(_ rowID: Int64) throws {
            try change("DELETE FROM item WHERE id = ?") { statement in
                try statement.bind(rowID, at: 1)
                try statement.run()
            }
        }

        /// Files the row under every one of `terms`, those it should be under already included: an index that
        /// lost entries is whole again for each item that is written.
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

        /// Lends the statement `sql` to `body`, which runs it. Its parameters are not kept.
        private func change(_ sql: String, _ body: (SQLStatement) throws -> Void) throws {
            try database.requireTransaction()
            let statement = try database.statement(sql)
            defer { statement.clearBindings() }
            try body(statement)
        }
    }
}
