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
            switch prompt.ask(question, until: .now + .seconds(10)) {
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

        init(isAvailable: Bool = true, _ answer: @escaping @Sendable () -> PasscodeAnswer) {
            self.isAvailable = isAvailable
            self.answer = answer
        }

        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
            questions.withLock { $0.append(question) }
            return answer()
        }
    }

    private func authenticate(through prompt: (any PasscodePrompt)?) throws -> PresenceProofs {
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
        #expect((availability.passcodeFailure == nil) == (prompt?.isAvailable ?? false))
        return try remote.authenticate(
            .devicePasscode, context: UUID(), options: AuthenticationOptions(prompt: "to pay"), as: remote.granted)
    }

    @Test func theClientsPersonIsAsked() throws {
        let word = try SecretBytes("swordfish")
        let prompt = ScriptedPrompt { .passcode(word) }
        #expect(try authenticate(through: prompt) == .passcode)
        #expect(prompt.questions.withLock { $0 } == [PasscodeQuestion(purpose: .presence, reason: "to pay")])
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
        for prompt in [nil, ScriptedPrompt(isAvailable: false) { .canceled }] {
            do {
                _ = try authenticate(through: prompt)
                Issue.record("authenticated")
            } catch VaultError.interactionNotAllowed {
            }
        }
    }
}
