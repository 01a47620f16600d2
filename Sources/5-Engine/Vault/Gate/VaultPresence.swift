import Access
import KeychainModel
import SecureMemory
import VaultInterface

/// Asks a person, on behalf of operations and of authentication contexts.
struct VaultPresence: PersonAsking {
    private let access: AccessGate
    private let contexts: AuthenticationContexts
    private let passcodes: PasscodeCheck
    private let authenticator: (any Authenticator)?
    private let passwordCost: Argon2id.Cost

    init(
        _ access: AccessGate, _ contexts: AuthenticationContexts, _ passcodes: PasscodeCheck,
        _ surroundings: VaultSurroundings
    ) {
        self.access = access
        self.contexts = contexts
        self.passcodes = passcodes
        authenticator = surroundings.authenticator
        passwordCost = surroundings.passwordCost
    }

    func availability(_ operation: ReadPresenceAvailability, as client: Client) -> PresenceAvailability {
        availability(for: client)
    }

    func authenticate(_ operation: Authenticate, as client: Client) throws(VaultError) -> PresenceProofs {
        var options = operation.options
        options.context = operation.context
        let check = try check(options, of: client)
        if operation.flags.isSatisfied(by: check.granted) { return check.granted }
        guard options.interaction == .allow else { throw .presence(.notInteractive) }
        try ask(for: operation.flags, check, client)
        return check.granted
    }

    func end(_ operation: EndContext, as client: Client) {
        contexts.end(operation.context, client)
        authenticator?.cancel(ClientContext(operation.context, of: client))
    }

    /// Returns the check of an operation, which begins with what its context was granted.
    func check(_ options: AuthenticationOptions, of client: Client) throws(VaultError) -> PresenceCheck {
        PresenceCheck(options, granted: try contexts.proofs(of: options.context, client))
    }

    func meet(_ need: PresenceCheck.Need, _ check: PresenceCheck, _ client: Client) throws(VaultError) {
        switch need {
        case .person(let flags): try ask(for: flags, check, client)
        case .passwordKey(let password):
            try CurrentCall.served?.giveWay()
            try check.stretchPassword(password)
        case .freshPasswordKey:
            try CurrentCall.served?.giveWay()
            try check.stretchFreshPassword(passwordCost)
        case .room(let bytes):
            // A call that started again with the room it had would do so for ever.
            guard let call = CurrentCall.served, bytes > call.room else {
                throw .invalidRequest(reason: "this takes more room than a request may have; name fewer items")
            }
            try call.makeRoom(for: bytes)
        case .enrolment:
            let available = availability(for: client)
            check.enrolment = .some(available.biometryState)
            check.enrolmentFailure = available.biometryFailure
        }
    }

    private func availability(for client: Client) -> PresenceAvailability {
        let verifier = passcodes.verifier(for: client)
        return CurrentCall.waiting { authenticator?.availability(verifier: verifier) }
            ?? PresenceAvailability(
                biometryKind: .none, biometryFailure: .biometryNotAvailable, biometryState: nil,
                isPasscodeSet: verifier.isPasscodeSet, passcodeFailure: .notInteractive)
    }

    /// Asks a person, and remembers the answer if it was given on behalf of a context.
    private func ask(
        for flags: AccessControl.Flags, _ check: PresenceCheck, _ client: Client
    ) throws(VaultError) {
        let wait = passcodes.answerWait(of: client.program)
        do throws(VaultError) {
            try check.ask(
                for: flags, with: authenticator, verifier: passcodes.verifier(for: client), client: client
            ) { outcome in
                if wait > 0, outcome == .failed(.notInteractive) {
                    access.record(.authenticationFailed, by: client, failure: .delayed)
                } else {
                    access.record(outcome, by: client)
                }
            }
        } catch {
            guard wait > 0, case .interactionNotAllowed = error else { throw error }
            throw .interactionNotAllowed(
                reason: "\(client.identifier) answered with too many wrong passcodes and is not asked for "
                    + "\((wait + 59) / 60) minutes; give the right one to `keychain unlock` to have it asked again")
        }
        try contexts.grant(check.granted, to: check.options.context, client)
    }
}
