import Access
import KeychainModel

/// Stores a new item, and replies it as it is stored, without the value that the caller gave.
///
/// - Throws: ``VaultError/duplicateItem`` when an item with the same primary key exists.
package struct AddItem: NewItemOperation {
    package var item: NewItem

    package init(_ item: NewItem) { self.item = item }

    package static let number: UInt8 = 1
    package static let name = "add"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        reply(try engine.items.add(self, as: client))
    }
}
