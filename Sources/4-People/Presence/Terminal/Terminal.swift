import Access
import Glibc
import KeychainModel

/// Why a question at a terminal has no answer.
package enum TerminalError: Error, Equatable {
    /// The person ended the input, or the question was taken back.
    case canceled
    case timedOut
    /// The line was longer than a terminal can pass on.
    case tooLong(limit: Int)
    case unusable(reason: String)
}

/// The controlling terminal, opened anew so that redirected input and output do not matter.
package struct Terminal: ~Copyable {
    /// The most bytes a line can have in the terminal's line mode; the kernel drops the rest without a
    /// word (termios(3)).
    private static let lineLimit = 4095
    private static let turn = Turn()

    private let descriptor: Int32

    /// Nil when the process has no terminal.
    package init?() {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Whether this process may use the terminal now: one in the background would be stopped for it.
    package var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Shows `text` and begins a new line.
    package func show(_ text: String) throws(TerminalError) {
        try write(text + "\n")
    }

    /// Asks for a line after each of the prompts in turn.
    ///
    /// - Parameters:
    ///   - echoing: Whether what is typed is shown.
    ///   - deadline: Until when to wait for all of them; nil for as long as it takes.
    package func ask(
        _ prompts: [String], echoing: Bool, until deadline: ContinuousClock.Instant? = nil,
        cancellation: Cancellation = Cancellation()
    ) throws(TerminalError) -> [SecretBytes] {
        // A year stands for ever: the queue before the terminal needs an end.
        let end = deadline ?? ContinuousClock.now + .seconds(31_536_000)
        let outcome = Self.turn.take(until: end, cancellation) {
            Result { () throws(TerminalError) in try askInTurn(prompts, echoing, end, cancellation) }
        }
        guard let outcome else { throw cancellation.isCanceled ? .canceled : .timedOut }
        return try outcome.get()
    }

    private func askInTurn(
        _ prompts: [String], _ echoing: Bool, _ deadline: ContinuousClock.Instant, _ cancellation: Cancellation
    ) throws(TerminalError) -> [SecretBytes] {
        guard let guarded = GuardedSignals() else { throw unusable() }
        var answers: [SecretBytes] = []
        while answers.count < prompts.count {
            let interrupted = try ask(prompts, &answers, echoing, deadline, cancellation, guarded)
            // With the terminal as it was before, the signal takes its usual course. A process that was
            // only suspended goes on asking.
            if interrupted { guarded.deliver() }
        }
        return answers
    }

    /// Asks what `answers` does not have yet, and leaves the terminal as it was.
    ///
    /// - Returns: Whether a signal came first.
    private func ask(
        _ prompts: [String], _ answers: inout [SecretBytes], _ echoing: Bool, _ deadline: ContinuousClock.Instant,
        _ cancellation: Cancellation, _ guarded: borrowing GuardedSignals
    ) throws(TerminalError) -> Bool {
        let saved = try echoing ? nil : silence()
        // What was typed ahead goes too: the rest of a secret is no command for the shell.
        defer { if var saved { tcsetattr(descriptor, TCSAFLUSH, &saved) } }
        while answers.count < prompts.count {
            try write(prompts[answers.count])
            do {
                guard try waitForLine(deadline, cancellation, guarded) else {
                    try write("\n")
                    return true
                }
            } catch {
                try write("\n")
                throw error
            }
            answers.append(try readLine())
            if !echoing { try write("\n") }
        }
        return false
    }

    /// - Returns: False when a signal came first.
    private func waitForLine(
        _ deadline: ContinuousClock.Instant, _ cancellation: Cancellation, _ guarded: borrowing GuardedSignals
    ) throws(TerminalError) -> Bool {
        while true {
            var entries = [descriptor, guarded.descriptor, cancellation.descriptor]
                .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let ready = poll(&entries, nfds_t(entries.count), deadline.millisecondsLeft)
            if ready < 0, errno != EINTR { throw unusable() }
            guard ready > 0 else {
                if ContinuousClock.now >= deadline { throw .timedOut }
                continue
            }
            if entries[1].revents != 0 { return false }
            if entries[2].revents != 0 { throw .canceled }
            return true
        }
    }

    /// - Returns: The terminal's settings before.
    private func silence() throws(TerminalError) -> termios {
        var saved = termios()
        guard tcgetattr(descriptor, &saved) == 0 else { throw unusable() }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { throw unusable() }
        return saved
    }

    /// A line without its newline.
    private func readLine() throws(TerminalError) -> SecretBytes {
        var buffer = [UInt8](repeating: 0, count: Self.lineLimit + 1)
        defer { buffer.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw unusable() }
        guard count > 0 else { throw .canceled }
        guard count < Self.lineLimit else { throw .tooLong(limit: Self.lineLimit - 1) }
        let length = buffer[count - 1] == UInt8(ascii: "\n") ? count - 1 : count
        do {
            return try buffer[..<length].withUnsafeBytes { try SecretBytes(copying: $0) }
        } catch {
            throw .unusable(reason: "out of memory")
        }
    }

    private func write(_ text: String) throws(TerminalError) {
        var left = Array(text.utf8)[...]
        while !left.isEmpty {
            let put = left.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if put < 0, errno != EINTR { throw unusable() }
            left = left.dropFirst(max(0, put))
        }
    }

    private func unusable() -> TerminalError { .unusable(reason: String(cString: strerror(errno))) }
}

extension ContinuousClock.Instant {
    /// For `poll`: rounded up, so that the time is over when it returns.
    var millisecondsLeft: Int32 {
        let left = ContinuousClock.now.duration(to: self) / .milliseconds(1)
        return Int32(max(0, min(left.rounded(.up), 86_400_000)))
    }
}
