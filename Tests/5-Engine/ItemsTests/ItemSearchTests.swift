import Access
import Foundation
import KeychainModel
import Sealing
import Synchronization
import SystemSQLite
import Testing

@testable import Items

/// Which rows a search visits, and how it goes on where another one ended.
struct ItemSearchTests {
    /// What the rows of the store are filed under besides a term of their own.
    private static let (common, rare, listing) = (Int64(-7), Int64(8), Int64(9))
    private static let groups: [Int64] = [.min, -3, 0, 5, .max]
    private static let rowsOfGroup: Int64 = 7
    private static let authorization = AccessGate.authorize(.removeUnreadable)

    private let store: ItemStore
    private let keybag = UUID()

    init() throws {
        store = try ItemStore.inMemory()
        try store.create(for: keybag)
        try store.write(for: Self.authorization) { writer in
            // Rows of all groups in turn, so that their order by number is not the one by group.
            for number in 1...Self.rowsOfGroup * Int64(Self.groups.count) {
                let group = Self.groups[Int(number) % Self.groups.count]
                let terms = number % 3 == 0 ? [Self.common, Self.rare] : [Self.common]
                let binding = RowBinding(
                    rowID: number, identifier: UUID(), itemClass: .genericPassword, protection: .whenUnlocked,
                    isSynchronizable: false, isTombstone: false, group: group,
                    primaryKey: Data(repeating: UInt8(number), count: 16), terms: terms.sorted(), version: 1)
                try writer.insert(
                    ItemRow(binding: binding, metadata: Data([1]), value: .none), filedUnder: terms + [Self.listing])
            }
        }
    }

