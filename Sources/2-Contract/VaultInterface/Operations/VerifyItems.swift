import Access

/// Reads every row, and replies which of them cannot be opened.
package struct VerifyItems: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = IntegrityReport

    package static let number: UInt8 = 10
    package static let name = "verify"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.maintenance.verify(self, as: client)
    }
}
