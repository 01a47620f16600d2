import Access
import Frames
import KeychainModel

/// Stores a new item, and replies it as it is stored, without the value that the caller gave.
///
/// - Throws: ``VaultError/duplicateItem`` when an item with the same primary key exists.
package struct AddItem: UnaryOperation {
    package var item: NewItem

    package init(_ item: NewItem) {
        self.item = item
    }

    package typealias Reply = StoredItem

    package static let code = OperationCode.addItem
    package static let name = "add"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package var authentication: AuthenticationOptions? { item.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(item) }

    package func perform(by engine: any VaultEngine, as client: Client) throws(VaultError) -> Reply {
        try engine.perform(self, as: client).withoutValue(knownFrom: item)
    }

    package func encode(to buffer: WireBuffer) { buffer.append(item) }

    package init(from reader: inout WireReader) throws(WireError) {
        item = try reader.newItem()
    }
}

extension StoredItem {
    /// The item without the value, if the caller gave one with `item`: it need not be sent back.
    func withoutValue(knownFrom item: NewItem) -> StoredItem {
        guard item.value != nil else { return self }
        var copy = self
        copy.value = nil
        return copy
    }
}
