import Access
import KeychainModel

/// Replies how many items a query finds. None is no error.
package struct CountItems: UnaryOperation, BareQueryOperation {
    package var query: ItemQuery

    package init(_ query: ItemQuery) { self.query = query }

    package typealias Reply = Int

    package static let number: UInt8 = 45
    package static let name = "count"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.items.count(self, as: client)
    }
}
