import Access
import Bytes
import Foundation
import GRDB
import Keybag
import KeychainModel
import Sealing
import TestSupport
import Testing
import VaultInterface

@testable import Items
@testable import Vault

/// Versions of items, former ones, and the changes that a vault tells of.
@Suite struct HistoryTests {
    private let vault: EmbeddedVault

    init() throws { vault = try memoryVault() }

    private static let query = ItemQuery.password("s", "a")

    private func put(_ value: String, kept: Int? = nil, in group: String? = nil) throws {
        var item = NewItem.password("s", "a", value)
        item.kept = kept.map { .atMost($0) }
        item.accessGroup = group
        _ = try vault.put(item, as: .app)
    }

    private func versions(_ query: ItemQuery = query, as client: Client = .app) throws -> [ItemVersion] {
        try vault.versions(query, as: client)
    }

    private func changes(
        since number: Int64, as client: Client = .app
    ) throws -> (items: [ChangedItem], known: KnownChanges) {
        try vault.changes(since: number, as: client)
    }

    @Test func attributesCountVersionsAndLeaveNoFormerOnes() throws {
        try put("one", kept: 5)
        let changes = ItemChanges(attributes: [.label: .string("named")])
        _ = try vault.update(Self.query, with: changes, as: .app)
        try put("two")
        #expect(try versions().map(\.item.version) == [3, 2])
        #expect(try versions().last?.item.attribute(.label) == .string("named"))
        #expect(try vault.items(Self.query).first?.version == 3)
        #expect(throws: VaultError.itemNotFound) { try vault.version(1, of: Self.query, as: .app) }
        #expect(try vault.version(2, of: Self.query, as: .app).value == Data("one".utf8))
    }

    @Test func withoutBeingToldTheVaultKeepsNothing() throws {
        try put("one")
        try put("two")
        #expect(try versions().map(\.item.version) == [2])
        _ = try vault.delete(Self.query, as: .app)
        #expect(throws: VaultError.itemNotFound) { try versions() }
        #expect(throws: VaultError.itemNotFound) { try vault.restore(nil, of: Self.query, as: .app) }
    }

    @Test func eachClientLearnsOfItsOwnGroups() throws {
        let other = Client(identifier: "other", accessGroups: ["TEAM.other"])
        try put("one", kept: 3)
        _ = try vault.add(.password("of", "another", "value"), as: other)
        #expect(try changes(since: 0).items.count == 1 && changes(since: 0, as: other).items.count == 1)
        #expect(try changes(since: 0, as: .owner).items.count == 2)
        let before = try changes(since: 0).known.next
        #expect(try changes(since: before, as: other).items.isEmpty)
        try put("two")
        #expect(throws: VaultError.itemNotFound) { try versions(as: other) }
        #expect(try changes(since: before, as: other).items.isEmpty)
        #expect(try vault.purge(nil, as: other) == 0)
        #expect(throws: VaultError.self) { try vault.keepVersions(3, as: other) }
    }

