import Bytes
import FoundationEssentials
import Sealing
import SystemSQLite

extension ItemStore {
    /// Access to the rows in a write transaction.
    package struct Writer {
        let database: SQLConnection
        let keybag: UUID?
        /// The store has come at least to this change.
        let floor: Int64
        /// The access groups whose rows were changed so far.
        package let touched: TouchedGroups
        let sizes: GroupSizes

        /// Searches in the same transaction.
        package var reader: Reader { Reader(database: database, keybag: keybag, floor: floor, newest: nil) }

        /// Returns the number for a new row.
        package func nextRowID() throws -> Int64 {
            // A former version is sealed to the number of its row. After the highest possible number, SQLite does not
            // return an integer.
            guard let number = try database.integer(Self.nextNumber) else {
                throw StoreError.malformedRow(id: .max, reason: "no number is left behind it")
            }
            return number
        }

        static let nextNumber = """
            SELECT max(coalesce((SELECT max(id) FROM item), 0), coalesce((SELECT max(id) FROM former), 0)) + 1
            """

        /// Returns the number of the change that this transaction is. Takes it when it is asked for first.
        func takeNumber() throws -> Int64 {
            if let number = touched.change { return number }
            try change("UPDATE vault SET sequence = sequence + 1 WHERE id = 1") { try $0.run() }
            guard let number = try database.integer("SELECT sequence FROM vault WHERE id = 1") else {
                throw StoreError.corrupt(reason: "the store has no number for a change")
            }
            touched.change = number
            return number
        }

        static let columns =
            "item (id, class, pk, uuid, grp, pdmn, flags, version, change, terms, meta, seal, data)"
        static let values = "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

        /// Stores a new row and files it under `terms`.
        package func insert(_ row: ItemRow, filedUnder terms: [Int64]) throws {
            let number = try takeNumber()
            try change("INSERT INTO \(Self.columns) \(Self.values)") { try row.run($0, change: number) }
            touched.insert(row.binding.group)
            touched.grow(row.binding.group, by: row.size)
            try file(row.binding.rowID, under: terms, in: row.binding.group)
        }

        /// Replaces the row with the number of `row`.
        package func replace(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            // The row may come from another group.
            let old = try touchGroup(ofRow: row.binding.rowID)
            touched.insert(row.binding.group)
            touched.grow(row.binding.group, by: row.size)
            let number = try takeNumber()
            try change("REPLACE INTO \(Self.columns) \(Self.values)") { try row.run($0, change: number) }
            if let old, let oldGroup = old.group, oldGroup != row.binding.group {
                try unfile(row.binding.rowID, from: oldTerms, in: oldGroup)
                try mark(old)
            }
            try refile(row, under: terms, insteadOf: oldTerms)
        }

        /// Replaces the attributes of the row with this number. Its value stays unchanged.
        package func replaceMetadata(
            _ row: ItemRow, filedUnder terms: [Int64], insteadOf oldTerms: [Int64]
        ) throws {
            touched.insert(row.binding.group)
            if touched.isMeasured {
                let size = try size(ofRow: row.binding.rowID)
                touched.grow(row.binding.group, by: row.sizeWithoutValue - size.withoutValue)
            }
            let number = try takeNumber()
            try change("UPDATE item SET pk = ?, version = ?, change = ?, terms = ?, meta = ? WHERE id = ?") {
                statement in
                try statement.bind(row.binding.primaryKey, at: 1)
                try statement.bind(row.binding.version, at: 2)
                try statement.bind(number, at: 3)
                try statement.bind(row.encodedTerms, at: 4)
                try statement.bind(row.metadata, at: 5)
                try statement.bind(row.binding.rowID, at: 6)
                try statement.run()
            }
            try refile(row, under: terms, insteadOf: oldTerms)
        }

        /// Removes a row and the terms that it may be filed under.
        package func delete(_ rowID: Int64, filedUnder terms: [Int64]) throws {
            guard let group = try deleteRow(rowID) else { return }
            try unfile(rowID, from: terms, in: group)
        }

        /// Removes a row that cannot be read, so that its terms are unknown.
        package func deleteUnread(_ rowID: Int64) throws {
            try deleteRow(rowID)
            try change("DELETE FROM filing WHERE item = ?") { statement in
                try statement.bind(rowID, at: 1)
                try statement.run()
            }
        }

        /// Ends the use of this store: `keybag` has another one. A program that still has the former keys in memory
        /// gets ``StoreError/otherKeybag`` when it next reads this store.
        package func retire(for keybag: UUID) throws {
            touched.insert(nil)
            try change("UPDATE vault SET owner = ? WHERE id = 1") { statement in
                try statement.bind(keybag.bytes, at: 1)
                try statement.run()
            }
        }

        /// Removes all rows and assigns the store to `keybag`. The numbers of changes go on.
        package func reset(to keybag: UUID) throws {
            touched.insert(nil)
            let number = try takeNumber()
            for table in ["item", "filing", "former", "deletion", "trail"] {
                try change("DELETE FROM \(table)") { try $0.run() }
            }
            if try reader.circle.isThere { try circle.clear() }
            try change("UPDATE vault SET owner = ?, cleared = ?, keep = 0 WHERE id = 1") { statement in
                try statement.bind(keybag.bytes, at: 1)
                try statement.bind(number, at: 2)
                try statement.run()
            }
        }

        /// What a mark of a deletion is made of. What is malformed is nil.
        struct OldRow {
            var group: Int64?
            var identifier: Data?
            var itemClass: Int64?
        }

        /// Notes that the row is about to change.
        ///
        /// - Returns: Nil if there is no such row.
        private func touchGroup(ofRow rowID: Int64) throws -> OldRow? {
            let statement = try database.statement("SELECT grp, uuid, class FROM item WHERE id = ?")
            defer { statement.reset() }
            try statement.bind(rowID, at: 1)
            guard try statement.step() else { return nil }
            let row = OldRow(
                group: statement.integer(0), identifier: statement.blob(1), itemClass: statement.integer(2))
            touched.insert(row.group)
            if touched.isMeasured, let group = row.group {
                let size = try size(ofRow: rowID)
                touched.grow(group, by: -size.withoutValue - size.value)
            }
            return row
        }

        /// Returns how many bytes a row takes, and how many its value with the seal.
        func size(ofRow rowID: Int64) throws -> (withoutValue: Int, value: Int) {
            let statement = try database.statement(
                "SELECT \(ItemRow.sqlSizeWithoutValue), \(ItemRow.sqlSizeOfValue) FROM item WHERE id = ?")
            defer { statement.reset() }
            try statement.bind(rowID, at: 1)
            guard try statement.step() else { return (0, 0) }
            return (Int(statement.integer(0) ?? 0), Int(statement.integer(1) ?? 0))
        }

        static let sizeOfFiling = """
            SELECT sum(\(ItemRow.sqlSizeWithoutValue) + \(ItemRow.sqlSizeOfValue)) FROM filing JOIN item ON item.id = filing.item \
            WHERE filing.grp = ? AND filing.term = ?
            """

        /// Returns how many bytes the rows of a group take at this point of a measured transaction. Adds them up if it
        /// is not known since an earlier one.
        ///
        /// - Parameter listings: Each row of the group is filed under one of these.
        package func bytes(ofGroup group: Int64, filedUnder listings: [Filing]) throws -> Int {
            let version = try database.integer("PRAGMA data_version") ?? 0
            return try sizes.bytes(of: group, at: version, grownBy: touched.growth[group] ?? 0) {
                try listings.reduce(sizeOfFormer(in: group)) { total, filing in
                    let statement = try database.statement(Self.sizeOfFiling)
                    defer { statement.reset() }
                    try statement.bind(filing.group, at: 1)
                    try statement.bind(filing.term, at: 2)
                    return try statement.step() ? total + Int(statement.integer(0) ?? 0) : total
                }
            }
        }

        /// - Returns: The digest of the group that the row was in; nil if there was no such row, or if its group was
        ///   malformed.
        @discardableResult
        private func deleteRow(_ rowID: Int64) throws -> Int64? {
            guard let old = try touchGroup(ofRow: rowID) else { return nil }
            try mark(old)
            try change("DELETE FROM item WHERE id = ?") { statement in
                try statement.bind(rowID, at: 1)
                try statement.run()
            }
            return old.group
        }

        /// Files the row under all of `terms`, including those that it should already be under. So each write repairs
        /// the index entries of its item.
        private func refile(_ row: ItemRow, under terms: [Int64], insteadOf oldTerms: [Int64]) throws {
            let (number, group) = (row.binding.rowID, row.binding.group)
            try unfile(number, from: Set(oldTerms).subtracting(terms), in: group)
            try file(number, under: terms, in: group)
        }

        func file(_ rowID: Int64, under terms: some Sequence<Int64>, in group: Int64) throws {
            try changeFilings(
                of: rowID, under: terms, in: group, "INSERT OR IGNORE INTO filing (grp, term, item) VALUES (?, ?, ?)")
        }

        static let unfile = "DELETE FROM filing WHERE grp = ? AND term = ? AND item = ?"

        func unfile(_ rowID: Int64, from terms: some Sequence<Int64>, in group: Int64) throws {
            try changeFilings(of: rowID, under: terms, in: group, Self.unfile)
        }

        private func changeFilings(
            of rowID: Int64, under terms: some Sequence<Int64>, in group: Int64, _ sql: String
        ) throws {
            try change(sql) { statement in
                try statement.bind(group, at: 1)
                try statement.bind(rowID, at: 3)
                for term in terms {
                    try statement.bind(term, at: 2)
                    try statement.run()
                }
            }
        }

        /// Runs `body` with the statement `sql`, which `body` runs. Clears the parameters afterwards.
        func change(_ sql: String, _ body: (SQLStatement) throws -> Void) throws {
            try database.requireTransaction()
            let statement = try database.statement(sql)
            defer { statement.clearBindings() }
            try body(statement)
        }
    }
}
