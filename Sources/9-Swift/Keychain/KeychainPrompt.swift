import Access
import Presence
import ProcessVault

/// How this program asks a person for the passcode: in a window of its own, where the terminal or pinentry will
/// not do.
///
/// ```swift
/// KeychainPrompt.use { question in
///     guard let typed = await window.ask(question.reason, complaint: question.complaint) else { return nil }
///     return try? KeychainPasscode(typed)
/// }
/// ```
public enum KeychainPrompt {
    /// What a person is asked.
    public struct Question: Sendable, Hashable {
        /// What the program that uses the keychain needs the answer for. Show it after the program's name.
        public var reason: String
        /// What was wrong with the last answer; nil at the first time.
        public var complaint: String?
    }

    /// Has `ask` called, from now on, whenever an item or an `LAContext` needs the passcode. The program sees
    /// the passcode. Call it before the first operation of the keychain.
    ///
    /// - Parameter ask: Returns the passcode, or nil if the person dismissed the question. It is not called on the
    ///   main actor, and must not wait for anything that waits for the keychain. Its task is cancelled when the
    ///   answer no longer counts: after the question's deadline, or when it was taken back.
    public static func use(_ ask: @escaping @Sendable (Question) async -> KeychainPasscode?) {
        ProcessVault.prompt = prompt(asking: ask)
    }

    package static func prompt(
        asking ask: @escaping @Sendable (Question) async -> KeychainPasscode?
    ) -> CallbackPrompt {
        CallbackPrompt { (question: PasscodeQuestion) async -> PasscodeAnswer in
            let question = Question(reason: question.reason, complaint: question.complaint)
            return await ask(question).map { .passcode($0.secret) } ?? .canceled
        }
    }

    /// Goes back to the terminal and pinentry.
    public static func useStandard() { ProcessVault.prompt = nil }
}
