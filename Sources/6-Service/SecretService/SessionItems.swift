import FoundationEssentials
import KeychainModel
import Synchronization

/// The items of the collection `session`, which are in memory alone and go with the process.
final class SessionItems: Sendable {
    private let items = Mutex<[String: StoredItem]>([:])
    /// The most items, so that a program cannot take all memory.
    private static let most = 1000

    /// Returns the items without their secrets.
    func all() -> [(id: String, stored: StoredItem)] {
        items.withLock { items in
            items.map { id, item in
                var item = item
                item.value = nil
                return (id, item)
            }
        }
    }

    func secret(_ id: String) -> Data? { items.withLock { $0[id]?.value } }

    /// Puts an item there. Nil if there are too many.
    func put(_ id: String, _ new: NewItem) -> StoredItem? {
        let now = Date()
        return items.withLock { items in
            guard items[id] != nil || items.count < Self.most else { return nil }
            let stored = StoredItem(
                itemClass: new.itemClass, identifier: UUID(), attributes: new.attributes,
                customAttributes: new.customAttributes ?? [:], accessGroup: SecretStore.group,
                accessControl: new.accessControl, isSynchronizable: false,
                creationDate: items[id]?.creationDate ?? now, modificationDate: now, value: new.value)
            items[id] = stored
            return stored
        }
    }

    func change(_ id: String, _ changes: ItemChanges) {
        items.withLock { items in
            guard var item = items[id] else { return }
            item.attributes.merge(changes.attributes) { _, new in new }
            if let attributes = changes.customAttributes { item.customAttributes = attributes }
            if let value = changes.value { item.value = value }
            item.modificationDate = Date()
            items[id] = item
        }
    }

    func remove(_ id: String) { items.withLock { $0[id] = nil } }
}
