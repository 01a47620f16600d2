import Access
import FoundationEssentials
import Keybag
import KeychainModel
import SecureMemory
import Synchronization

/// Asking a person on behalf of an authentication context.
extension EmbeddedVault {
    package func presenceAvailability(as client: Client) throws(VaultError) -> PresenceAvailability {
        guard let authenticator else {
            return PresenceAvailability(
                biometryKind: .none, biometryFailure: .biometryNotAvailable, biometryState: nil,
                isPasscodeSet: passcodeVerifier(for: client).isPasscodeSet, passcodeFailure: .notInteractive)
        }
        return authenticator.availability(verifier: passcodeVerifier(for: client))
    }

    package func authenticate(
        _ flags: AccessControl.Flags, context: UUID, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> PresenceProofs {
        var options = options
        options.context = context
        let presence = PresenceCheck(options, granted: try contexts.proofs(of: context, client))
        if flags.isSatisfied(by: presence.granted) { return presence.granted }
        guard options.interaction == .allow else { throw .presence(.notInteractive) }
        try ask(for: flags, presence, client)
        return presence.granted
    }

    package func endContext(_ context: UUID, as client: Client) {
        contexts.end(context, client)
        authenticator?.cancel(context: context)
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

    /// Runs an operation, gets what it turns out to need for an item, and runs it again.
    ///
    /// - Throws: What the operation throws, and why something could not be had.
    func performing<Result>(
        _ options: AuthenticationOptions = .init(), as client: Client, _ operation: (PresenceCheck) throws -> Result
    ) throws(VaultError) -> Result {
        let presence = PresenceCheck(options, granted: try contexts.proofs(of: options.context, client))
        // What a lock takes away must not stay behind in memory that ciphers gave back.
        defer { if currentKeybag.keys.isLockable { wipeRecentlyFreed(.cipher) } }
        while true {
            do {
                presence.beginAttempt()
                return try operation(presence)
            } catch let need as PresenceCheck.Need {
                try meet(need, presence, client)
            } catch {
                throw VaultError(error)
            }
        }
    }

    private func meet(
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
