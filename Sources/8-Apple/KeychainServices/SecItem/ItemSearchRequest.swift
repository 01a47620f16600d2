import Foundation
import KeychainModel

extension ItemDictionary {
    /// The query that this dictionary describes, without its conditions and its limit.
    ///
    /// - Parameter terms: The dictionary's own attributes; a reference adds those they do not name.
    func query(_ terms: AttributeTerms) throws(SecItemFailure) -> ItemQuery {
        var attributes = terms.attributes
        if let reference {
            let schema = itemClass.schema
            for (name, value) in reference.searchAttributes where attributes[name] == nil {
                guard schema[name] != nil else { throw .noSuchAttribute }
                attributes[name] = value
            }
        }
        if let accessible = terms.accessible { attributes[.accessible] = .string(accessible.rawValue) }
        if terms.isTombstone == true { attributes[.tombstone] = .number(1) }
        return ItemQuery(
            itemClass: itemClass, attributes: attributes, accessGroup: terms.accessGroup,
            // A reference means one item, on whichever side it is.
            synchronizable: terms.synchronizable ?? (persistentReference == nil ? .localOnly : .any),
            identifier: persistentReference?.searchedIdentifier,
            includesTombstones: use.includesTombstones || terms.isTombstone == true,
            authentication: use.authentication)
    }
}

/// What `SecItemCopyMatching` is asked.
struct CopyRequest {
    let returns: ReturnFlags
    let wantsArray: Bool
    let query: ItemQuery
    /// Why the conditions cannot be met; reported after the access group has been checked.
    let incompatibility: SecItemFailure?
    /// Whether what is found must not be returned, for want of a way to evaluate trust.
    let needsTrust: Bool
    let context: (any _SecAuthenticationContext)?

    init(_ dictionary: NSDictionary) throws(SecItemFailure) {
        let parts = try ItemDictionary(dictionary)
        let terms = try AttributeTerms(parts.attributes, of: parts.itemClass)
        if parts.persistentReference != nil, !terms.isEmpty { throw .parameter }
        var query = try parts.query(terms)
        query.limit = parts.match.greatestCount
        do {
            query.filters = try parts.match.filters(for: parts.itemClass)
            incompatibility = nil
        } catch {
            incompatibility = error
        }
        needsTrust = parts.match.needsTrust(for: parts.itemClass)
        returns = parts.returns
        wantsArray = parts.match.wantsArray
        context = parts.use.context
        self.query = query
    }

    /// Whether the result has something in it that only an item's value can tell.
    var needsValues: Bool {
        returns.contains(.data) || (returns.contains(.reference) && query.itemClass.hasReferences)
    }
}

/// What `SecItemDelete` is asked.
struct DeleteRequest {
    let query: ItemQuery
    let context: (any _SecAuthenticationContext)?

    init(_ dictionary: NSDictionary) throws(SecItemFailure) {
        let parts = try ItemDictionary(dictionary)
        // A limit of 'all' says what deletion does anyway, and the file keychain of macOS asks for it.
        let isMatchAllowed = parts.match.count == 0 || (parts.match.count == 1 && parts.match.limit == .all)
        guard isMatchAllowed, !parts.use.skipsConstrainedItems else { throw .parameter }
        query = try parts.query(try AttributeTerms(parts.attributes, of: parts.itemClass))
        context = parts.use.context
    }
}

extension ItemClass {
    /// Whether items of this class can be returned as objects: passwords cannot.
    var hasReferences: Bool {
        switch self {
        case .genericPassword, .internetPassword: false
        case .certificate, .key, .identity: true
        }
    }
}
