import Access
import FoundationEssentials
import KeychainModel
import Presence
import Synchronization
import VaultInterface

/// The way in which a program asks that chooses none itself: with the prompt it named, else at the terminal or
/// through pinentry, and with fprintd's reader. Made when somebody is first to be asked.
final class ProcessAuthenticator: Authenticator {
    private let folder: String
    private let made = Mutex<PersonAuthenticator?>(nil)

    /// - Parameter folder: The vault's; programs that share it also share what they know of the last passcode.
    init(folder: String) {
        self.folder = folder
    }

    private var person: PersonAuthenticator {
        made.withLock { made in
            if let made { return made }
            let person = PersonAuthenticator(
                prompt: ProcessPrompt.current ?? StandardPrompt(), biometry: FingerprintReader(),
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
