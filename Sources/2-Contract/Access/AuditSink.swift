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
}

extension AuditSink {
    package var isRecording: Bool { true }
    package func begin(in place: AuditPlace) {}
    package func flush() {}
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
    package var now: @Sendable () -> Date
    /// The process that keeps the log, for events of clients without a process of their own; nil to leave it out.
    package var process: ClientProcess?

    package init(
        folder: String, seal: @escaping @Sendable () -> (any AuditSeal)?, now: @escaping @Sendable () -> Date,
        process: ClientProcess? = nil
    ) {
        self.folder = folder
        self.seal = seal
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
