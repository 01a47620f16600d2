import Access

/// Replies what state the vault is in.
package struct ReadStatus: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = VaultStatus

    package static let number: UInt8 = 8
    package static let name = "status"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.maintenance.status(self, as: client)
    }
}
