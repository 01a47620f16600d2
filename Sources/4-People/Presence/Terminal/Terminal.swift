import Access
import Bytes
import CLibrary

/// The reason why a question at a terminal has no answer.
package enum TerminalError: Error, Equatable {
    /// The person ended the input, or the question was cancelled.
    case canceled
    case timedOut
    /// The line was longer than a terminal can transfer.
    case tooLong(limit: Int)
    case unusable(reason: String)
}

/// The controlling terminal, opened separately so that redirected input and output do not matter.
package struct Terminal: ~Copyable {
    /// The longest line in bytes in the terminal's line mode. The kernel drops the rest without an error (termios(3)).
    private static let lineLimit = 4095
    private static let turn = TurnQueue()

    private let descriptor: Int32

    /// Nil if the process has no terminal.
    package init?() {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Whether this process may use the terminal now. The kernel would stop a background process for it.
    package var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Shows `text` and begins a new line.
    package func show(_ text: String) throws(TerminalError) { try write(text + "\n") }

    /// Asks for a line after each of the prompts, in order.
    ///
    /// - Parameters:
    ///   - echoing: Whether the terminal shows the typed characters.
    ///   - deadline: The end of the waiting for all lines; nil for no end.
    package func ask(
        _ prompts: [String], echoing: Bool, until deadline: ContinuousClock.Instant? = nil,
        cancellation: Cancellation = Cancellation()
    ) throws(TerminalError) -> [SecretBytes] {
        // A year, because the queue for the terminal needs a deadline.
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
            // The terminal has its previous settings now, so the signal takes its normal effect. A process that was
            // only suspended continues to ask.
            if interrupted { guarded.deliver() }
        }
        return answers
    }

    /// Asks the questions that have no answer yet. Restores the terminal.
    ///
    /// - Returns: Whether a signal came first.
    private func ask(
        _ prompts: [String], _ answers: inout [SecretBytes], _ echoing: Bool, _ deadline: ContinuousClock.Instant,
        _ cancellation: Cancellation, _ guarded: borrowing GuardedSignals
    ) throws(TerminalError) -> Bool {
        let saved = try echoing ? nil : silence()
        // Also discards typed input: the rest of a secret must not reach the shell as a command.
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

    /// - Returns: False if a signal came first.
    private func waitForLine(
        _ deadline: ContinuousClock.Instant, _ cancellation: Cancellation, _ guarded: borrowing GuardedSignals
    ) throws(TerminalError) -> Bool {
        while true {
            var entries = [descriptor, guarded.descriptor, cancellation.descriptor]
                .map { pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0) }
            let ready = poll(&entries, nfds_t(clamping: entries.count), deadline.millisecondsLeft)
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

    /// - Returns: The terminal's previous settings.
    private func silence() throws(TerminalError) -> termios {
        var saved = termios()
        guard tcgetattr(descriptor, &saved) == 0 else { throw unusable() }
        var silent = saved
        silent.c_lflag &= ~tcflag_t(truncatingIfNeeded: ECHO | ECHOE | ECHOK | ECHONL)
        silent.c_lflag |= tcflag_t(truncatingIfNeeded: ICANON | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { throw unusable() }
        return saved
    }

    /// Returns a line without its newline.
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
        let isWritten = Array(text.utf8).withUnsafeBytes { SystemCall.writeAll($0, to: descriptor) }
        guard isWritten else { throw unusable() }
    }

    private func unusable() -> TerminalError { .unusable(reason: String(cString: strerror(errno))) }
}

extension ContinuousClock.Instant {
    /// The time left for `poll`, rounded up, so that the deadline has passed when `poll` times out.
    var millisecondsLeft: Int32 {
        let left = ContinuousClock.now.duration(to: self) / .milliseconds(1)
        return Int32(clamping: max(0, min(left.rounded(.up), 86_400_000)))
    }
}