    /// Whoever holds only the old group learns that the item is gone, and sees the versions from before.
    @Test func anItemThatMovesIsGoneFromItsGroup() throws {
        let (first, second) = (
            Client(identifier: "first", accessGroups: ["TEAM.app"]),
            Client(identifier: "second", accessGroups: ["TEAM.shared"])
        )
        try put("one", kept: 3)
        try put("two")
        let start = try changes(since: 0).known.next
        _ = try vault.update(Self.query, with: ItemChanges(accessGroup: "TEAM.shared"), as: .app)
        #expect(try changes(since: start, as: first).items.map(\.isDeleted) == [true])
        #expect(try changes(since: start, as: second).items.map(\.version) == [3])
        // Who holds both groups learns last that it is there.
        #expect(try changes(since: start).items.map(\.isDeleted) == [true, false])
        #expect(try versions().map(\.item.accessGroup) == ["TEAM.shared", "TEAM.app"])
        #expect(try versions(as: second).map(\.item.version) == [3])
        #expect(throws: VaultError.itemNotFound) {
            try vault.restore(1, of: Self.query, as: second)
        }
        // The version comes back with its group.
        #expect(try vault.restore(1, of: Self.query, as: .app).accessGroup == "TEAM.app")
        #expect(try changes(since: start, as: second).items.map(\.isDeleted) == [true])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func aLockedItemShowsNoHistory() throws {
        try put("one", kept: 3)
        try put("two")
        try vault.setPasscode(.test("passcode"), options: .cheapest, as: .owner)
        try vault.lock(after: .zero, as: .owner)
        let start = try changes(since: 0).known.next
        for read: () throws -> Void in [
            { _ = try versions() }, { _ = try vault.version(1, of: Self.query, as: .app) },
            { _ = try vault.restore(1, of: Self.query, as: .app) },
        ] {
            let error = #expect(throws: VaultError.self) { try read() }
            guard case .interactionNotAllowed = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        // What changed is told without a key, and deleting needs none either. The row stays, as it had former versions.
        #expect(try changes(since: 0).items.count == 1)
        #expect(try vault.delete(Self.query, as: .app) == 1)
        #expect(try changes(since: start).items.map(\.isDeleted) == [true])
        try vault.unlock(with: .test("passcode"), as: .owner)
        #expect(try versions().map(\.item.version) == [2, 1])
        #expect(try vault.restore(nil, of: Self.query, as: .app).version == 3)
        #expect(try vault.items(Self.query).map(\.value) == [Data("two".utf8)])
    }

