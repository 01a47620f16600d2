import Bytes
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
        /// The store has come at least to this change.
        let floor: Int64
        /// Learns to which change the store has come; nil in a transaction, which may be undone.
        let newest: NewestChange?

        // Each row includes the keybag and the last change, so that they are read at the same moment.
        private static let selection = "SELECT \(ItemRow.columns(of: "item")), vault.owner, vault.sequence FROM "
        static let byPrimaryKey = selection + "item JOIN vault ON vault.id = 1 WHERE pk = ?"
        static let byFiling =
            selection + """
                filing JOIN item ON item.id = filing.item JOIN vault ON vault.id = 1 \
                WHERE filing.grp = ? AND filing.term = ? AND filing.item > ? ORDER BY filing.item
                """
        static let all = selection + "item JOIN vault ON vault.id = 1 WHERE item.id > ? ORDER BY item.id"
        static let countOfFiling = "SELECT count(*) FROM (SELECT 1 FROM filing WHERE grp = ? AND term = ? LIMIT 1000)"
        static let firstGroup = "SELECT grp FROM filing WHERE grp >= ? ORDER BY grp LIMIT 1"
        static let filings = "SELECT count(*) FROM filing WHERE grp = ? AND term = ? AND item = ?"
        static let ownerColumn = ItemRow.columnCount

        /// Runs `body` with each row that `search` accepts, until `body` returns false. Chooses the statement that
        /// visits the fewest rows.
        ///
        /// A search that is limited to groups visits only filings and rows of these groups, so that other
        /// groups do not change its work. It finds the rows of the first group first.
        ///
        /// A row that is there, and in the same group, from the first to the last of several searches that follow each
        /// other is visited once.
        ///
        /// - Parameters:
        ///   - start: Where an earlier search with the same conditions ended.
        ///   - admits: Returns whether there is room for the ciphertext of the next row, with its size; false ends the
        ///     search before that row.
        ///   - malformed: Receives the error of each malformed row, which is then skipped.
        /// - Returns: Where the search ended early; nil after the last row.
        /// - Throws: ``StoreError/otherKeybag`` if the rows are not sealed with the reader's keybag.
        @discardableResult
        package func forEach(
            _ search: ItemSearch, after start: SearchPosition = .start, includingCiphertext: Bool,
            admits: (Int) -> Bool = { _ in true }, malformed: (StoreError) throws -> Void = { throw $0 },
            _ body: (ItemRow) throws -> Bool
        ) throws -> SearchPosition? {
            var scan = Scan(position: start, terms: search.terms)
            /// Returns false if the search ends with this row.
            func take(_ statement: SQLStatement, _ scan: inout Scan) throws -> Bool {
                let binding: RowBinding
                do {
                    binding = try ItemRow.binding(statement)
                } catch {
                    try malformed(error)
                    return true
                }
                guard search.accepts(binding, &scan.terms) else { return true }
                if includingCiphertext, !admits(ItemRow.ciphertextSize(statement)) { return false }
                let row = try ItemRow(statement, binding: binding, includingCiphertext: includingCiphertext)
                scan.position.row = binding.rowID
                return try body(row)
            }
            guard try visitRanges(of: search, &scan, take) else { return scan.position }
            switch search.seek {
            case .primaryKeys(let digests):
                for digest in digests {
                    guard try visit(Self.byPrimaryKey, &scan, take, binding: { try $0.bind(digest, at: 1) }) else {
                        return scan.position
                    }
                }
            case .everything:
                let row = scan.position.row
                guard try visit(Self.all, &scan, take, binding: { try $0.bind(row, at: 1) }) else {
                    return scan.position
                }
            case .terms, .filed, .listed: break
            }
            if !scan.isOwnerKnown, keybag != nil { try checkVault() }
            return nil
        }

        /// How far a search has come.
        private struct Scan {
            var position: SearchPosition
            var terms: SearchTerms
            /// Whether the last statement found a row, and with it the keybag.
            var isOwnerKnown = false
        }

        /// Runs `take` with each row of a statement, until it returns false.
        ///
        /// - Returns: False if the search ended early.
        private func visit(
            _ sql: String, _ scan: inout Scan, _ take: (SQLStatement, inout Scan) throws -> Bool,
            binding bind: (SQLStatement) throws -> Void
        ) throws -> Bool {
            let statement = try database.statement(sql)
            defer { statement.reset() }
            try bind(statement)
            scan.isOwnerKnown = false
            while try statement.step() {
                if !scan.isOwnerKnown {
                    scan.isOwnerKnown = true
                    try checkOwner(statement)
                }
                guard try take(statement, &scan) else { return false }
            }
            return true
        }

        private func visitRanges(
            of search: ItemSearch, _ scan: inout Scan, _ take: (SQLStatement, inout Scan) throws -> Bool
        ) throws -> Bool {
            let start = scan.position.range
            for (number, range) in (search.ranges ?? []).enumerated().dropFirst(start) {
                if number > scan.position.range {
                    scan.position = SearchPosition(range: number, group: .min, row: .min)
                }
                if let group = range.group {
                    guard try visit(range, in: group, &scan, take) else { return false }
                    continue
                }
                while let group = try firstGroup(from: scan.position.group) {
                    if group > scan.position.group { (scan.position.group, scan.position.row) = (group, .min) }
                    guard try visit(range, in: group, &scan, take) else { return false }
                    guard group < .max else { break }
                    (scan.position.group, scan.position.row) = (group + 1, .min)
                }
            }
            return true
        }

        private func visit(
            _ range: ItemSearch.Range, in group: Int64, _ scan: inout Scan,
            _ take: (SQLStatement, inout Scan) throws -> Bool
        ) throws -> Bool {
            scan.isOwnerKnown = false
            let terms =
                switch range.terms {
                case .one(let term): [term]
                case .ofSearch(let key): scan.terms.list(key).filed
                }
            // The rows that are looked for are under each term, in the same order. So it does not matter which term an
            // earlier search used.
            guard let term = try rarest(of: terms, in: group) else { return true }
            let row = scan.position.row
            return try visit(Self.byFiling, &scan, take) {
                try $0.bind(group, at: 1)
                try $0.bind(term, at: 2)
                try $0.bind(row, at: 3)
            }
        }

        /// Returns the first group, by its digest, that is `group` or comes after it; nil if there is none.
        private func firstGroup(from group: Int64) throws -> Int64? {
            let statement = try database.statement(Self.firstGroup)
            defer { statement.reset() }
            try statement.bind(group, at: 1)
            return try statement.step() ? statement.integer(0) : nil
        }

        /// Returns the term with the fewest rows in a group; nil if one of them has none. Counts only as far as needed
        /// to compare.
        private func rarest(of terms: [Int64], in group: Int64) throws -> Int64? {
            guard terms.count > 1 else { return terms.first }
            var best: (term: Int64, count: Int64)?
            for term in terms {
                let statement = try database.statement(Self.countOfFiling)
                defer { statement.reset() }
                try statement.bind(group, at: 1)
                try statement.bind(term, at: 2)
                let count = try statement.step() ? statement.integer(0) ?? 0 : 0
                if count == 0 { return nil }
                if count < best?.count ?? .max { best = (term, count) }
                if count == 1 { break }
            }
            return best?.term
        }

        package func rows(_ search: ItemSearch, includingCiphertext: Bool) throws -> [ItemRow] {
            var rows: [ItemRow] = []
            try forEach(search, includingCiphertext: includingCiphertext) {
                rows.append($0)
                return true
            }
            return rows
        }

        func checkOwner(_ row: SQLStatement) throws(StoreError) {
            let owner = row.withBlob(Self.ownerColumn) { UUID(bytes: $0) } ?? nil
            try check(owner, sequence: row.integer(Self.ownerColumn + 1) ?? 0)
        }

        /// Checks what ``checkOwner(_:)`` does where there is no row.
        func checkVault() throws {
            let (owner, sequence) = try Schema.vault(in: database)
            try check(owner, sequence: sequence)
        }

        private func check(_ owner: UUID?, sequence: Int64) throws(StoreError) {
            guard keybag == nil || owner == keybag else { throw .otherKeybag }
            guard sequence >= floor else { throw .corrupt(reason: "it is an older copy than a moment ago") }
            newest?.raise(to: sequence)
        }

        static let anyFiling = "SELECT 1 FROM filing WHERE grp = ? AND term = ? LIMIT 1"

        /// Returns whether there is a row that is filed under one of these.
        package func hasRow(filedUnder filings: [Filing]) throws -> Bool {
            try filings.contains { filing in
                let statement = try database.statement(Self.anyFiling)
                defer { statement.reset() }
                try statement.bind(filing.group, at: 1)
                try statement.bind(filing.term, at: 2)
                return try statement.step()
            }
        }

        /// Returns whether there is an item of a class that needs an unlocking, in any group.
        package func hasClosedRow(_ itemClass: ItemClass) throws -> Bool {
            let statement = try database.statement(
                "SELECT 1 FROM item WHERE class = ? AND version > 0 AND pdmn NOT IN (\(Self.openClasses)) LIMIT 1")
            defer { statement.reset() }
            try statement.bind(Int64(itemClass.storedCode), at: 1)
            return try statement.step()
        }

        private static let openClasses =
            ProtectionClass.allCases.filter { !$0.isClosed }.map { "\($0.storedCode)" }.joined(separator: ", ")

        static let deletedClosedRow =
            "SELECT 1 FROM former WHERE grp = ? AND deleted = 1 AND class = ? AND pdmn NOT IN (\(openClasses)) LIMIT 1"

        /// Returns whether there is a deleted item of a class that needs an unlocking.
        ///
        /// - Parameter groups: The digests of the groups that count; nil for all.
        package func hasDeletedClosedRow(_ itemClass: ItemClass, in groups: [Int64]?) throws -> Bool {
            guard let groups else {
                let statement = try database.statement(
                    "SELECT 1 FROM former WHERE deleted = 1 AND class = ? AND pdmn NOT IN (\(Self.openClasses)) LIMIT 1"
                )
                defer { statement.reset() }
                try statement.bind(Int64(itemClass.storedCode), at: 1)
                return try statement.step()
            }
            return try groups.contains { group in
                let statement = try database.statement(Self.deletedClosedRow)
                defer { statement.reset() }
                try statement.bind(group, at: 1)
                try statement.bind(Int64(itemClass.storedCode), at: 2)
                return try statement.step()
            }
        }

        static let oldRows = "SELECT id FROM item WHERE version = 0 AND id > ? AND flags & 2 = 0 ORDER BY id LIMIT ?"

        /// Returns the numbers of rows of version 0, which earlier software wrote, without tombstones.
        package func oldRows(after number: Int64, limit: Int) throws -> [Int64] {
            let statement = try database.statement(Self.oldRows)
            defer { statement.reset() }
            try statement.bind(number, at: 1)
            try statement.bind(Int64(limit), at: 2)
            var found: [Int64] = []
            while try statement.step() { if let number = statement.integer(0) { found.append(number) } }
            return found
        }

        static let byNumber = selection + "item JOIN vault ON vault.id = 1 WHERE item.id = ?"

        /// Returns the row with this number; nil if there is none.
        package func row(_ number: Int64, includingCiphertext: Bool = false) throws -> ItemRow? {
            let statement = try database.statement(Self.byNumber)
            defer { statement.reset() }
            try statement.bind(number, at: 1)
            guard try statement.step() else { return nil }
            return try ItemRow(
                statement, binding: ItemRow.binding(statement), includingCiphertext: includingCiphertext)
        }

        /// Returns whether a row has this number, or a former version of an item.
        package func hasRow(_ rowID: Int64) throws -> Bool {
            let statement = try database.statement(
                "SELECT 1 FROM item WHERE id = ?1 UNION ALL SELECT 1 FROM former WHERE id = ?1")
            defer { statement.reset() }
            try statement.bind(rowID, at: 1)
            return try statement.step()
        }

        /// Runs `body` for every row of the table, or with the reason why a row cannot be read. All rows are those of
        /// one moment.
        ///
        /// - Throws: ``StoreError/otherKeybag``, before the first row, if the rows are not sealed with the reader's
        ///   keybag.
        package func forEachRow(_ body: (Result<ItemRow, StoreError>) throws -> Void) throws {
            let statement = try database.statement(
                Self.selection + "item JOIN vault ON vault.id = 1 ORDER BY item.id")
            defer { statement.reset() }
            var isFirst = true
            while try statement.step() {
                if isFirst {
                    isFirst = false
                    try checkOwner(statement)
                }
                try body(
                    Result { () throws(StoreError) in
                        try ItemRow(statement, binding: ItemRow.binding(statement), includingCiphertext: true)
                    })
            }
            if isFirst, keybag != nil { try checkVault() }
        }

        /// Returns under how many of `terms` the row is filed in the group with this digest.
        package func filings(of rowID: Int64, in group: Int64, under terms: Set<Int64>) throws -> Int {
            let statement = try database.statement(Self.filings)
            defer { statement.reset() }
            var found = 0
            for term in terms {
                try statement.bind(group, at: 1)
                try statement.bind(term, at: 2)
                try statement.bind(rowID, at: 3)
                if try statement.step(), statement.integer(0) == 1 { found += 1 }
                statement.reset()
            }
            return found
        }
    }
}
