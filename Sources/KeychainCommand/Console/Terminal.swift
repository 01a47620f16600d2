import Foundation
import Glibc
import SecureMemory
import Synchronization

/// The controlling terminal, opened anew so that redirected input and output do not matter.
struct Terminal: ~Copyable {
    /// The most bytes a line can have in the terminal's line mode; the kernel drops the rest without a
    /// word (termios(3)).
    private static let lineLimit = 4095

    private let descriptor: Int32

    /// Nil when the process has no terminal.
    init?() {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Asks for a line that is shown while it is typed.
    func ask(_ prompt: String) throws(Failure) -> String {
        let answer = try askInTurn([prompt], echoing: true)
        return answer.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Asks for each of the secrets in turn, without echo.
    func askSecrets(_ prompts: [String]) throws(Failure) -> [Data] {
        try askInTurn(prompts, echoing: false)
    }

    private func askInTurn(_ prompts: [String], echoing: Bool) throws(Failure) -> [Data] {
        let guarded = GuardedSignals()
        defer { guarded.release() }
        var answers: [Data] = []
        while answers.count < prompts.count {
            let saved = try echoing ? nil : silence()
            defer { if var saved { tcsetattr(descriptor, TCSAFLUSH, &saved) } }
            do {
                while answers.count < prompts.count {
                    try FileOutput.write(Data(prompts[answers.count].utf8), to: descriptor)
                    guard let line = try readLine(guarded) else { break }
                    answers.append(line)
                    if !echoing { try FileOutput.write(Data("\n".utf8), to: descriptor) }
                }
            }
            // A signal came: with the terminal as it was before, it takes its usual course. A process
            // that was only suspended goes on asking.
            if answers.count < prompts.count {
                if var saved { tcsetattr(descriptor, TCSAFLUSH, &saved) }
                try? FileOutput.write(Data("\n".utf8), to: descriptor)
                guarded.deliver()
            }
        }
        return answers
    }

    /// - Returns: The terminal's settings before.
    private func silence() throws(Failure) -> termios {
        var saved = termios()
        guard tcgetattr(descriptor, &saved) == 0 else { throw unusable() }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { throw unusable() }
        return saved
    }

    /// A line without its newline, or nil when a signal came instead.
    private func readLine(_ guarded: borrowing GuardedSignals) throws(Failure) -> Data? {
        guard guarded.waitForInput(descriptor) else { return nil }
        var buffer = [UInt8](repeating: 0, count: Self.lineLimit + 1)
        defer { buffer.wipe() }
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw unusable() }
        guard count > 0 else {
            throw Failure(status: SecurityStatus.userCanceled, "canceled at the prompt: nothing was changed")
        }
        guard count < Self.lineLimit else {
            throw Failure(
                status: SecurityStatus.dataTooLarge,
                "a line typed at a terminal ends after \(Self.lineLimit - 1) bytes: give a longer secret on standard input")
        }
        let length = buffer[count - 1] == UInt8(ascii: "\n") ? count - 1 : count
        return Data(buffer[..<length])
    }

    private func unusable() -> Failure {
        Failure(
            status: SecurityStatus.interactionNotAllowed,
            "the terminal does not work (\(String(cString: strerror(errno)))): give the secret on standard input")
    }
}

/// The signal that came while ``GuardedSignals`` watched; zero for none.
private let receivedSignal = Atomic<Int32>(0)

/// At file scope because C calls it on whatever thread the signal picks.
private func noteSignal(_ number: Int32) {
    receivedSignal.store(number, ordering: .relaxed)
}

/// Holds back the signals that end or suspend a program at a prompt, so that the terminal's echo can be
/// put back first.
private struct GuardedSignals: ~Copyable {
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
