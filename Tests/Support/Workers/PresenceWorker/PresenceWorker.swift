import Access
import Bytes
import Glibc
import KeychainModel
import Presence

/// Asks for a passcode at its terminal and says on standard error how that ended: the program that tests
/// run at a terminal of its own.
@main enum PresenceWorker {
    /// - The arguments are `presence`, `titled` or `new`, and how many milliseconds there are to answer; a third one
    ///   after how many the question is taken back.
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().map { Duration.milliseconds(Int64($0) ?? 0) }
        let cancellation = Cancellation()
        if numbers.count > 1 { cancelLater(cancellation, numbers[1]) }
        let prompt = TerminalPrompt()
        guard prompt.isAvailable else { return say("not available") }
        let answer = prompt.ask(
            PasscodeQuestion(
                purpose: arguments.first == "new" ? .new : .presence, reason: "What \u{1B}[2J for",
                complaint: "Not that.",
                titles: PromptTitles(passcode: arguments.first == "titled" ? "The PIN" : nil)),
            until: .now + (numbers.first ?? .zero), cancellation: cancellation)
        switch answer {
        case .passcode(let passcode):
            say("passcode " + passcode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        case .canceled: say("canceled")
        case .timedOut: say("timed out")
        case .unavailable(let remedy): say("unavailable \(remedy)")
        }
    }

    private static func cancelLater(_ cancellation: Cancellation, _ delay: Duration) {
        Task.detached {
            try? await Task.sleep(for: delay)
            cancellation.cancel()
        }
    }

    private static func say(_ text: String) {
        _ = write(2, text, text.utf8.count)
    }
}
