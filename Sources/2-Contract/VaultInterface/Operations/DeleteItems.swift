import Access
import KeychainModel

/// Deletes every item that a query finds, and replies how many were deleted: at least one.
///
/// - Throws: ``VaultError/itemNotFound`` when there is none.
package struct DeleteItems: UnaryOperation, BareQueryOperation {
    package var query: ItemQuery

    package init(_ query: ItemQuery) { self.query = query }

    package typealias Reply = Int

    package static let number: UInt8 = 5
    package static let name = "delete"
    package static let traits: OperationTraits = [.changesItems, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.items.delete(self, as: client)
    }
}
