import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// Versions and changes of items, as a daemon serves them.
@Suite struct ServedHistoryTests {
    private let server: ServerUnderTest
    private let vault: RemoteVault
    private var client: Client { vault.granted }
    private let other = Client(identifier: "other", accessGroups: ["OTHER"])
    private static let query = ItemQuery.password("s", "a", limit: nil)

    init() throws {
        server = try ServerUnderTest(ServerUnderTest.patient, rules: [.ownProgram(["TEAM.app"])])
        vault = try server.connect()
    }

    private func put(_ value: String, kept: Int? = nil) throws {
        var item = NewItem.password("s", "a", value)
        item.kept = kept.map { .atMost($0) }
        _ = try vault.put(item, as: client)
    }

    @Test func operationsAreServed() throws {
        try put("one", kept: 3)
        let start = try vault.changes(since: 0, as: client).known.next
        try put("two")
        #expect(try vault.versions(Self.query, as: client).map(\.item.version) == [2, 1])
        #expect(try vault.version(1, of: Self.query, as: client).value == Data("one".utf8))
        let restored = try vault.restore(nil, of: Self.query, as: client)
        #expect(restored.version == 3 && restored.value == nil && restored.kept == .atMost(3))
        #expect(try vault.items(Self.query, as: client).map(\.value) == [Data("one".utf8)])
        #expect(try vault.changes(since: start, as: client).items.map(\.version) == [3])
        _ = try vault.delete(Self.query, as: client)
        #expect(try vault.changes(since: start, as: client).items.map(\.isDeleted) == [true])
        #expect(try vault.versions(Self.query, as: client).map(\.isDeleted) == [true, false, false])
        #expect(try vault.restore(1, of: Self.query, as: client).version == 4)
        #expect(try vault.purge(nil, as: client) == 3)
        #expect(try vault.versions(Self.query, as: client).count == 1)
    }

    @Test func otherGroupsAreOutOfReach() throws {
        var item = NewItem.password("s", "a", "one")
        item.kept = .atMost(3)
        _ = try server.vault.add(item, as: other)
        _ = try server.vault.update(Self.query, with: ItemChanges(value: Data("two".utf8)), as: other)
        _ = try server.vault.delete(Self.query, as: other)
        #expect(try vault.changes(since: 0, as: client).items.isEmpty)
        for operation: () throws -> Void in [
            { _ = try vault.versions(Self.query, as: client) },
            { _ = try vault.version(1, of: Self.query, as: client) },
            { _ = try vault.restore(nil, of: Self.query, as: client) },
        ] { #expect(throws: VaultError.itemNotFound) { try operation() } }
        #expect(try vault.purge(nil, as: client) == 0 && vault.purge(Self.query, as: client) == 0)
        #expect(try server.vault.versions(Self.query, as: other).count == 2)
        // How many versions the vault keeps is its owner's to say and to know.
        for count in [nil, 5] {
            let error = #expect(throws: VaultError.self) { try vault.keepVersions(count, as: client) }
            guard case .accessDenied = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    /// More than one slice of versions, changes and deletions.
    @Test func longAnswersComeWhole() throws {
        let owner = Client(identifier: "owner", accessGroups: ["TEAM.app", "*"])
        var item = NewItem.password("s", "a", "0")
        item.kept = .atMost(1_000)
        _ = try server.vault.add(item, as: owner)
        for number in 1...1_000 {
            _ = try server.vault.update(Self.query, with: ItemChanges(value: Data("\(number)".utf8)), as: owner)
        }
        for number in 0..<120 { _ = try server.vault.add(.password("t", "\(number)", "value"), as: owner) }
        for number in 0..<120 where number % 2 == 0 {
            _ = try server.vault.delete(.password("t", "\(number)"), as: owner)
        }
        let versions = try vault.versions(Self.query, as: client)
        #expect(versions.map(\.item.version) == (1...1_001).reversed())
        #expect(try vault.version(1, of: Self.query, as: client).value == Data("0".utf8))
        let changes = try vault.changes(since: 0, as: client)
        #expect(changes.items.count(where: \.isDeleted) == 60 && changes.items.count(where: { !$0.isDeleted }) == 61)
        #expect(Set(changes.items.map(\.identifier)).count == 121)
        #expect(try vault.purge(Self.query, as: client) == 1_000)
        #expect(try vault.versions(Self.query, as: client).count == 1)
    }

    /// A program without the right to list does not learn what is in its group.
    @Test func changesNeedTheRightToList() throws {
        var rule = Entitlements.Rule.ownProgram(["TEAM.app"])
        rule.rights = []
        let server = try ServerUnderTest(ServerUnderTest.patient, rules: [rule])
        let vault = try server.connect()
        let query = ItemQuery.password("s", "a")
        var item = NewItem.password("s", "a", "one")
        item.kept = .atMost(3)
        item.accessGroup = "TEAM.app"
        _ = try vault.add(item, as: vault.granted)
        _ = try vault.update(query, with: ItemChanges(value: Data("two".utf8)), as: vault.granted)
        #expect(try vault.changes(since: 0, as: vault.granted).items.isEmpty)
        #expect(try vault.purge(nil, as: vault.granted) == 0)
        // What it can name it may see.
        #expect(try vault.versions(query, as: vault.granted).count == 2)
        #expect(try vault.purge(query, as: vault.granted) == 1)
    }
}
