import Foundation
import Glibc
import KeychainServices
import SecureMemory

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
            let interrupted = try ask(prompts, &answers, echoing: echoing, guarded)
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
        _ prompts: [String], _ answers: inout [Data], echoing: Bool, _ guarded: borrowing GuardedSignals
    ) throws(Failure) -> Bool {
        let saved = try echoing ? nil : silence()
        // What was typed ahead goes too: the rest of a secret is no command for the shell.
        defer { if var saved { tcsetattr(descriptor, TCSAFLUSH, &saved) } }
        while answers.count < prompts.count {
            try FileOutput.write(Data(prompts[answers.count].utf8), to: descriptor)
            guard let line = try readLine(guarded) else {
                try FileOutput.write(Data("\n".utf8), to: descriptor)
                return true
            }
            answers.append(line)
            if !echoing { try FileOutput.write(Data("\n".utf8), to: descriptor) }
        }
        return false
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
            throw Failure(status: errSecUserCanceled, "canceled at the prompt: nothing was changed")
        }
        guard count < Self.lineLimit else {
            throw Failure(
                status: errSecDataTooLarge,
                "a line typed at a terminal ends after \(Self.lineLimit - 1) bytes: give a longer secret on standard input"
            )
        }
        let length = buffer[count - 1] == UInt8(ascii: "\n") ? count - 1 : count
        return Data(buffer[..<length])
    }

    private func unusable() -> Failure {
        Failure(
            status: errSecInteractionNotAllowed,
            "the terminal does not work (\(String(cString: strerror(errno)))): give the secret on standard input")
    }
}