    @Test func anExpiredVersionIsNotRead() throws {
        var item = NewItem.password("s", "a", "one")
        item.kept = .atMost(2)
        item.expiry = .at(Date(timeIntervalSinceReferenceDate: 0))
        _ = try vault.add(item, as: .app)
        try put("two")
        #expect(throws: VaultError.itemExpired(Date(timeIntervalSinceReferenceDate: 0))) {
            try vault.version(1, of: Self.query, as: .app)
        }
        var query = Self.query
        query.includesExpired = true
        #expect(try vault.version(1, of: query, as: .app).value == Data("one".utf8))
        #expect(try versions().count == 2)
    }

    @Test func aGuardedVersionAsksForAPerson() throws {
        var item = NewItem.password("s", "a", "one")
        item.kept = .atMost(2)
        item.accessControl = AccessControl(protection: .whenUnlocked, flags: .userPresence)
        _ = try vault.add(item, as: .owner)
        var changes = ItemChanges(value: Data("two".utf8))
        changes.accessControl = AccessControl(protection: .whenUnlocked)
        #expect(throws: VaultError.self) { try vault.update(Self.query, with: changes, as: .owner) }
        #expect(throws: VaultError.self) { try vault.version(1, of: Self.query, as: .owner) }
        #expect(throws: VaultError.self) { try versions(as: .owner) }
    }

    @Test func aTombstoneIsADeletion() throws {
        var item = NewItem.password("s", "a", "one")
        item.isSynchronizable = true
        item.kept = .atMost(2)
        _ = try vault.add(item, as: .app)
        let start = try changes(since: 0).known.next
        var query = Self.query
        query.synchronizable = .any
        _ = try vault.delete(query, as: .app)
        #expect(try changes(since: start).items.map(\.isDeleted) == [true])
        #expect(try versions(query).map(\.isDeleted) == [true])
        let restored = try vault.restore(nil, of: query, as: .app)
        #expect(restored.isSynchronizable && restored.version == 3)
        #expect(try changes(since: start).items.map(\.isDeleted) == [true, false])
        #expect(try vault.items(query).map(\.value) == [Data("one".utf8)])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    /// The key of the class goes with the passcode, and all versions with it.
    @Test func versionsOfAClassWithoutAKeyGo() throws {
        try vault.setPasscode(.test("passcode"), options: .cheapest, as: .owner)
        var item = NewItem.password("s", "a", "one")
        item.kept = .atMost(3)
        item.accessControl.protection = .whenPasscodeSetThisDeviceOnly
        _ = try vault.add(item, as: .app)
        _ = try vault.update(Self.query, with: ItemChanges(value: Data("two".utf8)), as: .app)
        var other = NewItem.password("s", "b", "one")
        other.kept = .atMost(3)
        _ = try vault.add(other, as: .app)
        _ = try vault.update(.password("s", "b"), with: ItemChanges(value: Data("two".utf8)), as: .app)
        let start = try changes(since: 0).known.next
        try vault.removePasscode(.test("passcode"), as: .owner)
        #expect(try changes(since: start).items.map(\.isDeleted) == [true])
        #expect(throws: VaultError.itemNotFound) { try versions() }
        #expect(try versions(.password("s", "b")).count == 2)
        // Nothing is left of the first item.
        #expect(try vault.purge(nil, as: .app) == 1)
        #expect(try vault.verify(as: .owner) == IntegrityReport(validItems: 1, lockedItems: 0, problems: []))
    }

    /// A former version does not go with the present one, whose class lost its key.
    @Test func versionsOfAnotherClassComeBack() throws {
        try put("one", kept: 3)
        try put("two")
        try vault.setPasscode(.test("passcode"), options: .cheapest, as: .owner)
        var changes = ItemChanges(value: Data("three".utf8))
        changes.accessControl = AccessControl(protection: .whenPasscodeSetThisDeviceOnly)
        _ = try vault.update(Self.query, with: changes, as: .app)
        try vault.removePasscode(.test("passcode"), as: .owner)
        #expect(try vault.items(Self.query).isEmpty)
        #expect(try versions().map(\.item.version) == [2, 1])
        #expect(try versions().first?.isDeleted == true)
        #expect(try vault.version(1, of: Self.query, as: .app).value == Data("one".utf8))
        _ = try vault.restore(nil, of: Self.query, as: .app)
        #expect(try vault.items(Self.query).map(\.value) == [Data("two".utf8)])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func anEraseGoesOnCounting() throws {
        _ = try vault.keepVersions(3, as: .owner)
        try put("one")
        try put("two")
        let before = try changes(since: 0).known.next
        try vault.erase(as: .owner)
        let after = try changes(since: before)
        #expect(!after.known.isComplete && after.items.isEmpty && after.known.next > before)
        #expect(try changes(since: after.known.next).known == KnownChanges(next: after.known.next, isComplete: true))
        #expect(try vault.keepVersions(nil, as: .owner) == 0)
        #expect(throws: VaultError.itemNotFound) { try versions() }
        // A number that nobody was given.
        #expect(try !changes(since: after.known.next + 1).known.isComplete)
        #expect(try !changes(since: -1).known.isComplete)
    }

    @Test func tooManyKeptVersionsAreRefused() throws {
        #expect(throws: VaultError.self) { try put("one", kept: 1_001) }
        #expect(throws: VaultError.self) { try put("one", kept: -1) }
        #expect(throws: VaultError.self) { try vault.keepVersions(1_001, as: .owner) }
        try put("one", kept: 1_000)
    }

    @Test func aBackupCarriesTheVersions() throws {
        try put("one", kept: 3)
        try put("two")
        _ = try vault.add(.password("deleted", "b", "gone"), as: .app)
        _ = try vault.keepVersions(2, as: .owner)
        _ = try vault.delete(.password("deleted", "b"), as: .app)
        let before = try changes(since: 0).known.next
        let stretched = try [UInt8].random(count: 32).withUnsafeBytes { try SecretBytes(copying: $0) }
        let seal = BackupSeal.password(
            stretched: stretched, salt: .random(count: BackupSeal.saltSize), cost: Argon2Cost(memoryKiB: 8, passes: 1))
        var bytes = try vault.makeBackup(seal, as: .owner).bytes[...]
        let reader = try BackupReader { count in
            defer { bytes = bytes.dropFirst(count) }
            return Data(bytes.prefix(count))
        }
        let restored = try EmbeddedVault.inMemory(
            restoring: reader, with: RecoveryKey(stretched: stretched),
            surroundings: VaultSurroundings())
        #expect(try restored.verify(as: .owner).problems.isEmpty)
        #expect(try restored.version(1, of: Self.query, as: .app).value == Data("one".utf8))
        #expect(try restored.restore(nil, of: .password("deleted", "b"), as: .app).version == 2)
        // Whoever knows the changes of the other vault is told to read everything.
        let known = try restored.changes(since: before, as: .app).known
        #expect(!known.isComplete && known.next > before)
    }

    @Test func rowsOfAnOlderStoreAreFirstVersions() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/v2")
        try FolderContents(of: fixture.path).restore(to: path)
        let vault = try EmbeddedVault.open(at: path)
        var query = ItemQuery(itemClass: .genericPassword, attributes: [.account: .string("changed")])
        query.limit = 1
        let before = try vault.items(query, as: FixtureItems.client)
        #expect(before.map(\.version) == [1])
        var changes = ItemChanges(value: Data("later".utf8))
        changes.kept = .atMost(2)
        _ = try vault.update(query, with: changes, as: FixtureItems.client)
        #expect(try vault.items(query, as: FixtureItems.client).map(\.version) == [2])
        #expect(try vault.version(1, of: query, as: FixtureItems.client).value == before.first?.value)
        _ = try vault.update(query, with: ItemChanges(attributes: [.label: .string("named")]), as: FixtureItems.client)
        #expect(try vault.restore(1, of: query, as: FixtureItems.client).version == 4)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
        vault.close()
        _ = try FormatVectors.read(path, [])
    }
}

