import Access
import Bytes
import Foundation
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface
import VaultService

/// A server that needs a person asks the one in front of the client.
@Suite struct QuestionTests {
    /// Asks for one word, through the prompt of whoever is being served.
    private struct WordAuthenticator: Authenticator {
        /// Told how to take back a question that is about to be asked.
        var takesBack: @Sendable (Cancellation) -> Void = { _ in }

        func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
            let prompt = RemotePrompt()
            guard prompt.isAvailable else { return .failed(.notInteractive) }
            let question = PasscodeQuestion(purpose: .presence, reason: request.prompt ?? "to go on")
            prompt.show("a message first")
            let cancellation = Cancellation()
            // A finger, say, comes first.
            if request.prompt == "take back" { takesBack(cancellation) }
            switch prompt.ask(question, until: .patience, cancellation: cancellation) {
            case .passcode(let passcode):
                let isRight = passcode.withUnsafeBytes { $0.elementsEqual("swordfish".utf8) }
                return isRight ? .succeeded(.passcode) : .failed(.authenticationFailed)
            case .canceled: return .failed(.userCancel)
            case .timedOut: return .failed(.systemCancel)
            case .unavailable: return .failed(.notInteractive)
            }
        }

        func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
            PresenceAvailability(
                biometryKind: .none, biometryFailure: .biometryNotAvailable, biometryState: nil, isPasscodeSet: true,
                passcodeFailure: RemotePrompt().isAvailable ? nil : .notInteractive)
        }
    }

    private final class ScriptedPrompt: PasscodePrompt {
        let isAvailable: Bool
        private let answer: @Sendable () -> PasscodeAnswer
        let questions = Mutex<[PasscodeQuestion]>([])
        let messages = Mutex<[String]>([])

        init(isAvailable: Bool = true, _ answer: @escaping @Sendable () -> PasscodeAnswer) {
            self.isAvailable = isAvailable
            self.answer = answer
        }

        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
            questions.withLock { $0.append(question) }
            return answer()
        }

        func show(_ message: String) { messages.withLock { $0.append(message) } }
    }

    /// Waits until the question is taken back.
    private struct PatientPrompt: PasscodePrompt {
        let asked: @Sendable () -> Void
        var isAvailable: Bool { true }
        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer { .timedOut }
        func ask(
            _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
        ) -> PasscodeAnswer {
            asked()
            var polled = pollfd(fd: cancellation.descriptor, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
            return poll(&polled, 1, Patience.milliseconds) == 1 ? .canceled : .timedOut
        }
    }

    private func authenticate(
        through prompt: any PasscodePrompt, for reason: String = "to pay", titles: PromptTitles = .init(),
        _ authenticator: WordAuthenticator = WordAuthenticator()
    ) throws -> PresenceProofs {
        let server = try ServerUnderTest(authenticator: authenticator)
        let remote = try server.connect(prompt: prompt)
        let availability = try remote.presenceAvailability(as: remote.granted)
        #expect((availability.passcodeFailure == nil) == prompt.isAvailable)
        return try remote.authenticate(
            .devicePasscode, context: UUID(), options: AuthenticationOptions(prompt: reason, titles: titles),
            as: remote.granted)
    }

    @Test func theClientsPersonIsAsked() throws {
        let word = try SecretBytes("swordfish")
        let prompt = ScriptedPrompt { .passcode(word) }
        #expect(try authenticate(through: prompt) == .passcode)
        #expect(prompt.questions.withLock { $0 } == [PasscodeQuestion(purpose: .presence, reason: "to pay")])
        #expect(prompt.messages.withLock { $0 } == ["a message first"])
    }

    @Test func theProgramsOwnTitlesAreInTheQuestionThatItsPersonIsAsked() throws {
        let word = try SecretBytes("swordfish")
        let prompt = ScriptedPrompt { .passcode(word) }
        let titles = PromptTitles(cancel: "Not now", passcode: "The PIN")
        #expect(try authenticate(through: prompt, titles: titles) == .passcode)
        #expect(prompt.questions.withLock { $0 }.map(\.titles) == [titles])
    }

    @Test func aQuestionThatIsTakenBackIsTakenAway() throws {
        let question = Mutex<Cancellation?>(nil)
        let authenticator = WordAuthenticator { cancellation in question.withLock { $0 = cancellation } }
        let prompt = PatientPrompt { question.withLock { $0 }?.cancel() }
        #expect(throws: VaultError.userCanceled) {
            try authenticate(through: prompt, for: "take back", authenticator)
        }
    }

    @Test func whatThePersonDoesComesBack() throws {
        let word = try SecretBytes("herring")
        #expect(throws: VaultError.authenticationFailed) {
            try authenticate(through: ScriptedPrompt { .passcode(word) })
        }
        #expect(throws: VaultError.userCanceled) { try authenticate(through: ScriptedPrompt { .canceled }) }
        #expect(throws: VaultError.presence(.systemCancel)) {
            try authenticate(through: ScriptedPrompt { .timedOut })
        }
    }

    @Test func withNobodyToAskItSaysSoAtOnce() throws {
        let prompt = ScriptedPrompt(isAvailable: false) { .canceled }
        do {
            _ = try authenticate(through: prompt)
            Issue.record("authenticated")
        } catch VaultError.interactionNotAllowed {
            #expect(prompt.questions.withLock { $0 }.isEmpty)
        }
    }
}
