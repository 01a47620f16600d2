import Foundation
import KeychainModel
import VaultInterface

/// `SecItemCopyMatching` and `SecItemDelete`.
extension ItemDictionary {
    /// Finds items, and makes the result that the dictionary asks for.
    func copy(in session: VaultSession) throws -> ItemResult {
        var query = try searchQuery()
        do {
            query.filters = try match.filters(for: itemClass)
        } catch {
            // A missing entitlement is reported before conditions that cannot be met.
            throw session.client.mayUse(query.accessGroup) ? error : .missingEntitlement
        }
        try use.begin(in: session)
        let items = try session.perform(CopyItems(query, includingValues: needsValues))
        // For want of a way to evaluate trust, what was found must not be returned.
        if match.needsTrust(for: itemClass) { throw SecItemFailure.unimplemented }
        // A search for an identity itself tells its persistent reference, and nothing else (Apple, SecItem.m).
        if case .identity = reference, returns != .persistentReference || match.wantsArray { return .untouched }
        return shape.ofCopy(items, asArray: match.wantsArray)
    }

    func delete(in session: VaultSession) throws {
        let query = try deletionQuery()
        try use.begin(in: session)
        try session.perform(DeleteItems(query))
    }

    /// The query of a search, without its conditions.
    func searchQuery() throws(SecItemFailure) -> ItemQuery {
        let terms = try terms()
        if persistentReference != nil, !terms.isEmpty { throw .parameter }
        var query = try query(terms)
        query.limit = match.greatestCount
        return query
    }

    func deletionQuery() throws(SecItemFailure) -> ItemQuery {
        // A limit of 'all' says what deletion does anyway, and the file keychain of macOS asks for it.
        let isMatchAllowed = match.count == 0 || (match.count == 1 && match.limit == .all)
        guard isMatchAllowed, !use.skipsConstrainedItems else { throw .parameter }
        return try query(try terms())
    }

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

    /// Whether the result has something in it that only an item's value can tell. Passwords cannot be returned as
    /// objects.
    private var needsValues: Bool {
        let isPassword = itemClass == .genericPassword || itemClass == .internetPassword
        return returns.contains(.data) || (returns.contains(.reference) && !isPassword)
    }
}
