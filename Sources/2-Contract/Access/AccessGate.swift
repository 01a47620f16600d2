/// The proof that the gate allowed a request. Every way to the rows of the item store asks for it.
///
/// Only ``AccessGate`` makes one.
package struct Authorization: Sendable {
    package let request: AccessRequest
    package let client: Client
    package let scope: GroupScope
    /// What the audit log says of the request when it is done.
    package let event: AuditEvent.Kind

    fileprivate init(_ request: AccessRequest, of client: Client, scope: GroupScope, recordedAs event: AuditEvent.Kind)
    {
        self.request = request
        self.client = client
        self.scope = scope
        self.event = event
    }
}

/// What the engine does to rows that no client asked for.
package enum Upkeep: Sendable {
    /// To destroy everything after as many wrong passcodes as the owner allowed.
    case eraseAfterWrongPasscodes
    /// To remove the rows of a class whose key went with the passcode, or with a lost device.
    case removeUnreadable
    /// To fill a new vault from a backup, for the person who has its key.
    case fillFromBackup
    /// To give rows of earlier software digests under another key.
    case renewDigests
    /// To undo a renewal of the class keys that was killed.
    case renewKeys
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

    /// Allows a request, whose end the caller records, or refuses it, which is recorded here.
    ///
    /// - Parameter event: What the audit log says of the request when it is done.
    package func authorize(
        _ request: AccessRequest, for client: Client, recordedAs event: AuditEvent.Kind
    ) throws(AccessDenied) -> Authorization {
        do {
            let scope = try AccessPolicy.scope(of: request, for: client)
            return Authorization(request, of: client, scope: scope, recordedAs: event)
        } catch {
            refused(request, for: client, error)
            throw error
        }
    }

    /// Allows the engine what no client asked for. Nothing of it is recorded: it belongs to what made it necessary.
    package static func authorize(_ upkeep: Upkeep) -> Authorization {
        let engine = Client(identifier: "engine", accessGroups: [Client.everyGroup])
        switch upkeep {
        case .eraseAfterWrongPasscodes:
            return Authorization(
                AccessRequest(.erase, isAboutWholeVault: true), of: engine, scope: .every, recordedAs: .erased)
        case .removeUnreadable:
            return Authorization(
                AccessRequest(.delete, isAboutWholeVault: true), of: engine, scope: .every, recordedAs: .deleted)
        case .fillFromBackup, .renewDigests, .renewKeys:
            return Authorization(
                AccessRequest(.restore, isAboutWholeVault: true), of: engine, scope: .every, recordedAs: .restored)
        }
    }

    /// Records that `client` may not do what it asked for.
    package func refused(_ request: AccessRequest, for client: Client, _ refusal: AccessDenied) {
        guard isRecording else { return }
        var request = request
        // Also the group that the client chose for new items, which the request does not name.
        if case .groupNotHeld(let group, _) = refusal { request.accessGroup = request.accessGroup ?? group }
        audit.record(
            AuditEvent(
                .refused, client: client.identifier, program: client.program, process: client.process,
                operation: request, failure: AuditFailure(refusal)))
    }

    /// Records how a request ended that the gate allowed.
    ///
    /// - Parameters:
    ///   - items: How many items were handed out or changed.
    ///   - digests: Which items those were; empty for those that the request names.
    ///   - failure: Why it was not done; nil when it was.
    ///   - brokered: What the client tells of a request, if that is what is recorded.
    package func record(
        _ authorization: Authorization, items: Int? = nil, digests: [UInt64] = [], failure: AuditFailure? = nil,
        brokered: BrokeredRequest? = nil
    ) {
        guard isRecording else { return }
        var request = authorization.request
        if !digests.isEmpty { request.itemDigests = Array(digests.prefix(AccessRequest.mostItemDigests)) }
        audit.record(
            AuditEvent(
                authorization.event, client: authorization.client.identifier, program: authorization.client.program,
                process: authorization.client.process, operation: request, items: items, failure: failure,
                request: brokered))
    }

    /// Records what is no operation on items, such as ``AuditEvent/Kind/unlocked``.
    package func record(_ kind: AuditEvent.Kind, by client: Client, failure: AuditFailure? = nil) {
        guard isRecording else { return }
        audit.record(
            AuditEvent(
                kind, client: client.identifier, program: client.program, process: client.process, failure: failure))
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

    /// Anchors the audit log; see ``AuditSink/anchor(isExpected:)``.
    package func anchor(isExpected: Bool) -> AuditAnchoring {
        isRecording ? audit.anchor(isExpected: isExpected) : .impossible
    }
}
