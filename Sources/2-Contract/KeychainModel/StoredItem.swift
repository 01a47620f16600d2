import FoundationEssentials

/// An item as the vault returns it.
package struct StoredItem: Sendable, Hashable {
    package var itemClass: ItemClass
    /// What a persistent reference names; stable for the life of the item.
    package var identifier: UUID
    /// Everything set by the caller plus the primary key's defaults, without the fields below.
    package var attributes: ItemAttributes
    package var customAttributes: CustomAttributes
    package var accessGroup: String
    package var accessControl: AccessControl
    package var isSynchronizable: Bool
    package var isTombstone: Bool
    package var creationDate: Date
    package var modificationDate: Date
    package var expiry = Expiry.never
    package var kept = KeptVersions.vaultDefault
    /// 1 for a new item, and one more with each change of its value or attributes.
    package var version: Int64 = 1
    /// The versions that a vault takes in from elsewhere: more follow than anybody can make.
    package static let versions: ClosedRange<Int64> = 1...(1 << 62)
    /// Nil when the item has no value, or when the value was not asked for.
    package var value: Data?
    /// The key half of an identity; nil for every other class.
    package var identityKey: IdentityKey? {
        get { if case .key(let key) = half { key } else { nil } }
        set { half = newValue.map(Half.key) }
    }

    /// In memory of its own, because few items have one and lists are long.
    private indirect enum Half: Sendable, Hashable {
        case key(IdentityKey)
    }

    private var half: Half?

    package init(
        itemClass: ItemClass, identifier: UUID, attributes: ItemAttributes,
        customAttributes: CustomAttributes = [:], accessGroup: String, accessControl: AccessControl,
        isSynchronizable: Bool, isTombstone: Bool = false, creationDate: Date,
        modificationDate: Date, value: Data? = nil
    ) {
        self.itemClass = itemClass
        self.identifier = identifier
        self.attributes = attributes
        self.customAttributes = customAttributes
        self.accessGroup = accessGroup
        self.accessControl = accessControl
        self.isSynchronizable = isSynchronizable
        self.isTombstone = isTombstone
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        self.value = value
    }

    /// Gives the item a new value and another expiry.
    ///
    /// - Parameter expiry: Nil for the one before, unless that is over: a new value is not an expired one.
    package mutating func renew(_ value: Data?, _ expiry: Expiry?, now: Date) {
        if let value {
            self.value = value
            if isExpired(now) { self.expiry = .never }
        }
        if let expiry { self.expiry = expiry }
    }

    package func isExpired(_ now: Date) -> Bool { expiry.date.map { $0 <= now } ?? false }

    /// The key that belongs to an identity's certificate.
    package struct IdentityKey: Sendable, Hashable {
        package var identifier: UUID
        package var attributes: ItemAttributes
        package var value: Data?

        package init(identifier: UUID, attributes: ItemAttributes, value: Data?) {
            self.identifier = identifier
            self.attributes = attributes
            self.value = value
        }
    }

    /// Any attribute by name, the ones with fields of their own included.
    package func attribute(_ name: AttributeName) -> AttributeValue? {
        switch name {
        case .accessGroup: .string(accessGroup)
        case .accessible: .string(accessControl.protection.rawValue)
        case .synchronizable: .number(isSynchronizable ? 1 : 0)
        case .tombstone: .number(isTombstone ? 1 : 0)
        case .creationDate: .date(creationDate)
        case .modificationDate: .date(modificationDate)
        default: attributes[name] ?? itemClass.schema[name]?.defaultValue
        }
    }
}
