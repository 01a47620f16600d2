import FoundationEssentials
import KeychainModel

/// Checks of requests that come from outside. In a program the layer above the vault makes them: what it would
/// never ask for is refused here.
enum RequestCheck {
    /// Attributes that are fields of their own in a request.
    private static let fields: Set<AttributeName> = [
        .accessGroup, .accessible, .accessControl, .synchronizable, .tombstone,
    ]

    static func check(_ item: NewItem) throws(VaultError) {
        try check(item.attributes, of: item.itemClass)
        try check(item.customAttributes)
        try check(item.accessControl)
        try check(item.expiry)
    }

    /// Checks an item that another vault had.
    static func check(_ item: StoredItem) throws(VaultError) {
        try check(item.attributes, of: item.itemClass)
        try check(item.customAttributes)
        try check(item.accessControl)
        try check(item.expiry)
        guard item.creationDate.isStorable, item.modificationDate.isStorable else {
            throw .invalidRequest(reason: Date.notStorable)
        }
        guard ItemClass.stored.contains(item.itemClass), item.identityKey == nil, !item.isTombstone else {
            throw .invalidRequest(reason: "an identity, or the trace of a deleted item, cannot be taken in")
        }
        guard item.attributes[.tokenID]?.isEmpty ?? true else {
            throw .invalidRequest(reason: "a key of an enclave cannot be taken in: it works in its own enclave alone")
        }
    }

    static func check(_ changes: ItemChanges, of itemClass: ItemClass) throws(VaultError) {
        try check(changes.attributes, of: itemClass)
        try check(changes.customAttributes)
        if let control = changes.accessControl { try check(control) }
        try check(changes.expiry)
    }

    static func check(_ query: ItemQuery) throws(VaultError) {
        try check(query.attributes, of: query.itemClass, isQuery: true)
        try check(query.customAttributes)
    }

    static func check(_ control: AccessControl) throws(VaultError) {
        if let flags = control.flags { try check(flags) }
    }

    static func check(_ flags: AccessControl.Flags) throws(VaultError) {
        guard AccessControl.isValid(flags) else {
            throw .invalidRequest(reason: "an access control with flags that are not known or exclude each other")
        }
    }

    private static func check(_ expiry: Expiry?) throws(VaultError) {
        guard expiry?.isStorable ?? true else { throw .invalidRequest(reason: Date.notStorable) }
    }

    private static func check(_ attributes: CustomAttributes?) throws(VaultError) {
        if let problem = attributes?.problem { throw .invalidRequest(reason: problem) }
    }

    private static func check(
        _ attributes: ItemAttributes, of itemClass: ItemClass, isQuery: Bool = false
    ) throws(VaultError) {
        for (name, value) in attributes {
            guard let definition = itemClass.schema[name], isQuery || !fields.contains(name) else {
                throw .invalidRequest(reason: "an attribute that items of this class do not have")
            }
            guard definition.kind.holds(value) else {
                throw .invalidRequest(reason: "an attribute of the wrong type")
            }
            guard value.isStorable else { throw .invalidRequest(reason: Date.notStorable) }
        }
    }
}

extension AttributeKind {
    /// Whether a value of this kind can be `value` once it has been converted.
    fileprivate func holds(_ value: AttributeValue) -> Bool {
        switch (self, value) {
        case (.blob, .string), (.blob, .data), (.blob, .number): true
        case (.data, .data), (.string, .string), (.number, .number), (.date, .date): true
        // Words that are no number stay words, and numbers need not be whole.
        case (.number, .string), (.number, .real), (.blob, .real): true
        case (.accessible, .string), (.accessControl, .data): true
        default: false
        }
    }
}
