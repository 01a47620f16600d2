import Access
import KeychainModel

/// Asks for a person where items need one, at most once for each kind of constraint in an operation.
struct PresenceCheck {
    private let options: AuthenticationOptions
    private let client: Client
    private let authenticator: (any Authenticator)?
    private var granted: Set<AccessControl.Flags> = []

    init(_ options: AuthenticationOptions, client: Client, authenticator: (any Authenticator)?) {
        self.options = options
        self.client = client
        self.authenticator = authenticator
    }

    /// Whether the value of `item` may be used; false when the operation skips items that need a person.
    mutating func permits(_ item: StoredItem) throws(VaultError) -> Bool {
        guard item.accessControl.isConstrained, let flags = item.accessControl.flags else { return true }
        switch options.interaction {
        case .skip: return false
        case .fail: throw .interactionNotAllowed(reason: "the item needs a person, and asking is not allowed")
        case .allow: break
        }
        if granted.contains(flags) { return true }
        guard let authenticator else {
            throw .interactionNotAllowed(reason: "the item needs a person, and there is no way to ask")
        }
        switch authenticator.evaluate(AuthenticationRequest(flags: flags, prompt: options.prompt, client: client)) {
        case .succeeded:
            granted.insert(flags)
            return true
        case .failed: throw .authenticationFailed
        case .canceled: throw .userCanceled
        case .notInteractive:
            throw .interactionNotAllowed(reason: "the item needs a person, and there is no way to ask")
        }
    }
}