    /// What a part of a transaction undoes counts for nothing: the store does not seem to go back behind it.
    @Test func whatIsUndoneIsNoChange() throws {
        struct Undone: Error {}
        func row(_ number: Int64) -> ItemRow {
            ItemRow(
                binding: RowBinding(
                    rowID: number, identifier: UUID(), itemClass: .genericPassword, protection: .whenUnlocked,
                    isSynchronizable: false, isTombstone: false, group: 5,
                    primaryKey: Data(repeating: UInt8(number - 900), count: 16), terms: [], version: 1),
                metadata: Data([1]), value: .none)
        }
        func undo(_ number: Int64, _ writer: ItemStore.Writer) {
            #expect(throws: Undone.self) {
                try writer.circle.attempt {
                    try writer.insert(row(number), filedUnder: [])
                    throw Undone()
                }
            }
        }
        func check(_ numbers: [Int64]) throws {
            try store.read(for: Self.authorization, under: keybag) { reader in
                try reader.checkVault()
                #expect(try (1_000...1_004).filter { try reader.row($0) != nil } == numbers)
            }
        }
        try store.write(for: Self.authorization, under: keybag) { undo(1_000, $0) }
        try check([])
        try store.write(for: Self.authorization, under: keybag) { writer in
            undo(1_001, writer)
            try writer.insert(row(1_002), filedUnder: [])
            undo(1_003, writer)
        }
        try check([1_002])
        try store.write(for: Self.authorization, under: keybag) { try $0.insert(row(1_004), filedUnder: []) }
        try check([1_002, 1_004])
    }

    private static func search(_ seek: Seek, in groups: [Int64]? = nil) -> ItemSearch {
        switch seek {
        case .terms(let terms):
            ItemSearch(
                itemClass: .genericPassword, seek: .terms, terms: SearchTerms([.init(filed: terms)]), groups: groups)
        case .other(let seek): ItemSearch(itemClass: .genericPassword, seek: seek, groups: groups)
        }
    }

    private enum Seek {
        case terms([Int64])
        case other(ItemSearch.Seek)
    }

    private static let searches: [(seek: Seek, isRare: Bool)] = [
        (.terms([common]), false), (.terms([common, rare]), true), (.terms([rare, common]), true),
        (.other(.filed(listing)), false),
    ]

    private static func expected(in groups: [Int64], isRare: Bool) -> [Int64] {
        groups.flatMap { group in
            (1...rowsOfGroup * Int64(Self.groups.count)).filter {
                Self.groups[Int($0) % Self.groups.count] == group && (!isRare || $0 % 3 == 0)
            }
        }
    }

    /// Returns the rows that are found by searches that end after `count` rows and go on.
    private func rows(_ search: ItemSearch, at most: Int) throws -> [Int64] {
        var (found, next): ([Int64], SearchPosition?) = ([], .start)
        while let start = next {
            next = try store.read(for: Self.authorization, under: keybag) { reader in
                var left = most
                return try reader.forEach(search, after: start, includingCiphertext: false) { row in
                    found.append(row.binding.rowID)
                    left -= 1
                    return left > 0
                }
            }
            guard found.count < 1_000 else { break }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 1_000]) func searchesThatFollowEachOtherFindEachRowOnce(_ most: Int) throws {
        for (seek, isRare) in Self.searches {
            for groups in [[], [5], [.max, .min], [0, 77, -3], Self.groups] {
                let found = try rows(Self.search(seek, in: groups), at: most)
                #expect(found == Self.expected(in: groups, isRare: isRare), "\(seek) in \(groups)")
            }
            let found = try rows(Self.search(seek), at: most)
            #expect(found == Self.expected(in: Self.groups.sorted(), isRare: isRare), "\(seek)")
        }
        let filings = [5, 77, -3].map { Filing(Self.listing, in: $0) }
        #expect(
            try rows(Self.search(.other(.listed(filings)), in: [5, -3]), at: most)
                == Self.expected(in: [5, -3], isRare: false))
        #expect(try rows(Self.search(.other(.everything)), at: most) == Array(1...35))
    }

    /// The terms under a further key are made only by a search that does not end before.
    @Test func termsUnderAnotherKeyAreMadeWhenNeeded() throws {
        let made = Mutex(0)
        let search = ItemSearch(
            itemClass: .genericPassword, seek: .terms,
            terms: SearchTerms([.init(filed: [Self.rare], required: [Self.rare])]) {
                made.withLock { $0 += 1 }
                return .init(filed: [Self.common], required: [Self.common])
            }, groups: [5])
        try store.read(for: Self.authorization, under: keybag) { reader in
            var first: [Int64] = []
            let place = try reader.forEach(search, includingCiphertext: false) { row in
                first.append(row.binding.rowID)
                return false
            }
            #expect(first == Array(Self.expected(in: [5], isRare: true).prefix(1)))
            #expect(made.withLock { $0 } == 0)
            var rest: [Int64] = []
            _ = try reader.forEach(search, after: #require(place), includingCiphertext: false) { row in
                rest.append(row.binding.rowID)
                return true
            }
            // The rare rows are found under both.
            #expect(
                first + rest == Self.expected(in: [5], isRare: true) + Self.expected(in: [5], isRare: false))
            #expect(made.withLock { $0 } == 1)
        }
    }

    @Test func searchesOfAnotherKeybagFailWhetherTheyFindRowsOrNot() throws {
        let others: [ItemSearch.Seek] = [
            .filed(Self.listing), .filed(404), .listed([]), .listed([Filing(Self.listing, in: 5)]),
            .primaryKeys([Data(count: 16)]), .everything,
        ]
        let seeks: [Seek] =
            [.terms([Self.common]), .terms([Self.common, Self.rare]), .terms([404])] + others.map { .other($0) }
        for seek in seeks {
            for groups in [nil, [], [5], [404], [5, 404]] as [[Int64]?] {
                #expect(throws: StoreError.otherKeybag) {
                    try store.read(for: Self.authorization, under: UUID()) { reader in
                        try reader.rows(Self.search(seek, in: groups), includingCiphertext: false)
                    }
                }
            }
        }
    }

    @Test func countsAreThoseOfTheFiledRows() throws {
        func counts(_ groups: [Int64]) throws -> [ItemClass: Int] {
            try store.counts(
                for: Self.authorization,
                filedUnder: [.genericPassword: groups.map { Filing(Self.listing, in: $0) }, .key: []])
        }
        #expect(try counts([]) == [:])
        #expect(try counts([5]) == [.genericPassword: 7])
        #expect(try counts([5, 77, .min]) == [.genericPassword: 14])
        #expect(try store.counts(for: Self.authorization, filedUnder: nil) == [.genericPassword: 35])
    }

    @Test func aRowThatMovesIsFiledInItsNewGroupOnly() throws {
        let search = Self.search(.other(.filed(Self.listing)), in: [5])
        try store.write(for: Self.authorization) { writer in
            var row = try #require(try writer.reader.rows(search, includingCiphertext: true).first)
            let terms = row.binding.terms + [Self.listing]
            row.binding.group = 77
            try writer.replace(row, filedUnder: terms, insteadOf: terms)
            #expect(try writer.reader.filings(of: row.binding.rowID, in: 5, under: Set(terms)) == 0)
            #expect(try writer.reader.filings(of: row.binding.rowID, in: 77, under: Set(terms)) == terms.count)
            #expect(try writer.reader.rows(search, includingCiphertext: false).count == 6)
            try writer.delete(row.binding.rowID, filedUnder: terms)
            #expect(try writer.reader.filings(of: row.binding.rowID, in: 77, under: Set(terms)) == 0)
        }
    }

    /// How SQLite finds the rows: by the key of a table, and in its order. It sorts nothing and walks through nothing.
    @Test(
        arguments: [
            (ItemStore.Reader.byFiling, "filing USING PRIMARY KEY (grp=? AND term=? AND item>?)"),
            (ItemStore.Reader.firstGroup, "filing USING PRIMARY KEY (grp>?)"),
            (ItemStore.Reader.byPrimaryKey, "item USING INDEX sqlite_autoindex_item_1 (pk=?)"),
            (ItemStore.Reader.all, "item USING INTEGER PRIMARY KEY (rowid>?)"),
            (ItemStore.Reader.countOfFiling, "filing USING PRIMARY KEY (grp=? AND term=?)"),
            (ItemStore.Reader.liveRows, "filing USING PRIMARY KEY (grp=? AND term=?)"),
            (ItemStore.Reader.filings, "filing USING PRIMARY KEY (grp=? AND term=? AND item=?)"),
            (ItemStore.Writer.sizeOfFiling, "filing USING PRIMARY KEY (grp=? AND term=?)"),
            (ItemStore.Writer.unfile, "filing USING PRIMARY KEY (grp=? AND term=? AND item=?)"),
            (ItemStore.Reader.restOfChange[0], "deletion USING PRIMARY KEY (grp=? AND change=? AND uuid>?)"),
            (ItemStore.Reader.restOfChange[1], "item USING INDEX item_change (grp=? AND change=? AND rowid>?)"),
            (ItemStore.Reader.laterChanges[0], "deletion USING PRIMARY KEY (grp=? AND change>? AND change<?)"),
            (ItemStore.Reader.laterChanges[1], "item USING INDEX item_change (grp=? AND change>? AND change<?)"),
            (ItemStore.Reader.nextChangedGroup[0], "deletion USING PRIMARY KEY (grp>?)"),
            (ItemStore.Reader.nextChangedGroup[1], "item USING COVERING INDEX item_change (grp>?)"),
            (ItemStore.Reader.dropped, "trail USING INTEGER PRIMARY KEY (rowid=?)"),
            (ItemStore.Writer.oldestDeletion, "deletion USING PRIMARY KEY (grp=? AND change=?)"),
            (ItemStore.Writer.nextNumber, "former USING COVERING INDEX sqlite_autoindex_former_1"),
            (ItemStore.Reader.formerOfRow, "former USING INDEX sqlite_autoindex_former_1 (id=? AND version<?)"),
            (ItemStore.Reader.formerVersion, "former USING INDEX sqlite_autoindex_former_1 (id=? AND version=?)"),
            (ItemStore.Reader.placesOfRow, "former USING INDEX sqlite_autoindex_former_1 (id=?)"),
            (ItemStore.Reader.deleted, "former USING INDEX former_group (grp=? AND deleted=? AND id>?)"),
            (ItemStore.Reader.nextFormerGroup, "former USING COVERING INDEX former_group (grp>?)"),
            (ItemStore.Writer.surplusOfRow, "former USING COVERING INDEX sqlite_autoindex_former_1 (id=?)"),
            (ItemStore.Writer.surplusOfKey, "former USING INDEX former_key (pk=?)"),
            (ItemStore.Writer.sizeOfFormer, "former USING INDEX former_group (grp=?)"),
        ]) func eachStatementUsesAKey(_ sql: String, _ expected: String) throws
    {
        let plan = try store.withConnection { database in
            let statement = try database.prepare("EXPLAIN QUERY PLAN " + sql)
            var plan: [String] = []
            while try statement.step() { plan.append(statement.text(3) ?? "") }
            return plan
        }
        #expect(plan.contains("SEARCH " + expected), "\(plan)")
        for line in plan {
            #expect(!line.contains("TEMP B-TREE"), "\(plan)")
            let isConstant = line.contains("subquery") || line.contains("CONSTANT ROW")
            #expect(!line.contains("SCAN") || isConstant, "\(plan)")
        }
    }
}
