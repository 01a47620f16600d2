import Access
import Foundation
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import Testing
import VaultInterface
import VaultService

/// A question that a finger answers before the person at the client has typed.
@Suite struct TakenBackQuestionTests {
    /// Asks, and takes the question back when it is shown.
    private final class ImpatientAuthenticator: Authenticator {
        private let open = Mutex<Cancellation?>(nil)
        let answers = Mutex<[String]>([])

        func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
            let prompt = RemotePrompt()
            prompt.show("Touch the reader.")
            let question = PasscodeQuestion(purpose: .presence, reason: "to go on")
            let cancellation = Cancellation()
            open.withLock { $0 = cancellation }
            let answer = prompt.ask(question, until: .patience, cancellation: cancellation)
            answers.withLock { $0.append("\(answer)") }
            return .succeeded(.biometry)
        }

        func takeBack() { open.withLock { $0 }?.cancel() }

        func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
            PresenceAvailability(
                biometryKind: .fingerprint, biometryFailure: nil, biometryState: nil, isPasscodeSet: true,
                passcodeFailure: nil)
        }
    }

    /// A person who never answers.
    private final class SilentPrompt: PasscodePrompt {
        let isAvailable = true
        let shown = Mutex<[String]>([])
        /// How often the question was taken away.
        let takenAway = Mutex(0)
        private let asked: @Sendable () -> Void

        init(asked: @escaping @Sendable () -> Void) { self.asked = asked }

        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer { .canceled }

        func ask(
            _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
        ) -> PasscodeAnswer {
            asked()
            var entry = pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Patience.milliseconds) > 0 else { return .timedOut }
            takenAway.withLock { $0 += 1 }
            return .canceled
        }

        func show(_ message: String) { shown.withLock { $0.append(message) } }
    }

    @Test func promptGoesAwayAndTheConnectionGoesOn() throws {
        let authenticator = ImpatientAuthenticator()
        let server = try ServerUnderTest(authenticator: authenticator)
        let prompt = SilentPrompt { authenticator.takeBack() }
        let remote = try server.connect(prompt: prompt)
        for _ in 0..<3 {
            let proofs = try remote.authenticate(
                .userPresence, context: UUID(), options: AuthenticationOptions(prompt: "to pay"), as: remote.granted)
            #expect(proofs == .biometry)
        }
        #expect(prompt.takenAway.withLock { $0 } == 3)
        #expect(authenticator.answers.withLock { $0 } == ["canceled", "canceled", "canceled"])
        #expect(prompt.shown.withLock { $0 } == ["Touch the reader.", "Touch the reader.", "Touch the reader."])
    }
}
