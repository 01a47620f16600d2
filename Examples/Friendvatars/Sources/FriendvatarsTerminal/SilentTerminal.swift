import Foundation
import Glibc

/// What a handler of signals needs to put the terminal back. Written while no handler is set, and read by handlers.
private nonisolated(unsafe) var settings = (descriptor: Int32(-1), before: termios(), silent: termios())

/// Puts the terminal back, lets the signal take its usual course, and silences it again if the process was only
/// stopped. All that it calls may be called in a handler (signal-safety(7)).
private func restoreAndRaise(_ number: Int32) {
    let error = errno
    tcsetattr(settings.descriptor, TCSAFLUSH, &settings.before)
    var (usual, own, mask) = (sigaction(), sigaction(), sigset_t())
    sigaction(number, &usual, &own)
    sigemptyset(&mask)
    sigaddset(&mask, number)
    pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    raise(number)
    sigaction(number, &own, nil)
    tcsetattr(settings.descriptor, TCSAFLUSH, &settings.silent)
    errno = error
}

/// The controlling terminal, which does not show what is typed. One question at a time.
struct SilentTerminal: ~Copyable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
    private let descriptor: Int32

    /// Nil when the process has no terminal.
    init?() {
        descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Asks for a line.
    borrowing func ask(_ question: String) throws -> String {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else {
            throw TerminalFailure("The terminal cannot be used: \(String(cString: strerror(errno)))")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        settings = (descriptor, before, silent)
        let actions = Self.signals.map { number in
            var (own, former) = (sigaction(), sigaction())
            own.__sigaction_handler.sa_handler = restoreAndRaise
            own.sa_flags = SA_RESTART
            sigaction(number, &own, &former)
            return (number, former)
        }
        defer {
            // What was typed ahead goes too: the rest of a password is no command for the shell.
            tcsetattr(descriptor, TCSAFLUSH, &before)
            for (number, former) in actions {
                var former = former
                sigaction(number, &former, nil)
            }
        }
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else {
            throw TerminalFailure("The terminal cannot be used: \(String(cString: strerror(errno)))")
        }
        write(question)
        defer { write("\n") }
        return try PasswordInput.line(of: descriptor)
    }

    private borrowing func write(_ text: String) {
        // A question that is not seen can be answered all the same.
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
