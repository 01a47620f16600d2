import Access
import Foundation
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface

@testable import VaultService

/// A server that needs a person asks the one in front of the client.
@Suite(.serialized) struct QuestionTests {
    /// Asks for one word, through the prompt of whoever is being served.
    private struct WordAuthenticator: Authenticator {
        func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
            let prompt = RemotePrompt()
            guard prompt.isAvailable else { return .failed(.notInteractive) }
            let question = PasscodeQuestion(purpose: .presence, reason: request.prompt ?? "to go on")
            prompt.show("a message first")
            let cancellation = Cancellation()
            // A finger, say, comes first.
            if request.prompt == "take back" { Self.cancelSoon(cancellation) }
            switch prompt.ask(question, until: .now + .seconds(10), cancellation: cancellation) {
            case .passcode(let passcode):
                let isRight = passcode.withUnsafeBytes { $0.elementsEqual("swordfish".utf8) }
                return isRight ? .succeeded(.passcode) : .failed(.authenticationFailed)
            case .canceled: return .failed(.userCancel)
            case .timedOut: return .failed(.systemCancel)
            case .unavailable: return .failed(.notInteractive)
            }
        }

        private static func cancelSoon(_ cancellation: Cancellation) {
            Thread.detachNewThread {
                usleep(50_000)
                cancellation.cancel()
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
        var isAvailable: Bool { true }
        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer { .timedOut }
        func ask(
            _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
        ) -> PasscodeAnswer {
            var polled = pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&polled, 1, 9_000) == 1 ? .canceled : .timedOut
        }
    }

    private func authenticate(
        through prompt: any PasscodePrompt, for reason: String = "to pay", titles: PromptTitles = .init()
    ) throws -> PresenceProofs {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVaultForQuestions.open(in: folder, WordAuthenticator())
        let entitlements = try EntitlementsSource(file: nil)
        let server = VaultServer(vault: vault, entitlements: entitlements)
        let listener = try UnixSocket.listen(at: folder.path(of: "socket"), mode: 0o600)
        let thread = Thread { server.serve(listener) }
        thread.start()
        defer {
            server.stop()
            while !thread.isFinished { usleep(1_000) }
            close(listener)
        }
        ProcessPrompt.current = prompt
        defer { ProcessPrompt.current = nil }
        let remote = try RemoteVault(socket: folder.path(of: "socket"))
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
        #expect(throws: VaultError.userCanceled) { try authenticate(through: PatientPrompt(), for: "take back") }
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
