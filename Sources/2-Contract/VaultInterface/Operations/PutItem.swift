import Access
import KeychainModel

/// Stores an item in one step: as a new one, or, when an item with its primary key exists, by giving that one its
/// attributes and value. Replies the item as it is stored, without the value that the caller gave.
package struct PutItem: NewItemOperation {
    package var item: NewItem

    package init(_ item: NewItem) { self.item = item }

    package static let number: UInt8 = 6
    package static let name = "put"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        reply(try engine.items.put(self, as: client))
    }
}
