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

    func connected(_ caller: CallerDescription, process: Int32, user: UInt32) {
        Counter(label: "keychain_connections_total").increment()
        connections.record(count.add(1))
        logger.debug(
            "connected",
            metadata: ["caller": "\(caller.identifier)", "process": "\(process)", "user": "\(user)"])
    }

    func rejected(reason: String) {
        Counter(label: "keychain_connections_rejected_total").increment()
        logger.notice("connection rejected", metadata: ["reason": "\(reason)"])
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
        let level: Logger.Level =
            switch refusal {
            case .itemNotFound, .duplicateItem: .debug
            case .corruptItem, .corruptVault, .inputOutput, .diskFull, .readOnly, .memoryUnavailable: .error
            default: .notice
            }
        logger.log(
            level: level, "refused",
            metadata: ["operation": "\(operation)", "caller": "\(caller)", "outcome": "\(outcome)"])
    }
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
