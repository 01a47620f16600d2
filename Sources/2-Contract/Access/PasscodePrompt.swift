import Bytes
import KeychainModel

/// What a passcode is asked for.
package struct PasscodeQuestion: Sendable, Equatable {
    package enum Purpose: UInt8, Sendable {
        /// To unlock the vault.
        case unlock = 1
        /// To show that a person is present.
        case presence = 2
        /// The one to be set, asked twice by the prompt.
        case new = 3
    }

    package var purpose: Purpose
    /// A sentence for the person: what for, in the words of the program that asks.
    package var reason: String
    /// What was wrong with the last answer; nil at the first time.
    package var complaint: String?
    /// What the program that asks calls the prompt's parts; no part of a question that is put to another process.
    package var titles: PromptTitles

    package init(purpose: Purpose, reason: String, complaint: String? = nil, titles: PromptTitles = .init()) {
        self.titles = titles
        self.purpose = purpose
        self.reason = reason
        self.complaint = complaint
    }
}

/// How a question for the passcode ended.
package enum PasscodeAnswer: Sendable {
    case passcode(SecretBytes)
    case canceled
    /// Nobody answered in time.
    case timedOut
    /// There is no terminal, display or callback to ask on.
    case unavailable(remedy: String)
}

/// A way to ask for a passcode: a terminal, pinentry, a callback of the program, or the client of a daemon.
package protocol PasscodePrompt: Sendable {
    /// Whether somebody could be asked now.
    var isAvailable: Bool { get }
    /// Asks once and waits for the answer until `deadline`.
    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer
    /// The same, and takes the question away, answering ``PasscodeAnswer/canceled``, when it is taken back.
    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer
    /// Shows a person a message that needs no answer.
    func show(_ message: String)
    /// Shows a person what else is waited for, such as a finger, until that is taken back or the person gives
    /// it up. A way to ask that cannot keep a message on display shows it and returns.
    ///
    /// - Returns: Whether the person gave it up.
    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool
}

extension PasscodePrompt {
    package func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        cancellation.isCanceled ? .canceled : ask(question, until: deadline)
    }

    package func show(_ message: String) {}

    package func hold(
        _ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> Bool {
        show(message)
        return false
    }
}
