import Foundation
import KeychainModel
import VaultInterface

/// `SecItemAdd`.
extension ItemDictionary {
    /// Stores what the dictionary describes, and makes the result that it asks for.
    func add(in session: VaultSession) throws -> ItemResult {
        let items = try newItems()
        try use.begin(in: session)
        if items.count == 2 { return try addIdentity(certificate: items[0], key: items[1], in: session) }
        var stored = try session.perform(AddItem(items[0]))
        // The vault does not send back the value that it was given.
        stored.value = items[0].value ?? stored.value
        return shape.ofAdd(stored)
    }

    /// Stores both halves of an identity; one of them may exist already, such as a certificate renewed for
    /// the same key.
    private func addIdentity(
        certificate: NewItem, key: NewItem, in session: VaultSession
    ) throws(VaultError) -> ItemResult {
        try session.perform(AddIdentity(certificate: certificate, key: key))
        if returns.isEmpty { return .untouched }
        let schema = ItemClass.certificate.schema
        let query = ItemQuery(
            itemClass: .identity, attributes: certificate.attributes.filter { schema[$0.key]?.isPrimaryKey == true },
            accessGroup: certificate.accessGroup,
            synchronizable: certificate.isSynchronizable ? .synchronizableOnly : .localOnly, limit: 1,
            authentication: key.authentication)
        let found = try session.perform(CopyItems(query, includingValues: true))
        return found.first.map(shape.ofAdd) ?? .untouched
    }

    /// The item to store, or the certificate and the key of an identity, which is stored as its two halves.
    func newItems() throws(SecItemFailure) -> [NewItem] {
        guard match.count == 0, !use.skipsConstrainedItems else { throw .parameter }
        // A new item gets its own reference and ignores the caller's, except for the older form, which names a row.
        if let persistentReference, persistentReference.identifier == nil { throw .parameter }
        let terms = try terms()
        switch reference {
        case .identity(let certificate, let key):
            guard itemClass == .identity else { throw .parameter }
            return [
                try newItem(.certificate, terms, certificate, value: nil), try newItem(.key, terms, key, value: nil),
            ]
        case .item(let reference):
            guard itemClass != .identity else { throw .parameter }
            return [try newItem(itemClass, terms, reference, value: value)]
        case nil:
            guard itemClass != .identity else { throw .parameter }
            return [try newItem(itemClass, terms, nil, value: value)]
        }
    }

    /// - Parameter reference: Gives the attributes and the value that the dictionary does not.
    private func newItem(
        _ itemClass: ItemClass, _ terms: AttributeTerms, _ reference: (any ItemReference)?, value: Data?
    ) throws(SecItemFailure) -> NewItem {
        let schema = itemClass.schema
        var attributes = terms.settableAttributes
        if itemClass == .certificate || itemClass == .key {
            // An identity's dictionary may name attributes of either half.
            attributes = attributes.filter { schema[$0.key] != nil }
        }
        if let reference {
            for (name, value) in reference.storedAttributes where attributes[name] == nil {
                guard schema[name] != nil else { throw .noSuchAttribute }
                attributes[name] = value
            }
        }
        let isSynchronizable = terms.synchronizable == .synchronizableOnly
        if isSynchronizable {
            if terms.control?.flags != nil { throw .parameter }
            if let group = attributes[.sharingGroup], group != .string("") { throw .parameter }
        }
        return NewItem(
            itemClass: itemClass, attributes: attributes, accessGroup: terms.accessGroup,
            accessControl: terms.control ?? Self.defaultControl(in: terms.accessGroup),
            isSynchronizable: isSynchronizable, value: value ?? reference?.storedValue,
            authentication: use.authentication)
    }

    /// The control that depends on the group rather than the class: items of Apple's push service stay on the
    /// device and are always readable.
    private static func defaultControl(in group: String?) -> AccessControl? {
        group == "com.apple.apsd" ? AccessControl(protection: .alwaysThisDeviceOnly) : nil
    }
}
