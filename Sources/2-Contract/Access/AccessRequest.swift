import KeychainModel

/// What a client asks of the vault, as access control and audit see it.
package struct AccessRequest: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case add, copy, update, delete, erase, status
        /// Insert or update in one step.
        case put
        /// Compare and swap.
        case exchange
        /// To remove former versions of items.
        case purge
        /// To set, change or remove the passcode, or make a recovery key: whatever opens the vault.
        case passcode
        case unlock, lock
        /// To make a key in the enclave, and to use one.
        case makeKey = "make-key"
        case useKey = "use-key"
        /// To have a key made for a file, to open one, and to wrap one under another class.
        case makeFileKey = "make-file-key"
        case openFileKey = "open-file-key"
        case rewrapFileKey = "rewrap-file-key"
        /// To make a backup of the vault's items, and to take items back from one.
        case backup, restore
        /// To carry what travels between the members of a circle.
        case synchronize

        /// Whether the operation changes what is stored.
        package var isWrite: Bool {
            switch self {
            case .copy, .status, .unlock, .lock, .useKey, .makeFileKey, .openFileKey, .rewrapFileKey, .backup:
                false
            case .add, .update, .delete, .erase, .put, .exchange, .purge, .passcode, .makeKey, .restore, .synchronize:
                true
            }
        }

        /// Whether the operation may add an item.
        var makesItem: Bool { [.add, .put, .exchange].contains(self) }
    }

    package var kind: Kind
    package var itemClass: ItemClass?
    /// The group named in the request; nil for the client's own.
    package var accessGroup: String?
    /// Whether it names its items, so that it finds nothing its author did not know of.
    package var namesItems: Bool
    /// Whether it is about the vault as a whole, whosever items are in it.
    package var isAboutWholeVault: Bool
    /// Keyed digests of items, for the audit log alone: those that the request names and, once it is done, those that
    /// were handed out or changed. At most ``mostItemDigests``.
    package var itemDigests: [UInt64] = []

    /// The number of items that one record of the audit log names.
    package static let mostItemDigests = 32

    package init(
        _ kind: Kind, itemClass: ItemClass? = nil, accessGroup: String? = nil, namesItems: Bool = true,
        isAboutWholeVault: Bool = false
    ) {
        self.kind = kind
        self.itemClass = itemClass
        self.accessGroup = accessGroup
        self.namesItems = namesItems
        self.isAboutWholeVault = isAboutWholeVault
    }

    /// A request about the items that a query finds.
    ///
    /// - Parameter group: The group that the items are moved to; nil for the query's own.
    package init(_ kind: Kind, _ query: ItemQuery, toGroup group: String? = nil) {
        self.init(
            kind, itemClass: query.itemClass, accessGroup: group ?? query.accessGroup, namesItems: query.namesItems)
    }

    /// A request about an item that is to be stored.
    package init(_ kind: Kind, _ item: NewItem) {
        self.init(kind, itemClass: item.itemClass, accessGroup: item.accessGroup)
    }

    /// What the client must be allowed besides its groups; nil for operations on items.
    var right: CallerRights? {
        switch kind {
        case .unlock, .lock: .unlock
        case .erase, .passcode: .administer
        case .synchronize: .synchronize
        default: isAboutWholeVault ? .administer : nil
        }
    }
}

extension ItemQuery {
    /// Whether the query names its items.
    package var namesItems: Bool {
        if identifier != nil { return true }
        func has(_ name: AttributeName) -> Bool { attributes[name] != nil }
        return switch itemClass {
        case .genericPassword: has(.service) && has(.account)
        case .internetPassword: has(.server) && has(.account)
        case .certificate, .identity:
            has(.issuer) && has(.serialNumber) || has(.label) || has(.subject) || has(.publicKeyHash)
        case .key: has(.applicationTag) || has(.applicationLabel)
        }
    }
}
