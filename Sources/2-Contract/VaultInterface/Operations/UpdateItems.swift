import Access
import Frames
import KeychainModel

/// Changes every item that a query finds, or none, and replies how many were changed: at least one.
///
/// - Throws: ``VaultError/itemNotFound`` when there is none.
package struct UpdateItems: UnaryOperation, QueryOperation {
    package var query: ItemQuery
    package var changes: ItemChanges

    package init(_ query: ItemQuery, with changes: ItemChanges) {
        self.query = query
        self.changes = changes
    }

    package typealias Reply = Int

    package static let number: UInt8 = 4
    package static let name = "update"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func check() throws(VaultError) {
        try RequestCheck.check(query)
        try RequestCheck.check(changes, of: query.itemClass)
    }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.items.update(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(query, changes) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        query = try reader.read()
        changes = try reader.read()
    }
}
