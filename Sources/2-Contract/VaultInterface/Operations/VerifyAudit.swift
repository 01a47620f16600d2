import Access

/// Checks every record of the audit log.
package struct VerifyAudit: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = AuditReport

    package static let number: UInt8 = 22
    package static let name = "verify-audit"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.audit.verify(self, as: client)
    }
}
