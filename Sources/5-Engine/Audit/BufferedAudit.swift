import Access
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import SystemLibraries

/// An audit log that is written behind its caller's back, for a daemon: who only looks does not wait.
///
/// What changes something, or is refused, or concerns the lock, is in the file when `record` returns, and
/// all that came before it. What only looks is there within ``gathering``, and is lost when the process is
/// killed in between. When more than ``capacity`` events wait, whoever brings the next one writes them.
package final class BufferedAudit: AuditSink {
    private let writer: Writer

    /// How long events are gathered before they are written together.
    package static let gathering = Duration.milliseconds(20)
    /// How many events may wait at most.
    package static let capacity = 4_096

    package init(limits: AuditLimits = AuditLimits()) {
        let writer = Writer(AuditLog(limits: limits))
        self.writer = writer
        // Without a thread every event is written by the one who brings it.
        if !DetachedThread.start("audit", { writer.run() }) { writer.stop() }
    }

    deinit {
        writer.stop()
    }

    package func begin(in place: AuditPlace) { writer.begin(in: place) }

    package func record(_ event: AuditEvent) { writer.record(event) }

    package func flush() {
        writer.drain()
        writer.log.synchronize()
    }

    /// How many events could not be written since the last that could.
    package var missedEvents: Int { writer.log.missedEvents }
}

/// What the thread and its owner share.
private final class Writer: Sendable {
    private struct Queue {
        var moments: [AuditLog.Moment] = []
        var now: @Sendable () -> Date = { Date() }
        var isStopped = false
        /// Whether the thread has been woken and has not looked yet.
        var isAwake = false
    }

    let log: AuditLog
    private let queue = Mutex(Queue())
    /// Signalled when there is something to write while the thread waits, and at the end.
    private let wakening = DispatchSemaphore(value: 0)

    init(_ log: AuditLog) {
        self.log = log
    }

    func begin(in place: AuditPlace) {
        queue.withLock { $0.now = place.now }
        log.begin(in: place)
    }

    func record(_ event: AuditEvent) {
        let (mustWrite, mustWake) = queue.withLock { queue in
            queue.moments.append(AuditLog.Moment(event, at: queue.now()))
            defer { queue.isAwake = true }
            return (queue.isStopped || queue.moments.count >= BufferedAudit.capacity, !queue.isAwake)
        }
        if !event.kind.isLook || mustWrite { drain() }
        if mustWake { wakening.signal() }
    }

    /// Writes what waits. Taken while it is this caller's turn to write, so that the order stays.
    func drain() {
        log.append { _ in
            queue.withLock { queue in
                defer { queue.moments.removeAll(keepingCapacity: true) }
                return queue.moments
            }
        }
    }

    func stop() {
        queue.withLock { $0.isStopped = true }
        wakening.signal()
        drain()
    }

    func run() {
        var lastSynchronized = ContinuousClock.now
        var isDirty = false
        while !queue.withLock({ $0.isStopped }) {
            if isDirty {
                // What is written goes to the disk a second later at the latest.
                if wakening.wait(timeout: .now() + .seconds(1)) == .success { gather() }
            } else {
                wakening.wait()
                gather()
            }
            isDirty = true
            if ContinuousClock.now - lastSynchronized >= .seconds(1) {
                log.synchronize()
                lastSynchronized = .now
                isDirty = false
            }
        }
        log.synchronize()
    }

    private func gather() {
        // Not a wait for something to happen: more events make one write.
        usleep(UInt32(BufferedAudit.gathering / .microseconds(1)))
        queue.withLock { $0.isAwake = false }
        drain()
    }
}
