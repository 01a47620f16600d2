import Access
import Bytes
import Foundation
import GRDB
import KeychainModel
import SecureMemory
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// Whoever can write to the item store cannot make an item answer with something else than what was
/// stored in it.
@Suite(.serialized) struct MovedFieldTests {
    /// A vault on disk, and another connection to its store that knows nothing of keys.
    private struct Target {
        let folder: TemporaryFolder
        let vault: EmbeddedVault
        let database: DatabaseQueue
        /// Without the number of the change, which is not sealed: it tells when a row became what it is, to those who
        /// ask what changed.
        let columns: [String]

        init() throws {
            folder = try TemporaryFolder()
            vault = try EmbeddedVault.open(
                at: folder.path(of: "vault"),
                surroundings: VaultSurroundings(passwordCost: Argon2id.Cost(memoryKiB: 8, passes: 1)))
            database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: folder.path(of: "vault")))
            columns = try database.read { try $0.columns(in: "item").map(\.name) }
                .filter { $0 != "change" }
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        }

        func row(_ id: Int) throws -> Row {
            try #require(
                try database.read { try Row.fetchOne($0, sql: "SELECT * FROM item WHERE id = ?", arguments: [id]) })
        }

        /// Makes the table consist of exactly these rows.
        func put(_ rows: [[String: DatabaseValue]]) throws {
            try database.write { database in
                try database.execute(sql: "DELETE FROM item")
                let columns = columns + ["change"]
                let marks = columns.map { _ in "?" }.joined(separator: ", ")
                for row in rows {
                    try database.execute(
                        sql: "INSERT INTO item (\(columns.joined(separator: ", "))) VALUES (\(marks))",
                        arguments: StatementArguments(columns.map { row[$0] ?? .null }))
                }
            }
        }
    }

    private static func values(_ row: Row) -> [String: DatabaseValue] {
        Dictionary(uniqueKeysWithValues: row.map { ($0.0, $0.1) })
    }

    /// Everything the vault says about items: found by class, by attribute and by identifier.
    private static func answers(of vault: EmbeddedVault, to queries: [ItemQuery]) -> [Result<[StoredItem], VaultError>]
    {
        queries.map { query in
            Result { () throws(VaultError) in try vault.items(query, as: .owner) }
        }
    }

    @Test func nothingMovesBetweenDifferentRows() throws {
        let target = try Target()
        let first = NewItem(
            itemClass: .genericPassword, attributes: [.service: .string("s"), .account: .string("a")],
            accessGroup: "TEAM.app", accessControl: AccessControl(protection: .whenUnlocked), value: Data("one".utf8))
        let second = NewItem(
            itemClass: .internetPassword, attributes: [.server: .string("s"), .account: .string("b")],
            accessGroup: "TEAM.shared", accessControl: AccessControl(protection: .afterFirstUnlock),
            isSynchronizable: true, value: Data("two".utf8))
        let stored = try [first, second].map { try target.vault.add($0, as: .app) }
        // Another version than the second.
        let named = ItemChanges(attributes: [.label: .string("label")])
        _ = try target.vault.update(.password("s", "a"), with: named, as: .app)
        var queries = ItemClass.stored.map { ItemQuery(itemClass: $0, synchronizable: .any) }
        for item in stored {
            for itemClass in [ItemClass.genericPassword, .internetPassword] {
                queries.append(ItemQuery(itemClass: itemClass, synchronizable: .any, identifier: item.identifier))
                queries.append(
                    ItemQuery(
                        itemClass: itemClass, attributes: [.account: .string(item.accountName)], synchronizable: .any))
            }
        }
        let rows = try [Self.values(target.row(1)), Self.values(target.row(2))]
        for column in target.columns { #expect(rows[0][column] != rows[1][column], "\(column) differs") }

        let subsets = 1..<((1 << target.columns.count) - 1)
        var random = SeededGenerator()
        let chosen =
            TestScale.isSoak
            ? Array(subsets)
            : target.columns.indices.flatMap { [1 << $0, subsets.upperBound ^ (1 << $0)] }
                + (0..<100).map { _ in Int.random(in: subsets, using: &random) }
        for subset in chosen {
            let moved = target.columns.enumerated().filter { subset & (1 << $0.offset) != 0 }.map(\.element)
            var swapped = rows
            for column in moved {
                swapped[0][column] = rows[1][column]
                swapped[1][column] = rows[0][column]
            }
            try target.put(swapped)
            for answer in Self.answers(of: target.vault, to: queries) {
                switch answer {
                case .success(let items): #expect(items.isEmpty, "moved \(moved)")
                case .failure(.corruptItem): break
                case .failure(let error): Issue.record("\(error) after moving \(moved)")
                }
            }
            #expect(try target.vault.verify(as: .owner).problems.count == 2, "moved \(moved)")
        }

        // The test's own moves are not what made the items unreadable.
        try target.put(rows)
        #expect(try target.vault.allItems().values.map(\.value).count == 2)
        #expect(try target.vault.verify(as: .owner).problems.isEmpty)
    }

    /// Rows that agree in everything a row says openly, so that only what is sealed tells them apart.
    @Test func nothingMovesBetweenLikeRows() throws {
        let target = try Target()
        let stored = try ["a", "b"].map { try target.vault.add(.password("s", $0, "value of \($0)"), as: .app) }
        let originals = Dictionary(uniqueKeysWithValues: stored.map { ($0.identifier, $0) })
        let queries =
            [ItemQuery.password("s", limit: nil), .password("s", "a", limit: nil), .password("s", "b", limit: nil)]
        let rows = try [Self.values(target.row(1)), Self.values(target.row(2))]
        let different = target.columns.filter { rows[0][$0] != rows[1][$0] }
        #expect(Set(target.columns).subtracting(different) == ["class", "grp", "pdmn", "flags", "version"])
        for subset in 1..<((1 << different.count) - 1) {
            let moved = different.enumerated().filter { subset & (1 << $0.offset) != 0 }.map(\.element)
            var swapped = rows
            for column in moved {
                swapped[0][column] = rows[1][column]
                swapped[1][column] = rows[0][column]
            }
            try target.put(swapped)
            for answer in Self.answers(of: target.vault, to: queries) {
                guard case .success(let items) = answer else { continue }
                #expect(items.allSatisfy { originals[$0.identifier] == $0 }, "moved \(moved)")
            }
            #expect(try target.vault.verify(as: .owner).problems.count == 2, "moved \(moved)")
        }
    }

    /// The head of a seal cannot be cut off, nor put before another item's.
    @Test func whatOpensAnItemDoesNotMove() throws {
        let target = try Target()
        let password = try SecretBytes("pw")
        for account in ["a", "b"] {
            var item = NewItem.password("s", account, "value of \(account)")
            item.accessControl.flags = .applicationPassword
            item.authentication.applicationPassword = password
            _ = try target.vault.add(item, as: .app)
        }
        let rows = try [Self.values(target.row(1)), Self.values(target.row(2))]
        let seals = rows.compactMap { Data.fromDatabaseValue($0["seal"] ?? .null) }
        #expect(seals.map(\.count) == [94, 94])
        var query = ItemQuery.password("s", "a")
        query.authentication.applicationPassword = password
        #expect(try target.vault.items(query).map(\.value) == [Data("value of a".utf8)])
        for seal in [seals[0].suffix(68), seals[1].prefix(26) + seals[0].suffix(68), seals[1], Data()] {
            var row = rows[0]
            row["seal"] = Data(seal).databaseValue
            try target.put([row, rows[1]])
            let error = #expect(throws: VaultError.self) { try target.vault.items(query) }
            guard case .corruptItem(1, _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func onesOwnPastDoesNotReturnInParts() throws {
        let target = try Target()
        let query = ItemQuery.password("s", "a")
        _ = try target.vault.add(.password("s", "a", "old"), as: .app)
        let old = Self.values(try target.row(1))
        _ = try target.vault.update(query, with: ItemChanges(value: Data("new".utf8)), as: .app)
        let new = Self.values(try target.row(1))
        let changed = target.columns.filter { old[$0] != new[$0] }
        #expect(changed == ["version", "meta", "seal", "data"])
        for subset in 1..<((1 << changed.count) - 1) {
            var row = new
            for (place, column) in changed.enumerated() where subset & (1 << place) != 0 { row[column] = old[column] }
            try target.put([row])
            #expect(throws: VaultError.corruptItem(row: 1, reason: "it does not verify")) {
                try target.vault.copy(query, includingValues: true, as: .app)
            }
        }
    }

    @Test func aTombstoneIsNoItem() throws {
        let target = try Target()
        var item = NewItem.password("s", "a", "value")
        item.isSynchronizable = true
        _ = try target.vault.add(item, as: .app)
        var query = ItemQuery.password("s", "a")
        query.synchronizable = .any
        let live = Self.values(try target.row(1))
        _ = try target.vault.delete(query, as: .app)
        var raised = Self.values(try target.row(1))
        raised["flags"] = live["flags"]
        try target.put([raised])
        #expect(throws: VaultError.corruptItem(row: 1, reason: "it does not verify")) {
            try target.vault.copy(query, includingValues: true, as: .app)
        }
    }

    /// A value that is cut off altogether must not turn into an item without one.
    @Test func aValueDoesNotVanish() throws {
        let target = try Target()
        _ = try target.vault.add(.password("s", "a", "value"), as: .app)
        var row = Self.values(try target.row(1))
        row["seal"] = Data().databaseValue
        row["data"] = Data().databaseValue
        try target.put([row])
        #expect(throws: VaultError.corruptItem(row: 1, reason: "it does not verify")) {
            try target.vault.copy(.password("s", "a"), includingValues: true, as: .app)
        }
    }
}
