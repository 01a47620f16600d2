import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// What the vault tells of how much access groups hold.
@Suite struct UsageTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
    }

    private func usage(_ vault: EmbeddedVault, as client: Client = .owner) throws -> [GroupUsage] {
        try VaultSession(vault: vault, client: client).perform(ReadUsage()).sorted {
            ($0.group ?? "") < ($1.group ?? "")
        }
    }

    private func add(
        _ vault: EmbeddedVault, _ account: String, to group: String, _ protection: ProtectionClass = .whenUnlocked
    ) throws {
        var item = NewItem.password("s", account, "secret")
        item.accessGroup = group
        item.accessControl = AccessControl(protection: protection)
        _ = try vault.add(item, as: .owner)
    }

    /// The bytes are those that count for a quota: the size at which a write is refused is the one that is told.
    @Test func theBytesAreThoseThatAQuotaLimits() throws {
        let vault = try EmbeddedVault.open(at: path)
        try add(vault, "a", to: "g")
        let one = try #require(try usage(vault).first?.bytes)
        try add(vault, "b", to: "g")
        let two = try #require(try usage(vault).first)
        #expect(two.group == "g" && two.items == 2 && two.bytes > one)
        func client(_ limit: Int) -> Client {
            var quotas = GroupQuotas()
            quotas.add("g", bytes: limit)
            return Client(identifier: "p", accessGroups: ["g"], quotas: quotas)
        }
        // A third one of the same size just fits, or does not by a byte.
        let needed = two.bytes + (two.bytes - one)
        #expect(throws: VaultError.quotaExceeded(group: "g", limit: needed - 1)) {
            try vault.add(.password("s", "c", "secret"), as: client(needed - 1))
        }
        _ = try vault.add(.password("s", "c", "secret"), as: client(needed))
        #expect(
            try usage(vault, as: client(needed)) == [
                GroupUsage(group: "g", items: 3, bytes: needed, quota: needed)
            ])
    }

    @Test func formerVersionsAndTombstonesCount() throws {
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.perform(KeepVersions(5), as: .owner)
        try add(vault, "a", to: "g")
        let present = try usage(vault)
        _ = try vault.delete(.password("s", "a"), as: .owner)
        let deleted = try usage(vault)
        #expect(deleted.map(\.group) == ["g"] && deleted.map(\.items) == [0])
        #expect(deleted.first?.bytes == present.first?.bytes)
        _ = try vault.purge(nil, as: .owner)
        #expect(try usage(vault).isEmpty)
    }

    /// A client sees the groups that it may list, and the limits of its own rules.
    @Test func aClientSeesItsGroups() throws {
        let vault = try EmbeddedVault.open(
            at: path, surroundings: VaultSurroundings(quota: { $0 == "g" ? 7_000 : nil }))
        try add(vault, "a", to: "g")
        try add(vault, "a", to: "h")
        #expect(try usage(vault).map(\.quota) == [7_000, nil])
        let some = Client(identifier: "p", accessGroups: ["g", "h", "i"], listableGroups: ["h", "i"], rights: [])
        #expect(try usage(vault, as: some).map(\.group) == ["h", "i"])
        #expect(try usage(vault, as: some).map(\.items) == [1, 0])
        let none = Client(identifier: "p", accessGroups: ["g"], listableGroups: [], rights: [])
        #expect(throws: VaultError.accessDenied(.rightNotHeld(right: "list", client: "p"))) {
            try usage(vault, as: none)
        }
        // Who may list every group, and not administer, learns no rule of others.
        let lister = Client(identifier: "p", accessGroups: ["*"], rights: .list)
        #expect(try usage(vault, as: lister).map(\.quota) == [nil, nil])
    }

    /// The name of a group is sealed with its items.
    @Test func aGroupWhoseItemsAreLockedHasNoName() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try add(vault, "a", to: "closed")
        try add(vault, "a", to: "open")
        try add(vault, "b", to: "open", .always)
        try vault.lock(after: .zero, as: .owner)
        let locked = try usage(vault)
        #expect(locked.map(\.group) == [nil, "open"] && locked.map(\.items) == [1, 2])
        try vault.unlock(with: .test("right"), as: .owner)
        #expect(try usage(vault).map(\.group) == ["closed", "open"])
    }
}
