import Access
import CLibrary
import Dispatch
import FoundationEssentials
import Synchronization
import SystemLibraries

/// An audit log for a daemon that writes some events later, so that read operations need not wait.
///
/// An event that changes something, is refused or concerns the lock is in the file when `record` returns, with all
/// events before it. An event of a read is in the file within ``gathering``, and is lost if the process is killed
/// before. If ``capacity`` events wait, the caller of the next one writes them.
package final class BufferedAudit: AuditSink {
    private let writer: Writer

    /// The time for which events are collected before they are written together.
    package static let gathering = Duration.milliseconds(20)
    /// The largest number of waiting events.
    package static let capacity = 4_096

    package init(limits: AuditLimits = AuditLimits()) {
        let writer = Writer(AuditLog(limits: limits))
        self.writer = writer
        // Without a thread, each caller writes its own event.
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

    /// The number of events since the last written one that could not be written.
    package var missedEvents: Int { writer.log.missedEvents }
}

/// The state that the thread and its owner share.
private final class Writer: Sendable {
    private struct Queue {
        var moments: [AuditLog.Moment] = []
        var now: @Sendable () -> Date = { Date() }
        var isStopped = false
        /// Whether the thread was woken and has not yet looked at the queue.
        var isAwake = false
    }

    let log: AuditLog
    private let queue = Mutex(Queue())
    /// Signalled if events come while the thread waits, and at the end.
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

    /// Writes the waiting events. Takes them from the queue when it is this caller's turn to write, so that the order
    /// stays.
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
                // Written records are on the disk within one second.
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
        // Not a wait for an event: it lets several events share one write.
        usleep(UInt32(BufferedAudit.gathering / .microseconds(1)))
        queue.withLock { $0.isAwake = false }
        drain()
    }
}
