import KeychainModel
import ProcessVault
import VaultInterface

extension Keychain {
    /// Moves all items of another keychain into this one, in one step: after a service or an access group got another
    /// name, or when items that are there need another protection.
    ///
    /// The items keep their values, attributes, dates and former versions, and get this keychain's ``accessibility``,
    /// ``accessControl`` and ``accessGroup``. After the move the other keychain has none of them. If it is repeated,
    /// there is nothing to move.
    ///
    /// ```swift
    /// let old = Keychain(service: "Mail", accessibility: .afterFirstUnlock)
    /// let new = Keychain(service: "com.example.mail")
    /// let count = try new.migrate(from: old)
    /// ```
    ///
    /// - Returns: How many items were moved.
    /// - Throws: ``KeychainError/Code/duplicateItem`` if an account of the other keychain is in this one already, and
    ///   ``KeychainError/Code/invalidRequest`` between a service and a server, or between synchronizable items and
    ///   others. Then nothing is moved.
    @discardableResult
    public func migrate(from other: Keychain) throws -> Int {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).migrate(from: other)
    }

    /// Moves all items of another keychain into this one, in one step. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func migrate(from other: Keychain) async throws -> Int {
        try await inBackground { bound in try bound.migrate(from: other) }
    }
}

extension BoundKeychain {
    fileprivate func migrate(from other: Keychain) throws -> Int {
        let source = BoundKeychain(keychain: other, session: session)
        guard source.itemClass == itemClass, Set(source.place.map(\.key)) == Set(place.map(\.key)) else {
            throw KeychainError.invalidRequest(
                "items move between two services, or between two servers that are described by the same parts")
        }
        guard other.isSynchronizable == keychain.isSynchronizable else {
            throw KeychainError.invalidRequest("items that are synchronizable stay so; move them among each other")
        }
        var changes = ItemChanges(attributes: place, accessControl: try accessControl())
        changes.accessGroup = accessGroup
        var query = source.query(nil)
        query.authentication = source.changeAuthentication
        query.includesExpired = true
        do {
            return try session.perform(UpdateItems(query, with: changes))
        } catch .itemNotFound {
            return 0
        } catch {
            throw KeychainError(error)
        }
    }
}
