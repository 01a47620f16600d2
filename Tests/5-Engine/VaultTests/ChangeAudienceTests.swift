import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// What an observer of a vault learns of others' changes.
@Suite struct ChangeAudienceTests {
    private let vault: EmbeddedVault
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
    }

    /// Whether the observer of the changes in `groups` is told of what `change` does, before it returns.
    private func isTold(of groups: GroupScope, _ change: () throws -> Void) async throws -> Bool {
        let changes = vault.changes { ChangeAudience(groups: groups, learnsOfUnknown: false) }
        try change()
        return await Self.hasElement(changes)
    }

    private static func hasElement(_ changes: AsyncStream<VaultChange>) async -> Bool {
        // Who is canceled gets what is there, and waits for nothing.
        let waiting = Task {
            for await _ in changes { return true }
            return false
        }
        waiting.cancel()
        return await waiting.value
    }

    private func item(_ account: String, in group: String, _ value: String = "x") -> NewItem {
        NewItem(
            itemClass: .genericPassword, attributes: [.service: .string("s"), .account: .string(account)],
            accessGroup: group, value: Data(value.utf8))
    }

    private func query(_ account: String) -> ItemQuery {
        ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string("s"), .account: .string(account)])
    }

    @Test func changesOfOtherGroupsAreNotTold() async throws {
        let vault = vault
        for (group, account) in [("A", "a"), ("B", "b")] {
            let isOwn = group == "A"
            let steps: [@Sendable () throws -> Void] = [
                { _ = try vault.add(item(account, in: group), as: .owner) },
                { _ = try vault.put(item(account, in: group, "y"), as: .owner) },
                { _ = try vault.update(query(account), with: ItemChanges(value: Data([1])), as: .owner) },
                {
                    let label = ItemChanges(attributes: [.label: .string("l")])
                    _ = try vault.update(query(account), with: label, as: .owner)
                },
                { _ = try vault.delete(query(account), as: .owner) },
            ]
            for (number, step) in steps.enumerated() {
                #expect(try await isTold(of: .only(["A", "C"]), step) == isOwn, "step \(number) in \(group)")
            }
        }
        #expect(try await isTold(of: .every) { _ = try vault.add(item("c", in: "B"), as: .owner) })
        #expect(try await !isTold(of: .only([])) { _ = try vault.delete(query("c"), as: .owner) })
    }

    @Test func aMoveIsToldInBothGroups() async throws {
        let vault = vault
        _ = try vault.add(item("a", in: "A"), as: .owner)
        for (group, isConcerned) in [("A", true), ("B", true), ("C", false)] {
            _ = try vault.update(query("a"), with: ItemChanges(accessGroup: "A"), as: .owner)
            let isTold = try await isTold(of: .only([group])) {
                _ = try vault.update(query("a"), with: ItemChanges(accessGroup: "B"), as: .owner)
            }
            #expect(isTold == isConcerned, "\(group)")
        }
    }

    @Test func anEraseConcernsEveryGroup() async throws {
        let vault = vault
        #expect(try await isTold(of: .only(["A"])) { try vault.erase(as: .owner) })
    }

    /// Another program with the same folder says to nobody what it changed.
    @Test func whatAnotherProcessDidIsToldToWhoMayKnow() async throws {
        let vault = vault
        let other = try EmbeddedVault.open(at: folder.path(of: "vault"))
        let restricted = vault.changes { ChangeAudience(groups: .only(["A"]), learnsOfUnknown: false) }
        var allowed = vault.changes { ChangeAudience(groups: .only(["C"]), learnsOfUnknown: true) }.makeAsyncIterator()
        // When the second change is told, the first was told to everybody.
        for account in ["a", "b"] {
            _ = try other.add(item(account, in: "A"), as: .owner)
            #expect(await allowed.next()?.origin == .anotherProcess)
        }
        #expect(await !Self.hasElement(restricted))
    }
}
