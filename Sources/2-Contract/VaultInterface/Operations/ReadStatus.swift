import Access

/// Replies what state the vault is in.
package struct ReadStatus: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = VaultStatus

    package static let code = OperationCode.readStatus
    package static let name = "status"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(
        by engine: any VaultEngine, as client: Client, send: (Never) throws(VaultError) -> Void
    ) throws(VaultError) -> Reply {
        try engine.maintenance.status(self, as: client)
    }
}
