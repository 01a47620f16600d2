import Foundation
import KeychainModel

/// What `SecItemAdd` is asked.
struct AddRequest {
    enum Subject {
        case item(NewItem)
        /// An identity is stored as its two halves.
        case identity(certificate: NewItem, key: NewItem)
    }

    let returns: ReturnFlags
    let subject: Subject
    let context: (any _SecAuthenticationContext)?

    init(_ dictionary: NSDictionary) throws(SecItemFailure) {
        let parts = try ItemDictionary(dictionary)
        guard parts.match.count == 0, !parts.use.skipsConstrainedItems else { throw .parameter }
        // A new item gets its own reference and ignores the caller's, except for the older form, which names a row.
        if let reference = parts.persistentReference, reference.identifier == nil { throw .parameter }
        let terms = try AttributeTerms(parts.attributes, of: parts.itemClass)
        returns = parts.returns
        context = parts.use.context
        let authentication = parts.use.authentication
        switch parts.reference {
        case nil:
            guard parts.itemClass != .identity else { throw .parameter }
            subject = .item(try Self.newItem(parts.itemClass, terms, authentication, value: parts.value))
        case .item(let reference):
            guard parts.itemClass != .identity else { throw .parameter }
            subject = .item(try Self.newItem(parts.itemClass, terms, authentication, value: parts.value, reference))
        case .identity(let certificate, let key):
            guard parts.itemClass == .identity else { throw .parameter }
            subject = .identity(
                certificate: try Self.newItem(.certificate, terms, authentication, value: nil, certificate),
                key: try Self.newItem(.key, terms, authentication, value: nil, key))
        }
    }

    /// - Parameter reference: Gives the attributes and the value that the dictionary does not.
    private static func newItem(
        _ itemClass: ItemClass, _ terms: AttributeTerms, _ authentication: AuthenticationOptions, value: Data?,
        _ reference: (any ItemReference)? = nil
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
            accessControl: terms.control ?? defaultControl(in: terms.accessGroup),
            isSynchronizable: isSynchronizable,
            value: value ?? reference?.storedValue, authentication: authentication)
    }

    /// The control that depends on the group rather than the class: items of Apple's push service stay on the
    /// device and are always readable.
    private static func defaultControl(in group: String?) -> AccessControl? {
        group == "com.apple.apsd" ? AccessControl(protection: .alwaysThisDeviceOnly) : nil
    }
}
