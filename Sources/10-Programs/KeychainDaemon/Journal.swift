import Access
import Logging
import Metrics
import Synchronization
import Vault
import VaultInterface
import VaultService

/// Records what the server does: refusals and failures in the log, everything in the metrics.
struct Journal: ServerObserver {
    let logger: Logger

    private let connections = Gauge(label: "keychain_connections")
    private let count = OpenConnections()
    private let rejections = Rejections()

    func connected(_ caller: CallerDescription, process: Int32, user: UInt32) {
        Counter(label: "keychain_connections_total").increment()
        connections.record(count.add(1))
        logger.debug(
            "connected",
            metadata: ["caller": "\(caller.identifier)", "process": "\(process)", "user": "\(user)"])
    }

    func rejected(reason: String, user: UInt32?) {
        Counter(label: "keychain_connections_rejected_total").increment()
        write(rejections.log.withLock { $0.record(reason, user: user, at: .now) })
    }

    /// Writes what was counted for a while.
    func writeDueRejections() { write(rejections.log.withLock { $0.takeDue(at: .now) }) }

    /// Writes what was counted until the end.
    func writeAllRejections() { write(rejections.log.withLock { $0.takeAll() }) }

    private func write(_ lines: [RejectionLog.Line]) {
        for line in lines {
            var metadata: Logger.Metadata = ["reason": "\(line.reason)"]
            if let user = line.user { metadata["user"] = "\(user)" }
            if line.count > 1 { metadata["times"] = "\(line.count)" }
            logger.notice("connection rejected", metadata: metadata)
        }
    }

    func disconnected() {
        connections.record(count.add(-1))
    }

    func answered(_ operation: String, for caller: String, in time: Duration, refusal: VaultError?) {
        let outcome = refusal.map { AuditFailure($0).rawValue } ?? "ok"
        Counter(label: "keychain_requests_total", dimensions: [("operation", operation), ("outcome", outcome)])
            .increment()
        Timer(label: "keychain_request_duration", dimensions: [("operation", operation)])
            .recordNanoseconds(Int64(time / .nanoseconds(1)))
        guard let refusal else { return }
        if AuditFailure(refusal) == .damaged { Counter(label: "keychain_damaged_total").increment() }
        let level: Logger.Level =
            switch refusal {
            // A client can bring these about as often as it likes.
            case .itemNotFound, .duplicateItem, .clientIsGone: .debug
            case .corruptItem, .corruptVault, .inputOutput, .diskFull, .readOnly, .memoryUnavailable: .error
            default: .notice
            }
        logger.log(
            level: level, "refused",
            metadata: ["operation": "\(operation)", "caller": "\(caller)", "outcome": "\(outcome)"])
    }
}

/// The rejections that are told of later.
private final class Rejections: Sendable {
    let log = Mutex(RejectionLog())
}

/// How many connections there are.
private final class OpenConnections: Sendable {
    private let count = Mutex(0)

    func add(_ number: Int) -> Int {
        count.withLock {
            $0 += number
            return $0
        }
    }
}
