import Bytes
import FoundationEssentials
import Presence
import StatusCodes

/// The controlling terminal, with errors that say what to do when it cannot be asked.
package struct CommandTerminal: ~Copyable {
    private let terminal: Terminal

    /// Returns nil if the process has no terminal.
    package init?() {
        guard let terminal = Terminal() else { return nil }
        self.terminal = terminal
    }

    /// Asks for a line that is shown while it is typed.
    package func ask(_ prompt: String) throws(Failure) -> String {
        let answer = try ask([prompt], echoing: true)
        return answer.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Asks for each of the secrets in turn, without echo.
    package func askSecrets(_ prompts: [String]) throws(Failure) -> [Data] {
        try ask(prompts, echoing: false)
    }

    private func ask(_ prompts: [String], echoing: Bool) throws(Failure) -> [Data] {
        do throws(TerminalError) {
            return try terminal.ask(prompts, echoing: echoing).map { .wipedWhenFreed($0.withUnsafeBytes { Data($0) }) }
        } catch {
            switch error {
            case .canceled, .timedOut:
                throw Failure(status: errSecUserCanceled, "canceled at the prompt: nothing was changed")
            case .tooLong(let limit):
                throw Failure(
                    status: errSecDataTooLarge,
                    "a line typed at a terminal ends after \(limit) bytes: give a longer secret on standard input")
            case .unusable(let reason):
                throw Failure(
                    status: errSecInteractionNotAllowed,
                    "the terminal does not work (\(reason)): give the secret on standard input")
            }
        }
    }
}
