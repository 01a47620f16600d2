import Foundation
import GRDB
import Sealing

extension ItemStore {
    /// Access to the rows within a write transaction.
    package struct Writer {
        let database: Database
        let keybag: UUID?

        /// The same transaction for searching.
        package var reader: Reader { Reader(database: database, keybag: keybag) }

        /// The number for a new row.
        package func nextRowID() throws -> Int64 {
            let statement = try database.cachedStatement(sql: "SELECT coalesce(max(id), 0) + 1 FROM item")
            return try Int64.fetchOne(statement) ?? 1
        }

        /// Stores a new row and files it under `terms`.
        package func insert(_ row: ItemRow, filedUnder terms: [Int64]) throws {
            try database.cachedStatement(
                sql: """
                    INSERT INTO item (id, class, pk, uuid, grp, pdmn, flags, terms, meta, seal, data)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: row.arguments)
            try file(row.binding.rowID, under: terms)
        }

        /// Puts `row` in the place of the row with its number.
        package func replace(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            let statement = try database.cachedStatement(
                sql: """
                    REPLACE INTO item (id, class, pk, uuid, grp, pdmn, flags, terms, meta, seal, data)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            try statement.execute(arguments: row.arguments)
            try refile(row.binding.rowID, under: terms, insteadOf: oldTerms)
        }

        /// Gives the row with this number new attributes and leaves its value where it is.
        package func replaceMetadata(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            try database.cachedStatement(sql: "UPDATE item SET pk = ?, terms = ?, meta = ? WHERE id = ?")
                .execute(arguments: [
                    row.binding.primaryKey, row.encodedTerms, row.metadata, row.binding.rowID,
                ])
            try refile(row.binding.rowID, under: terms, insteadOf: oldTerms)
        }

        /// Removes a row and the terms it may be filed under.
        package func delete(_ rowID: Int64, filedUnder terms: [Int64]) throws {
            try database.cachedStatement(sql: "DELETE FROM item WHERE id = ?").execute(arguments: [rowID])
            try unfile(rowID, from: terms)
        }

        /// Removes a row that cannot be read, so that the terms it is filed under are not known.
        package func deleteUnread(_ rowID: Int64) throws {
            try database.cachedStatement(sql: "DELETE FROM item WHERE id = ?").execute(arguments: [rowID])
            try database.cachedStatement(sql: "DELETE FROM term WHERE item = ?").execute(arguments: [rowID])
        }

        /// Removes every row and makes the store belong to `keybag`.
        package func reset(to keybag: UUID) throws {
            try database.execute(sql: "DELETE FROM item; DELETE FROM term")
            try database.execute(sql: "UPDATE vault SET keybag = ? WHERE id = 1", arguments: [keybag.bytes])
        }

        /// Files the row under every one of `terms`, those it should be under already included: an index that
        /// lost entries is whole again for each item that is written.
        private func refile(_ rowID: Int64, under terms: [Int64], insteadOf oldTerms: [Int64]) throws {
            try unfile(rowID, from: Set(oldTerms).subtracting(terms))
            try file(rowID, under: terms)
        }

        private func file(_ rowID: Int64, under terms: some Sequence<Int64>) throws {
            let statement = try database.cachedStatement(sql: "INSERT OR IGNORE INTO term (term, item) VALUES (?, ?)")
            for term in terms { try statement.execute(arguments: [term, rowID]) }
        }

        private func unfile(_ rowID: Int64, from terms: some Sequence<Int64>) throws {
            let statement = try database.cachedStatement(sql: "DELETE FROM term WHERE term = ? AND item = ?")
            for term in terms { try statement.execute(arguments: [term, rowID]) }
        }
    }
}
