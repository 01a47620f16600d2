import Access
import Frames
import KeychainModel

/// Stores an item in one step: as a new one, or, when an item with its primary key exists, by giving that one its
/// attributes and value. Replies the item as it is stored, without the value that the caller gave.
package struct PutItem: UnaryOperation {
    package var item: NewItem

    package init(_ item: NewItem) {
        self.item = item
    }

    package typealias Reply = StoredItem

    package static let code = OperationCode.putItem
    package static let name = "put"
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
