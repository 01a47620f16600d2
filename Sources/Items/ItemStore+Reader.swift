import Foundation
import GRDB
import KeychainModel
import Sealing

extension ItemStore {
    /// Access to the rows for the duration of a read.
    package struct Reader: ~Copyable {
        let database: Database

        /// Calls `body` with each row that `search` accepts until it returns false.
        package func forEach(
            _ search: ItemSearch, includingCiphertext: Bool, _ body: (ItemRow) throws -> Bool
        ) throws {
            try Search(database: database, search: search, includingCiphertext: includingCiphertext).run(body)
        }

        package func rows(_ search: ItemSearch, includingCiphertext: Bool) throws -> [ItemRow] {
            var rows: [ItemRow] = []
            try forEach(search, includingCiphertext: includingCiphertext) {
                rows.append($0)
                return true
            }
            return rows
        }

        /// The keybag that the rows belong to.
        package func keybagIdentifier() throws -> UUID? {
            try Schema.keybagIdentifier(in: database)
        }

        /// Calls `body` for every row of the table, or with the reason why a row cannot be read.
        package func forEachRow(_ body: (Result<ItemRow, StoreError>) throws -> Void) throws {
            let cursor = try Row.fetchCursor(
                database, sql: "SELECT \(ItemRow.columns) FROM item ORDER BY id")
            while let row = try cursor.next() {
                try body(Result { () throws(StoreError) in try ItemRow(row, includingCiphertext: true) })
            }
        }
    }
}
