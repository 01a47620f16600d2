import Access
import Foundation
import GRDB
import KeychainModel
import StatusCodes
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// A program whose rule has a quota fills no group beyond it, and goes on otherwise.
@Suite struct QuotaTests {
    private static let quota = 20_000
    private let server: ServerUnderTest
    private let vault: RemoteVault

    init() throws {
        VisitedRows.watch()
        server = try ServerUnderTest(
            ServerUnderTest.patient,
            rules: [.ownProgram(["TEAM.app"], quota: Self.quota), .ownProgram(["TEAM.shared"])])
        vault = try server.connect()
    }

    private static func item(_ account: String, size: Int, group: String = "TEAM.app") -> NewItem {
        var item = NewItem.password("filled", account, "")
        item.value = Data(repeating: 7, count: size)
        item.accessGroup = group
        return item
    }

    private static func query(_ account: String, group: String = "TEAM.app") -> ItemQuery {
        var query = ItemQuery.password("filled", account)
        query.accessGroup = group
        return query
    }

    private static let refusal = VaultError.quotaExceeded(group: "TEAM.app", limit: quota)

    /// Returns what all rows of a group hold, as the file says.
    private func bytes(ofGroupOf account: String) throws -> Int {
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: server.folder.path(of: "vault")))
        defer { try? database.close() }
        let identifier = try #require(
            try vault.items(Self.query(account), as: vault.granted).first?.identifier)
        return try database.read { database in
            try #require(
                try Int.fetchOne(
                    database,
                    sql: """
                        SELECT sum(156 + 4 * length(terms) + length(meta) + length(seal) + length(data)) FROM item
                        WHERE grp = (SELECT grp FROM item WHERE uuid = ?)
                        """, arguments: [withUnsafeBytes(of: identifier.uuid) { Data($0) }]))
        }
    }

    @Test func aWriteOverTheQuotaIsRefusedAndEverythingElseGoesOn() throws {
        let client = vault.granted
        _ = try vault.add(Self.item("first", size: 9_000), as: client)
        _ = try vault.add(Self.item("second", size: 9_000), as: client)
        let error = #expect(throws: VaultError.self) { try vault.add(Self.item("third", size: 9_000), as: client) }
        #expect(error == Self.refusal)
        #expect(error?.osStatus == errSecQuotaExceeded)
        let words = try #require(error?.description)
        #expect(words.contains("TEAM.app") && words.contains("20000") && words.contains("'quota'"), "\(words)")
        // Nothing of it was stored, and what was there is there.
        #expect(try vault.items(Self.query("third"), as: client).isEmpty)
        #expect(try vault.items(Self.query("first"), as: client).first?.value?.count == 9_000)

        // A smaller value, one of the same size, and one that fits then.
        _ = try vault.put(Self.item("first", size: 8_000), as: client)
        _ = try vault.put(Self.item("first", size: 8_000), as: client)
        #expect(throws: Self.refusal) { try vault.put(Self.item("first", size: 12_000), as: client) }
        #expect(try vault.items(Self.query("first"), as: client).first?.value?.count == 8_000)
        #expect(try vault.delete(Self.query("second"), as: client) == 1)
        _ = try vault.add(Self.item("third", size: 9_000), as: client)

        // Another group has no quota.
        for number in 0..<4 { _ = try vault.add(Self.item("\(number)", size: 9_000, group: "TEAM.shared"), as: client) }
    }

    @Test func everyOperationThatStoresKeepsTheQuota() throws {
        let client = vault.granted
        _ = try vault.add(Self.item("first", size: 18_000), as: client)
        _ = try vault.add(Self.item("elsewhere", size: 9_000, group: "TEAM.shared"), as: client)
        #expect(throws: Self.refusal) { try vault.put(Self.item("second", size: 9_000), as: client) }
        #expect(throws: Self.refusal) {
            try vault.update(
                Self.query("first"), with: ItemChanges(value: Data(repeating: 1, count: 20_000)), as: client)
        }
        #expect(throws: Self.refusal) {
            let label = AttributeValue.string(String(repeating: "x", count: 9_000))
            return try vault.update(
                Self.query("first"), with: ItemChanges(attributes: [.label: label]), as: client)
        }
        #expect(throws: Self.refusal) {
            try vault.update(
                Self.query("elsewhere", group: "TEAM.shared"), with: ItemChanges(accessGroup: "TEAM.app"), as: client)
        }
        #expect(throws: Self.refusal) {
            try vault.perform(ExchangeItem(Self.item("second", size: 9_000), expecting: nil), as: client)
        }
        // Out of the group: then there is room.
        #expect(
            try vault.update(Self.query("first"), with: ItemChanges(accessGroup: "TEAM.shared"), as: client) == 1)
        _ = try vault.add(Self.item("second", size: 18_000), as: client)
    }

    /// Many small items take no more of the disk than the quota says.
    @Test func whatSmallItemsTakeInTheFileCounts() throws {
        let client = vault.granted
        var stored = 0
        for number in 0..<100 {
            do {
                _ = try vault.add(Self.item("\(number)", size: 0), as: client)
                stored += 1
            } catch {
                #expect(error == Self.refusal)
            }
        }
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: server.folder.path(of: "vault")))
        defer { try? database.close() }
        let used = try database.read { database in
            try #require(
                try Int.fetchOne(
                    database,
                    sql: """
                        SELECT sum(payload) FROM dbstat
                        WHERE name IN ('item', 'filing', 'sqlite_autoindex_item_1', 'item_change')
                        """))
        }
        #expect(used <= Self.quota && used > Self.quota * 3 / 4, "\(stored) items take \(used) bytes")
    }

    /// Former versions take room in the group, until they are purged or newer ones push them out.
    @Test func formerVersionsCount() throws {
        let client = vault.granted
        var item = Self.item("kept", size: 5_500)
        item.kept = .atMost(10)
        func put(_ byte: UInt8) throws {
            item.value = Data(repeating: byte, count: 5_500)
            _ = try vault.put(item, as: client)
        }
        for byte in 1...3 { try put(UInt8(byte)) }
        #expect(throws: Self.refusal) { try put(4) }
        #expect(try vault.versions(Self.query("kept"), as: client).map(\.item.version) == [3, 2, 1])
        #expect(throws: Self.refusal) { try vault.add(Self.item("other", size: 5_500), as: client) }
        // A deleted item stays as a former version.
        _ = try vault.delete(Self.query("kept"), as: client)
        #expect(throws: Self.refusal) { try vault.add(Self.item("other", size: 5_500), as: client) }
        #expect(try vault.purge(Self.query("kept"), as: client) == 3)
        _ = try vault.add(Self.item("other", size: 5_500), as: client)
        item.kept = .atMost(1)
        for byte in 1...9 { try put(UInt8(byte)) }
        #expect(try vault.versions(Self.query("kept"), as: client).count == 2)
    }

    /// A rule without a name lets a program have as many groups as it likes, so it stores in none of them.
    @Test func aProgramThatCanChooseItsNameStoresOnlyInNamedGroups() throws {
        let server = try ServerUnderTest(
            ServerUnderTest.patient, rules: [.ownUser(["TEAM.app"], quota: Self.quota)])
        let vault = try server.connect()
        let client = vault.granted
        let own = try #require(client.accessGroups.last)
        #expect(own != "TEAM.app")
        let error = #expect(throws: VaultError.self) {
            try vault.add(Self.item("own", size: Self.quota, group: own), as: client)
        }
        // Under a system's systemd the tests may have the name of a unit, which no program can choose.
        #expect(error == .quotaExceeded(group: own, limit: own.hasPrefix("unit:") ? Self.quota : 0))
        let words = VaultError.quotaExceeded(group: own, limit: 0).description
        #expect(words.contains(own) && words.contains("'groups'"), "\(words)")
        _ = try vault.add(Self.item("named", size: 1), as: client)

        // What is there from before can be read and deleted.
        let other = Client(identifier: "other", accessGroups: [own])
        _ = try server.vault.add(Self.item("old", size: 1, group: own), as: other)
        #expect(try vault.items(Self.query("old", group: own), as: client).count == 1)
        #expect(try vault.delete(Self.query("old", group: own), as: client) == 1)
    }

    @Test func whatDeletedSynchronizableItemsLeaveCountsToo() throws {
        let client = vault.granted
        var refused = false
        // Each leaves about a hundred bytes.
        for number in 0..<1_000 where !refused {
            var item = Self.item("\(number)", size: 0)
            item.isSynchronizable = true
            do {
                _ = try vault.add(item, as: client)
            } catch {
                #expect(error == Self.refusal)
                refused = true
                continue
            }
            var query = Self.query("\(number)")
            query.synchronizable = .synchronizableOnly
            #expect(try vault.delete(query, as: client) == 1)
        }
        #expect(refused)
    }

    /// What others write to the group counts: a program without a quota, and another process.
    @Test func whatOtherWritersStoreCounts() throws {
        let client = vault.granted
        let other = Client(identifier: "other", accessGroups: ["TEAM.app"])
        _ = try vault.add(Self.item("first", size: 1_000), as: client)
        _ = try server.vault.add(Self.item("second", size: 12_000), as: other)
        #expect(throws: Self.refusal) { try vault.add(Self.item("third", size: 9_000), as: client) }

        let separate = try EmbeddedVault.open(at: server.folder.path(of: "vault"))
        #expect(try separate.delete(Self.query("second"), as: other) == 1)
        _ = try vault.add(Self.item("third", size: 9_000), as: client)
        #expect(try separate.delete(Self.query("third"), as: other) == 1)
        // They may have more than the quota; what the program makes smaller, it may.
        _ = try separate.add(Self.item("fourth", size: 30_000), as: other)
        #expect(throws: Self.refusal) { try vault.add(Self.item("fifth", size: 0), as: client) }
        _ = try vault.put(Self.item("fourth", size: 25_000), as: client)
        #expect(try vault.delete(Self.query("fourth"), as: client) == 1)
        _ = try vault.add(Self.item("fifth", size: 9_000), as: client)
    }

    @Test func writersAtTheSameTimeTakeNoMoreThanTheQuotaTogether() throws {
        let separate = try EmbeddedVault.open(at: server.folder.path(of: "vault"))
        _ = try vault.add(Self.item("first", size: 10), as: vault.granted)
        let failures = Mutex<[VaultError]>([])
        let group = DispatchGroup()
        for thread in 0..<4 {
            let remote = try server.connect()
            let granted = remote.granted
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                for number in 0..<40 {
                    do throws(VaultError) {
                        let item = Self.item("\(thread) \(number)", size: 1_000)
                        _ = try remote.add(item, as: granted)
                        if thread == 0, number % 5 == 0 {
                            _ = try separate.delete(Self.query("\(thread) \(number)"), as: .app)
                        }
                    } catch {
                        failures.withLock { $0.append(error) }
                    }
                }
            }
        }
        group.wait()
        #expect(failures.withLock { Set($0.map(\.description)) } == [Self.refusal.description])
        let held = try bytes(ofGroupOf: "first")
        #expect(held <= Self.quota && held > Self.quota - 2_000)
    }

    /// What the vault takes for the size of a group is what the file says, after any changes.
    @Test func theSizeOfAGroupStaysExact() throws {
        var random = SeededGenerator()
        let client = vault.granted
        _ = try vault.add(Self.item("first", size: 10), as: client)
        for _ in 0..<TestScale.count(120, soak: 3_000) {
            let account = "\(random.int(below: 8))"
            let size = random.int(below: 4_000)
            let before = try bytes(ofGroupOf: "first")
            let old = try vault.items(Self.query(account), as: client).first
            do {
                switch random.int(below: 4) {
                case 0: _ = try vault.put(Self.item(account, size: size), as: client)
                case 1: _ = try vault.add(Self.item(account, size: size), as: client)
                case 2: _ = try vault.delete(Self.query(account), as: client)
                default:
                    let label = AttributeValue.string(String(repeating: "x", count: size))
                    _ = try vault.update(
                        Self.query(account), with: ItemChanges(attributes: [.label: label]), as: client)
                }
                let after = try bytes(ofGroupOf: "first")
                #expect(after <= Self.quota || after <= before, "seed \(random.seed)")
            } catch VaultError.itemNotFound, VaultError.duplicateItem {
                continue
            } catch {
                #expect(error as? VaultError == Self.refusal)
                // All that the change could add, with the attributes, is too much.
                #expect(before + size + 1_200 > Self.quota, "\(before), \(size), seed \(random.seed)")
                let present = try vault.items(Self.query(account), as: client).first
                #expect(present == old, "seed \(random.seed)")
            }
        }
    }

    /// The sum over the rows of a group is made once, and not at each write; without a quota it is never made.
    @Test func theRowsOfAGroupAreAddedUpOnce() throws {
        let client = vault.granted
        let path = try ItemStoreFile.path(inVault: server.folder.path(of: "vault"))
        func sums(_ item: NewItem) throws -> Int {
            let statements = try VisitedRows.statements(on: path) { _ = try vault.put(item, as: client) }
            #expect(statements.contains { $0.contains("INTO item") })
            return statements.count { $0.contains("length(") && $0.contains("sum(") }
        }
        #expect(try sums(Self.item("first", size: 10)) == 9)
        for size in [20, 5, 5_000] { #expect(try sums(Self.item("first", size: size)) == 0) }
        #expect(try sums(Self.item("second", size: 5)) == 0)
        let other = Client(identifier: "other", accessGroups: ["TEAM.app", "TEAM.shared"])
        let statements = try VisitedRows.statements(on: path) {
            _ = try server.vault.put(Self.item("first", size: 30), as: other)
            _ = try server.vault.delete(Self.query("first"), as: other)
        }
        #expect(!statements.contains { $0.contains("length(") })
        // Somebody else changed the group.
        #expect(try sums(Self.item("second", size: 6)) == 9)
    }
}
