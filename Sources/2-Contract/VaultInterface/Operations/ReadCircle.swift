import Access
import Frames

/// Replies what the vault knows of its circle. For clients that may administer the vault.
package struct ReadCircle: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = CircleStatus

    package static let number: UInt8 = 50
    package static let name = "circle"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.circle.status(self, as: client)
    }
}
