import FoundationEssentials
import KeychainModel
import Synchronization

/// The items of the collections `session`, which are in memory alone and go with the process. Each program has a
/// collection of its own.
final class SessionItems: Sendable {
    /// The program to which items belong.
    struct Owner: Hashable, Sendable {
        var user: UInt32
        var group: String
    }

    private struct Kept {
        var item: StoredItem
        var size: Int
    }

    private let items = Mutex<[Owner: [String: Kept]]>([:])
    /// The most that the items of one user's programs may take, in bytes, so that nobody can take all memory.
    private static let most = 8 << 20
    /// What an item takes besides its attributes and its secret.
    private static let overhead = 1024

    /// Returns the items with their secrets.
    func all(of owner: Owner) -> [(id: String, stored: StoredItem)] {
        items.withLock { items in (items[owner] ?? [:]).map { ($0, $1.item) } }
    }

    /// Puts an item there. Nil if there is no room.
    func put(_ id: String, _ new: NewItem, of owner: Owner) -> StoredItem? {
        let now = Date()
        return items.withLock { items in
            let stored = StoredItem(
                itemClass: new.itemClass, identifier: UUID(), attributes: new.attributes,
                customAttributes: new.customAttributes ?? [:], accessGroup: owner.group,
                accessControl: new.accessControl, isSynchronizable: false,
                creationDate: items[owner]?[id]?.item.creationDate ?? now, modificationDate: now, value: new.value)
            return Self.keep(stored, id, of: owner, in: &items) ? stored : nil
        }
    }

    /// - Returns: False if there is no room.
    func change(_ id: String, _ changes: ItemChanges, of owner: Owner) -> Bool {
        items.withLock { items in
            guard var item = items[owner]?[id]?.item else { return true }
            item.attributes.merge(changes.attributes) { _, new in new }
            if let attributes = changes.customAttributes { item.customAttributes = attributes }
            if let value = changes.value { item.value = value }
            item.modificationDate = Date()
            return Self.keep(item, id, of: owner, in: &items)
        }
    }

    func remove(_ id: String, of owner: Owner) { items.withLock { $0[owner]?[id] = nil } }

    private static func keep(
        _ item: StoredItem, _ id: String, of owner: Owner, in items: inout [Owner: [String: Kept]]
    ) -> Bool {
        let texts = item.customAttributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let standard = item.attributes.values.reduce(0) { sum, value in
            if case .string(let text) = value { sum + text.utf8.count } else { sum }
        }
        let kept = Kept(item: item, size: overhead + texts + standard + (item.value?.count ?? 0))
        let taken = items.filter { $0.key.user == owner.user }.values.reduce(0) { sum, items in
            items.values.reduce(sum) { $0 + $1.size }
        }
        guard taken - (items[owner]?[id]?.size ?? 0) + kept.size <= most else { return false }
        items[owner, default: [:]][id] = kept
        return true
    }
}
