import Access
import FoundationEssentials
import Keybag
import KeychainModel
import SecureMemory
import Synchronization
import VaultInterface

/// Asking a person on behalf of an authentication context.
extension EmbeddedVault {
    package func perform(
        _ operation: ReadPresenceAvailability, as client: Client
    ) throws(VaultError) -> PresenceAvailability {
        guard let authenticator else {
            return PresenceAvailability(
                biometryKind: .none, biometryFailure: .biometryNotAvailable, biometryState: nil,
                isPasscodeSet: passcodeVerifier(for: client).isPasscodeSet, passcodeFailure: .notInteractive)
        }
        return authenticator.availability(verifier: passcodeVerifier(for: client))
    }

    package func perform(_ operation: Authenticate, as client: Client) throws(VaultError) -> PresenceProofs {
        let flags = operation.flags
        var options = operation.options
        options.context = operation.context
        let presence = PresenceCheck(options, granted: try contexts.proofs(of: operation.context, client))
        if flags.isSatisfied(by: presence.granted) { return presence.granted }
        guard options.interaction == .allow else { throw .presence(.notInteractive) }
        try ask(for: flags, presence, client)
        return presence.granted
    }

    package func perform(_ operation: EndContext, as client: Client) {
        contexts.end(operation.context, client)
        authenticator?.cancel(context: operation.context)
    }

    /// Asks a person, and remembers the answer if it was given on behalf of a context.
    private func ask(
        for flags: AccessControl.Flags, _ presence: PresenceCheck, _ client: Client
    ) throws(VaultError) {
        let wait = answerWait(of: client.program)
        do throws(VaultError) {
            try presence.ask(for: flags, with: authenticator, verifier: passcodeVerifier(for: client), client: client) {
                outcome in
                if wait > 0, outcome == .failed(.notInteractive) {
                    gate.record(.authenticationFailed, by: client, failure: .delayed)
                } else {
                    gate.record(outcome, by: client)
                }
            }
        } catch {
            guard wait > 0, case .interactionNotAllowed = error else { throw error }
            throw .interactionNotAllowed(
                reason: "\(client.identifier) answered with too many wrong passcodes and is not asked for "
                    + "\((wait + 59) / 60) minutes; give the right one to `keychain unlock` to have it asked again")
        }
        try contexts.grant(presence.granted, to: presence.options.context, client)
    }

    func meet(
        _ need: PresenceCheck.Need, _ presence: PresenceCheck, _ client: Client
    ) throws(VaultError) {
        switch need {
        case .person(let flags): try ask(for: flags, presence, client)
        case .passwordKey(let password): try presence.stretchPassword(password)
        case .freshPasswordKey: try presence.stretchFreshPassword(passwordCost.withLock { $0 })
        case .enrolment:
            let available = try presenceAvailability(as: client)
            presence.enrolment = .some(available.biometryState)
            presence.enrolmentFailure = available.biometryFailure
        }
    }
}
