/// The proof that an operation was authorised and recorded.
///
/// Only ``AccessGate`` makes one, and every way into the item store asks for it.
package struct Authorization: Sendable {
    package let operation: VaultOperation
    package let client: Client
    package let scope: GroupScope

    fileprivate init(operation: VaultOperation, client: Client, scope: GroupScope) {
        self.operation = operation
        self.client = client
        self.scope = scope
    }
}

/// The one point that every operation on a vault passes: it decides and it records.
package struct AccessGate: Sendable {
    private let audit: any AuditSink

    package init(audit: any AuditSink) {
        self.audit = audit
    }

    package func authorize(_ operation: VaultOperation, for client: Client) throws(AccessDenied) -> Authorization {
        do {
            let scope = try AccessPolicy.scope(of: operation, for: client)
            audit.record(AuditEvent(operation: operation, client: client.identifier, refusal: nil))
            return Authorization(operation: operation, client: client, scope: scope)
        } catch {
            audit.record(AuditEvent(operation: operation, client: client.identifier, refusal: error))
            throw error
        }
    }
}

/// One decision of the gate. Holds no attribute and no value of any item.
package struct AuditEvent: Sendable, Equatable {
    package let operation: VaultOperation
    package let client: String
    /// Nil when the operation was allowed.
    package let refusal: AccessDenied?
}

/// Where decisions are recorded.
package protocol AuditSink: Sendable {
    func record(_ event: AuditEvent)
}

/// A vault without an audit log.
package struct NoAudit: AuditSink {
    package init() {}
    package func record(_ event: AuditEvent) {}
}
