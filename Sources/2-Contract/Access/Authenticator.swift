import Bytes
import FoundationEssentials
import KeychainModel

/// What a person is asked for.
package struct AuthenticationRequest: Sendable {
    /// The constraints to be satisfied; see ``AccessControl/Flags/isSatisfied(by:)``.
    package var flags: AccessControl.Flags
    /// What the prompt says.
    package var prompt: String?
    package var client: Client
    /// The authentication context on whose behalf is asked; ending it ends the asking.
    package var context: UUID?
    package var titles: PromptTitles

    package init(
        flags: AccessControl.Flags, prompt: String?, client: Client, context: UUID? = nil,
        titles: PromptTitles = .init()
    ) {
        self.titles = titles
        self.flags = flags
        self.prompt = prompt
        self.client = client
        self.context = context
    }
}

/// An authentication context of one client. Contexts of different clients are different, also if they have the same
/// identifier.
package struct ClientContext: Sendable, Hashable {
    package var client: String
    package var context: UUID

    package init(_ context: UUID, of client: Client) {
        self.client = client.identifier
        self.context = context
    }
}

/// The outcome of asking a person.
package enum AuthenticationOutcome: Sendable, Equatable {
    /// With these proofs, which satisfy what was asked for.
    case succeeded(PresenceProofs)
    case failed(AuthenticationFailure)
}

/// Why a person could not be shown to be present; named after `LAError`'s codes.
package enum AuthenticationFailure: String, Error, Sendable, CaseIterable {
    case authenticationFailed
    case userCancel
    case userFallback
    case systemCancel
    case appCancel
    case passcodeNotSet
    case biometryNotAvailable
    case biometryNotEnrolled
    case biometryLockout
    case companionNotAvailable
    case biometryNotPaired
    case biometryDisconnected
    case invalidContext
    /// There is no way to ask.
    case notInteractive
}

/// What a person could be asked for at the moment.
package struct PresenceAvailability: Sendable, Equatable {
    /// What stands behind ``PresenceProofs/biometry``; raw values as of Apple's `LABiometryType`.
    package enum BiometryKind: UInt8, Sendable {
        case none = 0
        case fingerprint = 1
        case face = 2
    }

    package var biometryKind: BiometryKind
    /// Why biometry cannot be used now; nil when it can.
    package var biometryFailure: AuthenticationFailure?
    /// Changes when a finger or face is enrolled or removed; nil where nothing is enrolled.
    package var biometryState: Data?
    package var isPasscodeSet: Bool
    /// Why the passcode cannot be asked for now, such as for lack of a terminal; nil when it can.
    package var passcodeFailure: AuthenticationFailure?

    package init(
        biometryKind: BiometryKind, biometryFailure: AuthenticationFailure?, biometryState: Data?,
        isPasscodeSet: Bool, passcodeFailure: AuthenticationFailure?
    ) {
        self.biometryKind = biometryKind
        self.biometryFailure = biometryFailure
        self.biometryState = biometryState
        self.isPasscodeSet = isPasscodeSet
        self.passcodeFailure = passcodeFailure
    }
}

/// What checks a passcode that a person gave: the vault.
package protocol PasscodeVerifier: Sendable {
    var isPasscodeSet: Bool { get }
    /// Whether a passcode would be looked at now: where not, nobody is asked for one.
    var takesAnswers: Bool { get }
    func verify(_ passcode: SecretBytes) -> PasscodeVerdict
}

extension PasscodeVerifier {
    package var takesAnswers: Bool { true }
}

/// What became of a passcode.
package enum PasscodeVerdict: Sendable, Equatable {
    case correct
    /// The passcode was wrong, and the vault checks no other for this long.
    case wrong(wait: Duration)
    /// The vault did not check the passcode: this much waiting time is left.
    case delayed(Duration)
    case notSet
    /// Wrong, and it was one too many: the vault is empty now.
    case erased
    /// It could not be checked.
    case failed(reason: String)
}

/// A way to ask a person. A vault without one refuses items that need a person.
package protocol Authenticator: Sendable {
    /// Asks until it is known whether a person satisfies the request, or a deadline passes.
    func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome

    /// What could be asked for now; asks nobody.
    func availability(verifier: any PasscodeVerifier) -> PresenceAvailability

    /// Takes away the prompt that is shown on behalf of `context`, if there is one.
    func cancel(_ context: ClientContext)

    /// Takes note that the passcode was given elsewhere, as at an unlocking: a fingerprint counts again.
    func passcodeWasGiven()
}

extension Authenticator {
    package func cancel(_ context: ClientContext) {}
    package func passcodeWasGiven() {}
}
