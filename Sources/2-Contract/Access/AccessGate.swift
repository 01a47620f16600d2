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
    /// Whether anybody keeps what is recorded.
    package let isRecording: Bool

    package init(audit: any AuditSink) {
        self.audit = audit
        isRecording = audit.isRecording
    }

    /// Allows an operation, whose end the caller records, or refuses it, which is recorded here.
    package func authorize(_ operation: VaultOperation, for client: Client) throws(AccessDenied) -> Authorization {
        do {
            let scope = try AccessPolicy.scope(of: operation, for: client)
            return Authorization(operation: operation, client: client, scope: scope)
        } catch {
            refused(operation, for: client, error)
            throw error
        }
    }

    /// Records that `client` may not do `operation`.
    package func refused(_ operation: VaultOperation, for client: Client, _ refusal: AccessDenied) {
        guard isRecording else { return }
        audit.record(
            AuditEvent(
                .refused, client: client.identifier, operation: operation, failure: AuditFailure(refusal)))
    }

    /// Records how an authorised operation ended.
    ///
    /// - Parameters:
    ///   - kind: What came of it, or was meant to.
    ///   - items: How many items were handed out or changed.
    ///   - failure: Why it was not done; nil when it was.
    package func record(
        _ kind: AuditEvent.Kind, of authorization: Authorization, items: Int? = nil, failure: AuditFailure? = nil
    ) {
        guard isRecording else { return }
        audit.record(
            AuditEvent(
                kind, client: authorization.client.identifier, operation: authorization.operation, items: items,
                failure: failure))
    }

    /// Records what is no operation on items, such as ``AuditEvent/Kind/unlocked``.
    package func record(_ kind: AuditEvent.Kind, by client: Client, failure: AuditFailure? = nil) {
        guard isRecording else { return }
        audit.record(AuditEvent(kind, client: client.identifier, failure: failure))
    }

    /// Records how asking a person ended.
    package func record(_ outcome: AuthenticationOutcome, by client: Client) {
        switch outcome {
        case .succeeded: record(.authenticated, by: client)
        case .failed(.userCancel), .failed(.systemCancel), .failed(.appCancel), .failed(.userFallback):
            record(.authenticationCanceled, by: client, failure: .canceled)
        case .failed(.authenticationFailed): record(.authenticationFailed, by: client, failure: .authenticationFailed)
        case .failed(.passcodeNotSet): record(.authenticationFailed, by: client, failure: .noPasscode)
        case .failed(.notInteractive): record(.authenticationFailed, by: client, failure: .locked)
        case .failed: record(.authenticationFailed, by: client, failure: .other)
        }
    }

    package func begin(in place: AuditPlace) { audit.begin(in: place) }

    package func flush() { audit.flush() }
}
