import FoundationEssentials

/// Where events are recorded.
package protocol AuditSink: Sendable {
    /// Whether the sink records events. If not, callers skip the work of making them.
    var isRecording: Bool { get }

    func record(_ event: AuditEvent)

    /// Tells the sink, before the first event, which vault it is for.
    func begin(in place: AuditPlace)

    /// Waits until the sink has stored every recorded event.
    func flush()

    /// Checks the records since the last anchor, and anchors the log at its present end; see
    /// ``AuditPlace/anchorSeal``. Call it after an unlocking.
    ///
    /// - Parameter isExpected: Whether the vault knows that its log has an anchor.
    func anchor(isExpected: Bool) -> AuditAnchoring
}

/// What became of anchoring a log.
package enum AuditAnchoring: Sendable, Equatable {
    /// There is no log, the vault is locked, or the anchor could not be written. The former anchor is still in force.
    case impossible
    case done
    /// The log is anchored, and records that its records since the last anchor are not those that a vault wrote.
    case doneAfterChange
}

extension AuditSink {
    package var isRecording: Bool { true }
    package func begin(in place: AuditPlace) {}
    package func flush() {}
    package func anchor(isExpected: Bool) -> AuditAnchoring { .impossible }
}

/// A vault without an audit log.
package struct NoAudit: AuditSink {
    package init() {}
    package var isRecording: Bool { false }
    package func record(_ event: AuditEvent) {}
}

/// The vault that a log is for.
package struct AuditPlace: Sendable {
    /// The path of its folder, which belongs to this user and is closed to others.
    package var folder: String
    /// What authenticates records now; another one after the vault was erased, nil when it is gone.
    package var seal: @Sendable () -> (any AuditSeal)?
    /// What anchors the log: a key that only an unlocking opens. Nil until then.
    package var anchorSeal: @Sendable () -> (any AuditSeal)?
    package var now: @Sendable () -> Date
    /// The process that keeps the log, for events of clients without a process of their own; nil to leave it out.
    package var process: ClientProcess?

    package init(
        folder: String, seal: @escaping @Sendable () -> (any AuditSeal)?,
        anchorSeal: @escaping @Sendable () -> (any AuditSeal)? = { nil }, now: @escaping @Sendable () -> Date,
        process: ClientProcess? = nil
    ) {
        self.folder = folder
        self.seal = seal
        self.anchorSeal = anchorSeal
        self.now = now
        self.process = process
    }
}

/// Authenticates records with a key that only the vault has.
package protocol AuditSeal: Sendable {
    /// Which key it is: the identifier of the keybag that the key comes from.
    var identifier: UUID { get }

    /// The HMAC-SHA256 of `message`.
    func tag(of message: Data) -> Data
}
