import Bytes
import CLibrary
import Synchronization

/// The signal that came while ``GuardedSignals`` watched; zero for none.
private let receivedSignal = Atomic<Int32>(0)
/// The descriptor that the signal handler writes to; -1 while nobody watches.
private let signalWriter = Atomic<Int32>(-1)

/// At file scope, because C calls it on any thread.
private func noteSignal(_ number: Int32) {
    let before = errno
    receivedSignal.store(number, ordering: .relaxed)
    var byte: UInt8 = 0
    _ = write(signalWriter.load(ordering: .relaxed), &byte, 1)
    errno = before
}

/// Delays the signals that end or suspend a program at a prompt, so that the terminal's echo can be restored first. At
/// most one exists at a time: see ``Terminal``.
struct GuardedSignals: ~Copyable {
    private static let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Readable when a signal came.
    let descriptor: Int32
    private let writer: Int32
    private var previousActions: [(number: Int32, action: sigaction)] = []

    /// Nil if the system has no free descriptor.
    init?() {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, Int32(clamping: kind), 0, &ends) == 0 else { return nil }
        (descriptor, writer) = (ends[0], ends[1])
        receivedSignal.store(0, ordering: .relaxed)
        signalWriter.store(writer, ordering: .relaxed)
        for number in Self.watched {
            var previous = sigaction()
            sigaction(number, nil, &previous)
            // A program like nohup starts this one with a signal ignored, and the signal must stay ignored.
            if previous.sa_flags & SA_SIGINFO == 0, isIgnored(previous) { continue }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = noteSignal
            sigaction(number, &action, nil)
            previousActions.append((number, previous))
        }
    }

    private func isIgnored(_ action: sigaction) -> Bool {
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Delivers the pending signal with its previous action. Continues to watch if the process still runs.
    borrowing func deliver() {
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        while read(descriptor, &bytes, bytes.count) > 0 {}
        let number = receivedSignal.exchange(0, ordering: .relaxed)
        guard var previous = previousActions.first(where: { $0.number == number })?.action else { return }
        var watching = sigaction()
        sigaction(number, &previous, &watching)
        // Raises it on this thread, so that it has taken effect at the return. Threads of libraries block signals.
        var (mask, previousMask) = (sigset_t(), sigset_t())
        sigemptyset(&mask)
        sigaddset(&mask, number)
        pthread_sigmask(SIG_UNBLOCK, &mask, &previousMask)
        raise(number)
        pthread_sigmask(SIG_SETMASK, &previousMask, nil)
        sigaction(number, &watching, nil)
    }

    deinit {
        for (number, action) in previousActions {
            var action = action
            sigaction(number, &action, nil)
        }
        // A handler that still runs must not write to a descriptor that is opened later under the same number.
        signalWriter.store(-1, ordering: .relaxed)
        close(writer)
        close(descriptor)
    }
}
