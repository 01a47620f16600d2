import Access

/// Replies what the last unlocking found changed in the vault's folder.
package struct ReadUnlockFindings: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = UnlockFindings

    package static let number: UInt8 = 32
    package static let name = "unlock-findings"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.lock.findings(self, as: client)
    }
}
