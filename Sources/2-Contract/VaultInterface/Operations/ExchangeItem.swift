import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Replaces the value of the item with the primary key of `item` if its present value is `expected` (compare and
/// swap), and replies whether it was replaced.
package struct ExchangeItem: UnaryOperation {
    /// The new value and the primary key; a nil value deletes.
    package var item: NewItem
    /// The value that the item must have; nil if there must be no such item.
    package var expected: Data?

    package init(_ item: NewItem, expecting expected: Data?) {
        self.item = item
        self.expected = expected
    }

    package typealias Reply = Bool

    package static let number: UInt8 = 7
    package static let name = "exchange"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package var authentication: AuthenticationOptions? { item.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(item) }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.items.exchange(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(item, expected) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        item = try reader.read()
        expected = try reader.itemValue()
    }
}
