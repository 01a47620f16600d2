import Access
import Foundation
import KeychainModel
import VaultInterface

/// An endless sequence of writes that depends only on its seed, with the items that must exist after each write.
///
/// A worker performs it. The test that killed the worker replays it to know which items must exist.
package struct WriteScript {
    package enum Step: Sendable {
        case add(account: String, value: Data)
        case put(account: String, value: Data)
        case update(account: String, value: Data)
        case rename(account: String, to: String)
        case relabel(account: String)
        case delete(account: String)
    }

    /// The service of all items of this script.
    package let service: String
    /// The value of each account after the steps so far.
    package private(set) var items: [String: Data] = [:]
    private var random: SeededGenerator

    package init(seed: UInt64) {
        service = "script \(seed)"
        random = SeededGenerator(seed: seed)
    }

    /// Returns the next step. ``items`` then contains its result.
    package mutating func next() -> Step {
        let account = "account \(random.int(below: 12))"
        let value = random.bytes(random.int(below: random.int(below: 10) == 0 ? 60_000 : 300))
        guard items[account] != nil else {
            items[account] = value
            return random.int(below: 2) == 0
                ? .add(account: account, value: value) : .put(account: account, value: value)
        }
        switch random.int(below: 6) {
        case 0:
            items[account] = nil
            return .delete(account: account)
        case 1:
            let other = "account \(random.int(below: 12))"
            guard items[other] == nil else { return .relabel(account: account) }
            items[other] = items.removeValue(forKey: account)
            return .rename(account: account, to: other)
        case 2:
            return .relabel(account: account)
        case 3:
            items[account] = value
            return .put(account: account, value: value)
        default:
            items[account] = value
            return .update(account: account, value: value)
        }
    }

    package func perform(_ step: Step, on vault: any Vault, as client: Client = .app) throws {
        func item(_ account: String, _ value: Data) -> NewItem {
            NewItem(
                itemClass: .genericPassword,
                attributes: [.service: .string(service), .account: .string(account)], value: value)
        }
        func update(_ account: String, _ changes: ItemChanges) throws {
            _ = try vault.update(.password(service, account, limit: nil), with: changes, as: client)
        }
        switch step {
        case .add(let account, let value): _ = try vault.add(item(account, value), as: client)
        case .put(let account, let value): _ = try vault.put(item(account, value), as: client)
        case .update(let account, let value): try update(account, ItemChanges(value: value))
        case .rename(let account, let other):
            try update(account, ItemChanges(attributes: [.account: .string(other)]))
        case .relabel(let account): try update(account, ItemChanges(attributes: [.label: .string("label")]))
        case .delete(let account): _ = try vault.delete(.password(service, account, limit: nil), as: client)
        }
    }

    /// Returns the items of this script in `vault`.
    package func stored(in vault: any Vault, as client: Client = .app) throws -> [String: Data] {
        let found = try vault.items(.password(service, limit: nil), includingValues: true, as: client)
        var values: [String: Data] = [:]
        for item in found {
            guard case .string(let account)? = item.attributes[.account] else { continue }
            // An account that exists twice must not look like one that exists once.
            values[account] = (values[account] ?? Data()) + (item.value ?? Data())
        }
        return values
    }
}
