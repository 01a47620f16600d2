import Access
import KeychainModel

/// Sends the versions of the items that a query finds, without their values: of each item the newest first. Deleted
/// items, of which the vault keeps versions, come last.
///
/// - Throws: ``VaultError/itemNotFound`` when there is none.
package struct CopyVersions: BareQueryOperation {
    package var query: ItemQuery

    package init(_ query: ItemQuery) { self.query = query }

    package typealias Part = ItemVersion

    package typealias Reply = Done

    package static let number: UInt8 = 34
    package static let name = "versions"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys, .sliced]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: Sink<ItemVersion>
    ) throws(VaultError) -> Reply {
        try engine.history.versions(self, as: client, send: send)
        return Done()
    }
}