/// What somebody can do who writes to the file.
@Suite struct TamperedVersionTests {
    private let folder: TemporaryFolder
    private let vault: EmbeddedVault
    private let database: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
        var item = NewItem.password("s", "a", "one")
        item.kept = .atMost(3)
        _ = try vault.add(item, as: .app)
        _ = try vault.put(.password("s", "a", "two"), as: .app)
        database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: folder.path(of: "vault")))
    }

    private func tamper(_ sql: String) throws { try database.inDatabase { try $0.execute(sql: sql) } }

    private func expectDamage(_ place: SourceLocation = #_sourceLocation) throws {
        #expect(sourceLocation: place) {
            try vault.items(.password("s", "a"))
        } throws: {
            if case VaultError.corruptItem = $0 { true } else { false }
        }
        #expect(try !vault.verify(as: .owner).problems.isEmpty, sourceLocation: place)
    }

    @Test(arguments: ["3", "1", "0", "-1", "9223372036854775807"]) func anotherVersionIsDamage(_ version: String) throws
    {
        try tamper("UPDATE item SET version = \(version)")
        try expectDamage()
        // It can be removed.
        #expect(try vault.deleteDamaged(as: .owner) == 1)
    }

    @Test func aFormerVersionInThePlaceOfALaterOneIsDamage() throws {
        try tamper(
            """
            UPDATE item SET (meta, seal, data, terms) = (SELECT meta, seal, data, terms FROM former)
            """)
        try expectDamage()
    }

    @Test func aDamagedFormerVersionIsReportedAndRemoved() throws {
        try tamper("UPDATE former SET meta = zeroblob(40)")
        #expect(try vault.items(.password("s", "a")).count == 1)
        let problems = try vault.verify(as: .owner).problems
        #expect(problems.count == 1 && problems.first?.hasPrefix("version 1 of item 1: ") == true)
        #expect(throws: VaultError.self) { try vault.version(1, of: .password("s", "a"), as: .app) }
        #expect(try vault.deleteDamaged(as: .owner) == 1)
        #expect(try vault.verify(as: .owner) == IntegrityReport(validItems: 1, lockedItems: 0, problems: []))
    }

    @Test func aNumberOfAFormerVersionIsNotGivenToAnotherItem() throws {
        _ = try vault.delete(.password("s", "a"), as: .app)
        _ = try vault.add(.password("s", "b", "other"), as: .app)
        let numbers = try database.inDatabase { try Int.fetchAll($0, sql: "SELECT id FROM item") }
        #expect(numbers == [2])
        #expect(try vault.restore(1, of: .password("s", "a"), as: .app).version == 3)
        #expect(try vault.items(.password("s", "a")).map(\.value) == [Data("one".utf8)])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
        vault.close()
        try database.close()
        _ = try FormatVectors.read(folder.path(of: "vault"), [])
    }
}

/// The deletions that a store tells of.
@Suite struct DeletionMarkTests {
    private static let authorization = AccessGate.authorize(.removeUnreadable)

