import Access
import KeychainModel

/// Which kinds of constraint a person has satisfied for an operation.
///
/// Asking takes as long as a person does, so it never happens inside a read or a transaction: an item
/// that needs a person ends the attempt with ``PresenceNeeded``, the person is asked with nothing held,
/// and the operation starts again with the answer.
struct PresenceCheck {
    private let options: AuthenticationOptions
    private(set) var granted: PresenceProofs = []
    private var isWaived = false
    private var rounds = 0

    init(_ options: AuthenticationOptions) {
        self.options = options
    }

    /// For what looks at items and hands nothing of them out: deleting, and following issuers.
    static let waived = {
        var check = PresenceCheck(.init())
        check.isWaived = true
        return check
    }()

    /// Whether the value of `item` may be used; false when the operation skips items that need a person.
    func permits(_ item: StoredItem) throws -> Bool {
        guard !isWaived, item.accessControl.isConstrained, let flags = item.accessControl.flags else { return true }
        switch options.interaction {
        case .skip: return false
        case .fail:
            throw VaultError.interactionNotAllowed(reason: "the item needs a person, and asking is not allowed")
        case .allow:
            guard flags.isSatisfied(by: granted) else { throw PresenceNeeded(flags: flags) }
            return true
        }
    }

    /// Asks for what was needed, once for each kind of constraint in an operation.
    mutating func ask(
        for needed: PresenceNeeded, with authenticator: (any Authenticator)?,
        verifier: any PasscodeVerifier, client: Client
    ) throws(VaultError) {
        // Apple's keychain gives up after as many rounds.
        rounds += 1
        guard rounds <= 20 else { throw .authenticationFailed }
        let request = AuthenticationRequest(flags: needed.flags, prompt: options.prompt, client: client)
        switch authenticator?.evaluate(request, verifier: verifier) ?? .failed(.notInteractive) {
        case .succeeded(let proofs):
            // Each round must bring something new, or it would be asked for ever.
            guard needed.flags.isSatisfied(by: granted.union(proofs)) else { throw .authenticationFailed }
            granted.formUnion(proofs)
        case .failed(.authenticationFailed): throw .authenticationFailed
        case .failed(.userCancel): throw .userCanceled
        case .failed(.notInteractive):
            throw .interactionNotAllowed(reason: "the item needs a person, and there is no way to ask")
        case .failed(let failure): throw .presence(failure)
        }
    }
}

/// Thrown by an operation that met an item whose value needs a person.
struct PresenceNeeded: Error {
    let flags: AccessControl.Flags
}
