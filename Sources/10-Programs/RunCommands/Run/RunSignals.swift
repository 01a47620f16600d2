import Bytes
import CLibrary
import CommandKit
import Synchronization
import SystemLibraries

/// The child that signals are passed on to; 0 before there is one, -1 once it is gone.
private let signaledChild = Atomic<Int32>(0)
/// A descriptor of the process that gets the signals (pidfd_open(2)) where that is not the child; -1 without.
private let signaledProcess = Atomic<Int32>(-1)
/// `syscall(2)`, found before a handler needs it.
private let call: (@convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int)? = libraryFunction("syscall")
/// The signals that are still to be passed on: a bit for each number.
private let waitingSignals = Atomic<UInt64>(0)
/// Whether a signal came that means an end, since ``RunSignals/beginRestart()``.
private let isAskedToEnd = Atomic<Bool>(false)
/// The descriptor that the handler writes to when a child changed; -1 while nobody waits.
private let childNotices = Atomic<Int32>(-1)

/// At file scope because C calls it, on any thread.
private func passOnSignal(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
    let before = errno
    defer { errno = before }
    if [SIGINT, SIGQUIT, SIGTERM].contains(number) { isAskedToEnd.store(true, ordering: .sequentiallyConsistent) }
    // The child gets the signals of the terminal itself (SI_KERNEL, sigaction(2)).
    if signaledChild.load(ordering: .sequentiallyConsistent) > 0, (info?.pointee.si_code ?? 0) > 0 { return }
    waitingSignals.bitwiseOr(1 << UInt64(clamping: number), ordering: .sequentiallyConsistent)
    sendWaitingSignals()
}

private func sendWaitingSignals() {
    let child = signaledChild.load(ordering: .sequentiallyConsistent)
    guard child > 0 else { return }
    let waiting = waitingSignals.exchange(0, ordering: .sequentiallyConsistent)
    let process = Int(signaledProcess.load(ordering: .sequentiallyConsistent))
    for number in Int32(1)..<32 where waiting & 1 << UInt64(clamping: number) != 0 {
        if process >= 0 {
            // pidfd_send_signal(2), which has this number on all architectures.
            _ = call?(424, process, Int(number), 0, 0, 0, 0)
        } else {
            kill(child, number)
        }
    }
}

private func noteChild(_: Int32) {
    let before = errno
    var byte: UInt8 = 0
    _ = write(childNotices.load(ordering: .relaxed), &byte, 1)
    errno = before
}

/// Passes signals to `keychain run` on to its command, for which they are meant.
///
/// Signals that were ignored when this process started stay ignored, also by the command.
enum RunSignals {
    static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH]
    /// Those that mean an end.
    private static let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]

    /// Keeps signals for the command from now on.
    static func catchAll() {
        for number in passedOn {
            var action = sigaction()
            sigaction(number, nil, &action)
            let isIgnored =
                action.sa_flags & SA_SIGINFO == 0
                && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
            if isIgnored { continue }
            action = sigaction()
            action.__sigaction_handler.sa_sigaction = passOnSignal
            action.sa_flags = SA_SIGINFO | SA_RESTART
            sigaction(number, &action, nil)
        }
        // If SIGCHLD is ignored, the system keeps no status of children.
        signal(SIGCHLD, SIG_DFL)
    }

    /// The signal that asked this process to end before there was a command.
    static var early: Int32? {
        let waiting = waitingSignals.load(ordering: .sequentiallyConsistent)
        return ending.first { waiting & 1 << UInt64(clamping: $0) != 0 }
    }

    /// Begins to notice whether somebody ends this process while the command is ended to be started again.
    static func beginRestart() { isAskedToEnd.store(false, ordering: .sequentiallyConsistent) }

    /// Whether a signal came since then that means an end.
    static var wasAskedToEnd: Bool { isAskedToEnd.load(ordering: .sequentiallyConsistent) }

    /// Starts the command, and passes on the signals that came and those that will come.
    ///
    /// Signals are blocked meanwhile. Otherwise the command could get a signal of the terminal twice: from the
    /// terminal, and from this process, which does not know the command's number yet.
    static func begin(_ start: () throws -> pid_t) throws -> pid_t {
        var (held, before) = (sigset_t(), sigset_t())
        sigemptyset(&held)
        for number in passedOn { sigaddset(&held, number) }
        pthread_sigmask(SIG_BLOCK, &held, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let child = try start()
        signaledChild.store(child, ordering: .sequentiallyConsistent)
        sendWaitingSignals()
        return child
    }

    /// Has signals go to another process than the child that ``begin(_:)`` starts. Is called while it starts it.
    ///
    /// - Parameter process: A descriptor of that process, which stays open.
    static func direct(to process: Int32) {
        _ = call
        signaledProcess.store(process, ordering: .sequentiallyConsistent)
    }

    /// Has a byte written to `descriptor` whenever a child may have ended.
    static func noticeChildren(on descriptor: Int32) {
        childNotices.store(descriptor, ordering: .relaxed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = noteChild
        action.sa_flags = SA_RESTART | SA_NOCLDSTOP
        sigaction(SIGCHLD, &action, nil)
    }

    /// Waits until the child is gone.
    ///
    /// - Parameter blocking: Whether to wait at all.
    /// - Returns: Its exit status, or 128 plus the number of a signal, as in a shell; nil while it runs.
    static func status(of child: pid_t, blocking: Bool) -> Int32? {
        var info = siginfo_t()
        // WEXITED, WNOWAIT and WNOHANG (waitid(2)): until waitpid, no other process gets its number.
        let options: Int32 = 0x4 | 0x0100_0000 | (blocking ? 0 : 0x1)
        _ = SystemCall.retryOnInterrupt { waitid(P_PID, id_t(clamping: child), &info, options) }
        guard info.si_signo != 0 || blocking else { return nil }
        signaledChild.store(-1, ordering: .sequentiallyConsistent)
        var status: Int32 = 0
        guard SystemCall.retryOnInterrupt({ waitpid(child, &status, 0) }) >= 0 else { return ExitStatus.other }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }
}