    @Test func whoAsksFromBeforeADroppedDeletionIsToldToReadEverything() throws {
        let store = try ItemStore.inMemory()
        let keybag = UUID()
        try store.create(for: keybag)
        let count = Int64(ItemStore.Writer.mostDeletions) + 5
        try store.write(for: Self.authorization) { writer in
            for number in 1...count {
                try writer.insert(.sample(number, in: 7), filedUnder: [])
            }
            try writer.insert(.sample(count + 1, in: 8), filedUnder: [])
        }
        for number in 1...count {
            try store.write(for: Self.authorization) { try $0.delete(number, filedUnder: []) }
        }
        func known(_ number: Int64, _ groups: [Int64]?) throws -> Bool {
            try store.read(for: Self.authorization, under: keybag) {
                try $0.knownChanges(since: number, in: groups).isComplete
            }
        }
        // The changes 2 to 6 removed the rows 1 to 5, of which nothing is known any more.
        #expect(try known(6, [7]) && known(0, [7]))
        for number in 1...5 { #expect(try !known(Int64(number), [7])) }
        #expect(try known(1, [8]))
        #expect(try !known(1, nil) && known(6, nil))
        let told = try changes(store, keybag, since: 6, most: 1_000)
        #expect(told.count == Int(count) - 5 && Set(told.map(\.identifier)).count == told.count)
        #expect(told.map(\.change) == Array(7...count + 1))
    }

    private func changes(
        _ store: ItemStore, _ keybag: UUID, since: Int64, in groups: [Int64]? = nil, most: Int
    ) throws -> [ChangedItem] {
        var (found, next) = ([ChangedItem](), ChangePosition?.some(.start))
        while let start = next {
            next = try store.read(for: Self.authorization, under: keybag) { reader in
                let last = try reader.knownChanges(since: since, in: groups).next
                var left = most
                return try reader.forEachChange(since: since, through: last, in: groups, after: start) {
                    found.append($0)
                    left -= 1
                    return left > 0
                }
            }
            guard found.count < 100_000 else { break }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 1_000]) func searchesThatFollowEachOtherFindEachChangeOnce(_ most: Int) throws {
        let store = try ItemStore.inMemory()
        let keybag = UUID()
        try store.create(for: keybag)
        let groups: [Int64] = [.min, -3, 0, 5, .max]
        // Several rows and deletions share a number, and groups have numbers in common.
        for first in stride(from: Int64(1), through: 41, by: 10) {
            try store.write(for: Self.authorization) { writer in
                for number in first..<first + 10 {
                    try writer.insert(.sample(number, in: groups[Int(number % 5)]), filedUnder: [])
                }
                for number in first..<first + 10 where first > 1 && number % 3 == 0 {
                    try writer.delete(number - 10, filedUnder: [])
                }
            }
        }
        for since in Int64(0)...5 {
            for chosen in [nil, groups, [5, .min], [-3, 404, 0], []] as [[Int64]?] {
                let all = try changes(store, keybag, since: since, in: chosen, most: .max)
                let paged = try changes(store, keybag, since: since, in: chosen, most: most)
                #expect(paged == all)
                let rows = all.filter { !$0.isDeleted }
                #expect(Set(rows.map(\.identifier)).count == rows.count)
                #expect(all.allSatisfy { $0.change > since && $0.change <= 5 })
                // As many rows are left of the changes 1 to 5.
                let left = [7, 6, 7, 7, 10].dropFirst(Int(since)).reduce(0, +)
                if chosen == nil || chosen == groups { #expect(rows.count == left) }
            }
        }
    }
}

extension ItemRow {
    fileprivate static func sample(_ number: Int64, in group: Int64) -> ItemRow {
        let binding = RowBinding(
            rowID: number, identifier: UUID(), itemClass: .genericPassword, protection: .whenUnlocked,
            isSynchronizable: false, isTombstone: false, group: group,
            primaryKey: Data(number.bigEndianBytes) + Data(count: 8), terms: [], version: 1)
        return ItemRow(binding: binding, metadata: Data([1]), value: .none)
    }
}
