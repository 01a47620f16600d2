import Access
import Foundation
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

@testable import VaultService

/// A question that a finger answers before the person at the client has typed.
@Suite(.serialized) struct TakenBackQuestionTests {
    /// Asks, and takes the question back when it is shown.
    private final class ImpatientAuthenticator: Authenticator {
        let isShown = Cancellation()
        let answers = Mutex<[String]>([])

        func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
            let prompt = RemotePrompt()
            prompt.show("Touch the reader.")
            let question = PasscodeQuestion(purpose: .presence, reason: "to go on")
            let answer = prompt.ask(question, until: .now + .seconds(20), cancellation: isShown)
            answers.withLock { $0.append("\(answer)") }
            return .succeeded(.biometry)
        }

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
        private let asked: @Sendable () -> Void

        init(asked: @escaping @Sendable () -> Void) { self.asked = asked }

        func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer { .canceled }

        func ask(
            _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
        ) -> PasscodeAnswer {
            asked()
            var entry = pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 20_000) > 0 ? .canceled : .timedOut
        }

        func show(_ message: String) { shown.withLock { $0.append(message) } }
    }

    @Test func promptGoesAwayAndTheConnectionGoesOn() throws {
        let folder = try TemporaryFolder()
        let authenticator = ImpatientAuthenticator()
        let vault = try EmbeddedVault.open(at: folder.path(of: "vault"), authenticator: authenticator)
        let server = VaultServer(vault: vault, entitlements: try EntitlementsSource(file: nil))
        let listener = try UnixSocket.listen(at: folder.path(of: "socket"), mode: 0o600)
        let thread = Thread { server.serve(listener) }
        thread.start()
        defer {
            server.stop()
            while !thread.isFinished { usleep(1_000) }
            close(listener)
        }
        let prompt = SilentPrompt { authenticator.isShown.cancel() }
        ProcessPrompt.current = prompt
        defer { ProcessPrompt.current = nil }
        let remote = try RemoteVault(socket: folder.path(of: "socket"))
        let start = ContinuousClock.now
        for _ in 0..<3 {
            let proofs = try remote.authenticate(
                .userPresence, context: UUID(), options: AuthenticationOptions(prompt: "to pay"), as: remote.granted)
            #expect(proofs == .biometry)
        }
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(authenticator.answers.withLock { $0 } == ["canceled", "canceled", "canceled"])
        #expect(prompt.shown.withLock { $0 } == ["Touch the reader.", "Touch the reader.", "Touch the reader."])
    }
}
