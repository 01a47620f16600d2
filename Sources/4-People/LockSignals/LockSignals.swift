import Bytes
import CLibrary
import Synchronization
import SystemBus
import SystemLibraries

/// Receives locks, sleep and the end of sessions from logind, systemd's session manager.
///
/// Connects again and again if the bus is missing or lost. There are no signals meanwhile. `report` tells a program
/// when it would miss a lock.
package final class LockSignals: Sendable {
    private let bus: BusAddress
    private let user: uid_t?
    private let retryDelays: ClosedRange<Duration>
    private let report: @Sendable (Report) -> Void
    private let inhibitor = Mutex<Int32>(-1)
    private let ender = Ender()

    /// The state of the listening, for a log.
    package enum Report: Sendable, Equatable {
        case listening
        /// Signals are missed until the next ``listening``.
        case notListening(reason: String)
    }

    /// - Parameters:
    ///   - user: The user whose sessions count; nil for all users.
    ///   - retryDelays: The first and the longest time before the next attempt to connect.
    package init(
        bus: BusAddress = .system, user: uid_t? = getuid(),
        retryDelays: ClosedRange<Duration> = .seconds(1) ... .seconds(60),
        report: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.bus = bus
        self.user = user
        self.retryDelays = retryDelays
        self.report = report
    }

    /// Returns the signals from now on. Call it once.
    ///
    /// A separate thread listens until the stream ends or its task is cancelled.
    package func signals() -> AsyncStream<LockSignal> {
        AsyncStream { continuation in
            continuation.onTermination = { [ender] _ in ender.end() }
            let hasStarted = DetachedThread.start("lock-signals") { [self] in
                run { continuation.yield($0) }
                continuation.finish()
            }
            guard hasStarted else {
                report(.notListening(reason: "there can be no further thread"))
                return continuation.finish()
            }
        }
    }

    /// Lets the machine sleep, after the program has handled ``LockSignal/sleep``.
    package func readyToSleep() {
        let held = inhibitor.withLock { held in
            defer { held = -1 }
            return held
        }
        if held >= 0 { close(held) }
    }

    deinit {
        readyToSleep()
    }

    private func run(_ yield: (LockSignal) -> Void) {
        var delay = retryDelays.lowerBound
        while !ender.hasEnded {
            do throws(BusError) {
                let sessions = try SessionWatch(bus, user: user)
                delayNextSleep(sessions)
                report(.listening)
                delay = retryDelays.lowerBound
                try listen(sessions, yield)
            } catch {
                report(.notListening(reason: error.description))
            }
            readyToSleep()
            guard !ender.hasEnded else { return }
            ender.wait(delay)
            delay = min(delay * 2, retryDelays.upperBound)
        }
    }

    private func listen(_ sessions: SessionWatch, _ yield: (LockSignal) -> Void) throws(BusError) {
        for signal in sessions.stateNow() { yield(signal) }
        while !ender.hasEnded {
            guard let signal = try sessions.next(interruption: ender.descriptor) else { continue }
            yield(signal)
            if signal == .wake { delayNextSleep(sessions) }
        }
    }

    /// Makes the machine wait before the next sleep, so that keys are wiped before memory stays unchanged for hours.
    private func delayNextSleep(_ sessions: SessionWatch) {
        // Some systems refuse this to a user without a session. Then sleep does not wait for the lock.
        guard let held = try? sessions.inhibitSleep() else { return }
        readyToSleep()
        inhibitor.withLock { $0 = held }
    }
}

/// Ends a thread that waits for descriptors.
private final class Ender: Sendable {
    private let ends: (reader: Int32, writer: Int32)
    private let ended = Atomic(false)

    init() {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        self.ends = (ends[0], ends[1])
    }

    deinit {
        for end in [ends.reader, ends.writer] where end >= 0 { close(end) }
    }

    /// Readable at the end.
    var descriptor: Int32 { ends.reader }
    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    func end() {
        ended.store(true, ordering: .releasing)
        shutdown(ends.writer, Int32(truncatingIfNeeded: SHUT_WR))
    }

    /// Waits for `duration`, or until the end.
    func wait(_ duration: Duration) {
        var entry = pollfd(fd: ends.reader, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
        poll(&entry, 1, Int32(clamping: Int64(clamping: duration / .milliseconds(1))))
    }
}
