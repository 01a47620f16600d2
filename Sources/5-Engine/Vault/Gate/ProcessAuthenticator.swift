import Access
import Presence
import Synchronization

/// The way in which a program asks that chooses none itself: with the prompt it named, else at the terminal or
/// through pinentry, and with fprintd's reader. Made when somebody is first to be asked.
final class ProcessAuthenticator: Authenticator {
    private let folder: String
    private let prompt: @Sendable () -> (any PasscodePrompt)?
    private let made = Mutex<PersonAuthenticator?>(nil)

    /// - Parameters:
    ///   - folder: The vault's; programs that share it also share what they know of the last passcode.
    ///   - prompt: Returns the prompt to ask with; nil for the standard prompt.
    init(folder: String, asking prompt: @escaping @Sendable () -> (any PasscodePrompt)?) {
        (self.folder, self.prompt) = (folder, prompt)
    }

    private var person: PersonAuthenticator {
        made.withLock { made in
            if let made { return made }
            let person = PersonAuthenticator(
                prompt: PresentPrompt(chosen: prompt), biometry: FingerprintReader(),
                allowance: BiometryAllowance(folder: folder + "/presence"))
            made = person
            return person
        }
    }

    func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
        person.evaluate(request, verifier: verifier)
    }

    func availability(verifier: any PasscodeVerifier) -> PresenceAvailability {
        person.availability(verifier: verifier)
    }

    func cancel(_ context: ClientContext) { made.withLock { $0 }?.cancel(context) }

    func passcodeWasGiven() { person.passcodeWasGiven() }
}

/// The prompt that the process has when it asks. A program may name another one at any time.
private struct PresentPrompt: PasscodePrompt {
    let chosen: @Sendable () -> (any PasscodePrompt)?
    private var present: any PasscodePrompt { chosen() ?? StandardPrompt() }

    var isAvailable: Bool { present.isAvailable }

    func ask(_ question: PasscodeQuestion, until deadline: ContinuousClock.Instant) -> PasscodeAnswer {
        present.ask(question, until: deadline)
    }

    func ask(
        _ question: PasscodeQuestion, until deadline: ContinuousClock.Instant, cancellation: Cancellation
    ) -> PasscodeAnswer {
        present.ask(question, until: deadline, cancellation: cancellation)
    }

    func show(_ message: String) { present.show(message) }

    func hold(_ message: String, until deadline: ContinuousClock.Instant, cancellation: Cancellation) -> Bool {
        present.hold(message, until: deadline, cancellation: cancellation)
    }
}
