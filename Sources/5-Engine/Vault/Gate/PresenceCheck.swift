import Access
import Crypto
import FoundationEssentials
import KeychainModel
import Sealing
import VaultInterface

/// What an operation has to show for the items it meets: a person, an application password, the enrolment. At a server,
/// it has to have room for them, too.
///
/// Asking takes as long as a person does, and stretching a password a good part of a second, so neither ever
/// happens inside a read or a transaction: an item that needs something ends the attempt with a ``Need``, it is
/// met with nothing held, and the operation starts again. Used by one thread.
final class PresenceCheck {
    /// Thrown by an operation that met an item it cannot open yet.
    enum Need: Error {
        /// A person who satisfies these flags.
        case person(AccessControl.Flags)
        /// The password, stretched in the way of an item.
        case passwordKey(SealHeader.Password)
        /// One more key for an item to be sealed.
        case freshPasswordKey
        /// The state of the enrolment.
        case enrolment
        /// Room for so many bytes of values, of which other calls have some.
        case room(Int)
    }

    let options: AuthenticationOptions
    let isWaived: Bool
    private(set) var granted: PresenceProofs
    private var prompts = 0

    var passwordKeys: [SealHeader.Password: SymmetricKey] = [:]
    /// Keys for items to be sealed, and how many of them this attempt has used.
    var freshPasswordKeys: [(password: SealHeader.Password, key: SymmetricKey)] = []
    var freshKeysUsed = 0
    /// Nil until it was looked at; then the state, or nil where nothing is enrolled.
    var enrolment: Data??
    /// Why nothing is enrolled.
    var enrolmentFailure: AuthenticationFailure?

    init(_ options: AuthenticationOptions, granted: PresenceProofs = [], isWaived: Bool = false) {
        self.options = options
        self.granted = granted
        self.isWaived = isWaived
    }

    /// For what looks at items and hands nothing of them out: deleting, and following issuers.
    static var waived: PresenceCheck { PresenceCheck(.init(), isWaived: true) }

    /// Forgets what belongs to an attempt that is started again.
    func beginAttempt() { freshKeysUsed = 0 }

    /// Whether what has this access control may be used; false when the operation leaves out what needs a person.
    ///
    /// - Parameters:
    ///   - header: The head of the item's seal.
    ///   - classKey: The class key of the item.
    func permits(
        _ accessControl: AccessControl, _ header: SealHeader?, classKey: () throws -> SymmetricKey
    ) throws -> Bool {
        guard !isWaived, accessControl.isConstrained, var flags = accessControl.flags else { return true }
        if options.interaction == .skip { return false }
        if flags.contains(.applicationPassword), options.applicationPassword == nil {
            throw VaultError.itemPasswordMissing
        }
        if let bound = header?.enrolment, try !matchesEnrolment(bound, classKey: classKey()) {
            if bound.isMixedIn { throw VaultError.enrolmentChanged }
            flags.remove(.biometryCurrentSet)
        }
        if flags.isSatisfied(by: granted) { return true }
        guard options.interaction == .allow else {
            throw VaultError.interactionNotAllowed(
                reason: "the item needs a person, and asking is not allowed; allow it, or authenticate a context first")
        }
        throw Need.person(flags)
    }

    /// Asks for a person, once for each kind of constraint in an operation.
    func ask(
        for flags: AccessControl.Flags, with authenticator: (any Authenticator)?, verifier: any PasscodeVerifier,
        client: Client, record: (AuthenticationOutcome) -> Void
    ) throws(VaultError) {
        // Apple's keychain gives up after as many rounds.
        prompts += 1
        guard prompts <= 20 else { throw .authenticationFailed }
        let request = AuthenticationRequest(
            flags: flags, prompt: options.prompt, client: client, context: options.context, titles: options.titles)
        let outcome =
            CurrentCall.waiting { authenticator?.evaluate(request, verifier: verifier) } ?? .failed(.notInteractive)
        record(outcome)
        switch outcome {
        case .succeeded(let proofs):
            // Each round must bring something new, or it would be asked for ever.
            guard flags.isSatisfied(by: granted.union(proofs)) else { throw .authenticationFailed }
            granted.formUnion(proofs)
        case .failed(.authenticationFailed): throw .authenticationFailed
        case .failed(.userCancel): throw .userCanceled
        case .failed(.notInteractive):
            throw .interactionNotAllowed(
                reason:
                    "the item needs a person, and there is no way to ask; run the program where there is a terminal "
                    + "or display, or set a passcode prompt")
        case .failed(let failure): throw .presence(failure)
        }
    }
}
