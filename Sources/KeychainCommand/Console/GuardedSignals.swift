import Glibc
import Synchronization

/// The signal that came while ``GuardedSignals`` watched; zero for none.
private let receivedSignal = Atomic<Int32>(0)

/// At file scope because C calls it on whatever thread the signal picks.
private func noteSignal(_ number: Int32) {
    receivedSignal.store(number, ordering: .relaxed)
}

/// Holds back the signals that end or suspend a program at a prompt, so that the terminal's echo can be
/// put back first.
struct GuardedSignals: ~Copyable {
    private static let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private var previousMask = sigset_t()
    private var previousActions: [(number: Int32, action: sigaction)] = []

    init() {
        var mask = sigset_t()
        sigemptyset(&mask)
        receivedSignal.store(0, ordering: .relaxed)
        for number in Self.watched { sigaddset(&mask, number) }
        pthread_sigmask(SIG_BLOCK, &mask, &previousMask)
        for number in Self.watched {
            var previous = sigaction()
            sigaction(number, nil, &previous)
            // Whoever started the program with a signal ignored, as nohup does, wants it ignored.
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

    /// - Returns: False when a signal came first.
    borrowing func waitForInput(_ descriptor: Int32) -> Bool {
        var mask = previousMask
        for number in Self.watched { sigdelset(&mask, number) }
        while true {
            var waiting = fd_set()
            let fits = withUnsafeMutableBytes(of: &waiting) { bits in
                guard Int(descriptor) / 8 < bits.count else { return false }
                // Words are little-endian here, so that bit n of the set is bit n % 8 of byte n / 8.
                bits[Int(descriptor) / 8] |= 1 << UInt8(descriptor % 8)
                return true
            }
            // `read` blocks just as well; only a signal would then wait for the end of the line.
            guard fits else { return true }
            if pselect(descriptor + 1, &waiting, nil, nil, nil, &mask) >= 0 { return true }
            if receivedSignal.load(ordering: .relaxed) != 0 { return false }
            if errno != EINTR { return true }
        }
    }

    /// Lets the signal that came take its usual course, and watches on if the process is still there.
    borrowing func deliver() {
        let number = receivedSignal.exchange(0, ordering: .relaxed)
        guard var previous = previousActions.first(where: { $0.number == number })?.action else { return }
        var watching = sigaction()
        sigaction(number, &previous, &watching)
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, number)
        kill(getpid(), number)
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        pthread_sigmask(SIG_BLOCK, &mask, nil)
        sigaction(number, &watching, nil)
    }

    borrowing func release() {
        for (number, action) in previousActions {
            var action = action
            sigaction(number, &action, nil)
        }
        var mask = previousMask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}
