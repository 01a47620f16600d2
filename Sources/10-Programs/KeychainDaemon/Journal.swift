import Access
import Bytes
import CLibrary
import Logging
import Metrics
import Synchronization
import Vault
import VaultInterface
import VaultService

/// Records what the server does: refusals and failures in the log, everything in the metrics.
struct Journal: ServerObserver {
    let logger: Logger
    /// Is told of each request.
    var activity: RequestActivity?

    private let connections = Gauge(label: "keychain_connections")
    private let count = OpenConnections()
    private let repeated = Repeated()
    private let meters = RequestMeters()

    func connected(_ caller: CallerDescription, process: Int32, user: UInt32) {
        Counter(label: "keychain_connections_total").increment()
        connections.record(count.add(1))
        logger.debug(
            "connected",
            metadata: ["caller": "\(caller.identifier)", "process": "\(process)", "user": "\(user)"])
    }

    func rejected(reason: String, user: UInt32?) {
        Counter(label: "keychain_connections_rejected_total").increment()
        write(repeated.rejections.withLock { $0.record(reason, user: user, at: .now) })
    }

    /// Writes what was counted for a while.
    func writeDueRejections() {
        write(repeated.rejections.withLock { $0.takeDue(at: .now) })
        write(repeated.refusals.withLock { $0.takeDue(at: .now) })
        write(repeated.faults.withLock { $0.takeDue(at: .now) })
    }

    /// Writes what was counted until the end.
    func writeAllRejections() {
        write(repeated.rejections.withLock { $0.takeAll() })
        write(repeated.refusals.withLock { $0.takeAll() })
        write(repeated.faults.withLock { $0.takeAll() })
    }

    private func write(_ lines: [RejectionLog<String>.Line]) {
        for line in lines {
            var metadata: Logger.Metadata = ["reason": "\(line.reason)"]
            if let user = line.user { metadata["user"] = "\(user)" }
            if line.count > 1 { metadata["times"] = "\(line.count)" }
            logger.notice("connection rejected", metadata: metadata)
        }
    }

    private func write(_ lines: [RejectionLog<Refusal>.Line]) {
        for line in lines {
            let refusal = line.reason
            var metadata: Logger.Metadata = [
                "operation": "\(refusal.operation)", "caller": "\(refusal.caller)", "outcome": "\(refusal.outcome)",
            ]
            if line.count > 1 { metadata["times"] = "\(line.count)" }
            logger.log(level: refusal.isError ? .error : .notice, "refused", metadata: metadata)
        }
    }

    func disconnected() { connections.record(count.add(-1)) }

    func answered(
        _ operation: String, for caller: String, of user: UInt32, in time: Duration, refusal: VaultError?
    ) {
        activity?.note(operation)
        let outcome = refusal.map(\.outcome) ?? "ok"
        meters.record(operation, outcome, time)
        guard let refusal else { return }
        if AuditFailure(refusal) == .damaged { Counter(label: "keychain_damaged_total").increment() }
        switch refusal {
        // Programs ask for what is not there all the time.
        case .itemNotFound, .duplicateItem, .clientIsGone:
            logger.debug(
                "refused", metadata: ["operation": "\(operation)", "caller": "\(caller)", "outcome": "\(outcome)"])
        default:
            let refused = Refusal(
                operation: operation, outcome: outcome, caller: Refusal.shortened(caller), isError: refusal.isFault)
            let lines =
                refused.isError
                ? repeated.faults.withLock { $0.record(refused, user: user, at: .now) }
                : repeated.refusals.withLock { $0.record(refused, user: user, at: .now) }
            write(lines)
        }
    }
}

/// The metrics of requests, each made once: there are as many as there are operations and outcomes.
private final class RequestMeters: Sendable {
    private struct Key: Hashable {
        var operation: String
        var outcome: String
    }

    private let meters = UnfairMutex<[Key: (count: Counter, duration: Timer)]>([:])

    func record(_ operation: String, _ outcome: String, _ time: Duration) {
        let key = Key(operation: operation, outcome: outcome)
        let (count, duration) = meters.withLock { meters in
            if let known = meters[key] { return known }
            let (name, end) = (("operation", operation), ("outcome", outcome))
            let made = (
                Counter(label: "keychain_requests_total", dimensions: [name, end]),
                Timer(label: "keychain_request_duration", dimensions: [name])
            )
            meters[key] = made
            return made
        }
        count.increment()
        let (seconds, attoseconds) = time.components
        duration.recordNanoseconds(
            Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000)))
    }
}

/// A refused request, as the log tells of it.
struct Refusal: Hashable, Comparable {
    var operation: String
    var outcome: String
    var caller: String
    /// Whether something is wrong with the vault or the machine.
    var isError = false

    static let others = Refusal(operation: "other operations", outcome: "other outcomes", caller: "other programs")
    static let otherFaults = Refusal(
        operation: "other operations", outcome: "other faults", caller: "other programs", isError: true)

    static func < (one: Refusal, other: Refusal) -> Bool {
        (one.caller, one.operation, one.outcome) < (other.caller, other.operation, other.outcome)
    }

    /// A program's path can have 4,096 bytes.
    static func shortened(_ name: String) -> String {
        name.utf8.count <= 255 ? name : String(decoding: name.utf8.prefix(200), as: UTF8.self) + "…"
    }
}

extension VaultError {
    /// A word for logs and metrics.
    fileprivate var outcome: String {
        switch self {
        case .quotaExceeded: "quota-exceeded"
        case .diskFull: "disk-full"
        default: AuditFailure(self).rawValue
        }
    }

    fileprivate var isFault: Bool {
        switch self {
        case .corruptItem, .corruptVault, .inputOutput, .diskFull, .readOnly, .memoryUnavailable: true
        default: false
        }
    }
}

/// What is told of later, because it repeats.
private final class Repeated: Sendable {
    let rejections = Mutex(RejectionLog(otherReasons: "other reasons"))
    let refusals = Mutex(RejectionLog(otherReasons: Refusal.others))
    /// Apart from refusals, which a client can bring about in any number: they must not hide a fault.
    let faults = Mutex(RejectionLog(otherReasons: Refusal.otherFaults))
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
