import Access
import Bytes
import CLibrary
import Dispatch
import FoundationEssentials
import SystemLibraries

/// An audit log for a daemon that writes some events later, so that read operations need not wait, and that no served
/// program can fill.
///
/// An event that changes something, is refused or concerns the lock is in the file when `record` returns, with all
/// records before it. An event of a read is in the file within ``gathering``, and is lost if the process is killed
/// before. If ``capacity`` events wait, the caller of the next one writes them.
///
/// Equal events of a program become one record with their number, which is written within ``folding`` and at each
/// ``flush()``; the first of them has a record of its own, as above. No change of an item is folded. If a program has
/// used up its share, see ``AuditShares``, all further events of one kind become one such record, changes included.
package final class BufferedAudit: AuditSink {
    private let writer: Writer

    /// The time for which events are collected before they are written together.
    package static let gathering = Duration.milliseconds(20)
    /// The largest number of waiting events.
    package static let capacity = 4_096
    /// The time for which equal events are counted before their number is written.
    package static let folding = Duration.seconds(60)

    package init(
        limits: AuditLimits = AuditLimits(), shares: AuditShares.Limits = AuditShares.Limits(),
        folding: Duration = folding
    ) {
        let writer = Writer(AuditLog(limits: limits), AuditFolds(shares), folding)
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
        writer.drain(closing: true)
        writer.log.flush()
        writer.log.synchronize()
    }

    package func anchor(isExpected: Bool) -> AuditAnchoring {
        writer.drain()
        return writer.log.anchor(isExpected: isExpected)
    }

    /// The number of events since the last written one that could not be written.
    package var missedEvents: Int { writer.log.missedEvents }
}

/// The state that the thread and its owner share.
private final class Writer: Sendable {
    private struct Queue {
        var moments: [AuditLog.Moment] = []
        var folds: AuditFolds
        /// When the oldest open fold is to be written; nil without one.
        var foldsEnd: ContinuousClock.Instant?
        var now: @Sendable () -> Date = { Date() }
        var isStopped = false
        /// Whether the thread was woken and has not yet looked at the queue.
        var isAwake = false
    }

    let log: AuditLog
    private let folding: Duration
    private let queue: UnfairMutex<Queue>
    /// Signalled if events come while the thread waits, and at the end.
    private let wakening = DispatchSemaphore(value: 0)

    init(_ log: AuditLog, _ folds: AuditFolds, _ folding: Duration) {
        self.log = log
        self.folding = folding
        queue = UnfairMutex(Queue(folds: folds))
    }

    func begin(in place: AuditPlace) {
        queue.withLock { $0.now = place.now }
        log.begin(in: place)
    }

    func record(_ event: AuditEvent) {
        let (mustWrite, isStopped, mustWake) = queue.withLock { queue in
            let waiting = queue.moments.count
            queue.folds.add(event, at: queue.now(), to: &queue.moments)
            let isNew = queue.moments.count > waiting
            let isFirstFold = queue.foldsEnd == nil && !queue.folds.isEmpty
            if isFirstFold { queue.foldsEnd = .now + folding }
            let mustWake = (isNew || isFirstFold) && !queue.isAwake
            if mustWake { queue.isAwake = true }
            let mustWrite = isNew && (!event.kind.isLook || queue.moments.count >= BufferedAudit.capacity)
            return (mustWrite || queue.isStopped, queue.isStopped, mustWake)
        }
        if mustWrite { drain(closing: isStopped) }
        if mustWake { wakening.signal() }
    }

    /// Writes the waiting events. Takes them from the queue when it is this caller's turn to write, so that the order
    /// stays.
    ///
    /// - Parameter closing: Whether to write the open folds, too.
    func drain(closing: Bool = false) {
        log.append { _ in
            queue.withLock { queue in
                if closing {
                    queue.moments += queue.folds.close()
                    queue.foldsEnd = nil
                }
                defer { queue.moments.removeAll(keepingCapacity: true) }
                return queue.moments
            }
        }
    }

    func stop() {
        queue.withLock { $0.isStopped = true }
        wakening.signal()
        drain(closing: true)
    }

    func run() {
        var lastSynchronized = ContinuousClock.now
        var isDirty = false
        while true {
            let (isStopped, foldsEnd) = queue.withLock { ($0.isStopped, $0.foldsEnd) }
            if isStopped { break }
            if let foldsEnd, foldsEnd <= .now {
                // Before `begin`, nothing is written, and the next try is later.
                queue.withLock { $0.foldsEnd = .now + folding }
                drain(closing: true)
                isDirty = true
            } else if isDirty {
                // Written records are on the disk within one second.
                if wakening.wait(timeout: .now() + .seconds(1)) == .success { gather() }
            } else if let foldsEnd {
                let pause = ContinuousClock.now.duration(to: foldsEnd) / .milliseconds(1)
                if wakening.wait(timeout: .now() + .milliseconds(Int(clamping: pause) + 1)) == .success {
                    gather()
                    isDirty = true
                }
            } else {
                wakening.wait()
                gather()
                isDirty = true
            }
            if isDirty, ContinuousClock.now - lastSynchronized >= .seconds(1) {
                log.synchronize()
                lastSynchronized = .now
                isDirty = false
            }
        }
        log.synchronize()
    }

    private func gather() {
        // Not a wait for an event: it lets several events share one write.
        usleep(UInt32(clamping: BufferedAudit.gathering / .microseconds(1)))
        queue.withLock { $0.isAwake = false }
        drain()
    }
}
