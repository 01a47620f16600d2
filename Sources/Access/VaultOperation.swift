import KeychainModel

/// What a client asks of the vault, as access control and audit see it.
package struct VaultOperation: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case add, copy, update, delete, erase, status
        /// Insert or update in one step.
        case put
        /// Compare and swap.
        case exchange
        /// To set, change or remove the passcode.
        case passcode
        case unlock, lock
        /// To make a key in the enclave, and to use one.
        case makeKey = "make-key"
        case useKey = "use-key"

        /// Whether the operation changes what is stored.
        package var isWrite: Bool {
            switch self {
            case .copy, .status, .unlock, .lock, .useKey: false
            case .add, .update, .delete, .erase, .put, .exchange, .passcode, .makeKey: true
            }
        }
    }

    package var kind: Kind
    package var itemClass: ItemClass?
    /// The group named in the request; nil for the client's own.
    package var accessGroup: String?

    package init(_ kind: Kind, itemClass: ItemClass? = nil, accessGroup: String? = nil) {
        self.kind = kind
        self.itemClass = itemClass
        self.accessGroup = accessGroup
    }
}
