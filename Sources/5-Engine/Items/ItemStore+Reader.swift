import FoundationEssentials
import KeychainModel
import Sealing
import SystemSQLite

extension ItemStore {
    /// Access to the rows during a read.
    package struct Reader {
        let database: SQLConnection
        /// The keybag whose keys the caller holds.
        let keybag: UUID?

        /// Runs `body` with each row that `search` accepts, until `body` returns false.
        ///
        /// - Throws: ``StoreError/otherKeybag`` if the rows are not sealed with the reader's keybag.
        package func forEach(
            _ search: ItemSearch, includingCiphertext: Bool, _ body: (ItemRow) throws -> Bool
        ) throws {
            try Search(
                database: database, keybag: keybag, search: search, includingCiphertext: includingCiphertext
            ).run(body)
        }

        package func rows(_ search: ItemSearch, includingCiphertext: Bool) throws -> [ItemRow] {
            var rows: [ItemRow] = []
            try forEach(search, includingCiphertext: includingCiphertext) {
                rows.append($0)
                return true
            }
            return rows
        }

        /// Returns the keybag of the rows.
        package func keybagIdentifier() throws -> UUID? {
            try Schema.keybagIdentifier(in: database)
        }

        /// Runs `body` for every row of the table, or with the reason why a row cannot be read.
        package func forEachRow(_ body: (Result<ItemRow, StoreError>) throws -> Void) throws {
            let statement = try database.statement("SELECT \(ItemRow.columns) FROM item ORDER BY id")
            defer { statement.reset() }
            while try statement.step() {
                try body(
                    Result { () throws(StoreError) in
                        try ItemRow(statement, binding: ItemRow.binding(statement), includingCiphertext: true)
                    })
            }
        }

        /// Returns under how many of `terms` the row is filed.
        package func filings(of rowID: Int64, under terms: Set<Int64>) throws -> Int {
            let statement = try database.statement("SELECT count(*) FROM term WHERE term = ? AND item = ?")
            defer { statement.reset() }
            var found = 0
            for term in terms {
                try statement.bind(term, at: 1)
                try statement.bind(rowID, at: 2)
                if try statement.step(), statement.integer(0) == 1 { found += 1 }
                statement.reset()
            }
            return found
        }
    }
}
