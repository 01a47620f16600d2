import Bytes
import Foundation
import KeychainModel
import VaultInterface

/// A version of an item, present or former, without its value.
public struct KeychainItemVersion: Sendable, Hashable {
    /// What became of a version.
    public enum State: Sendable, Hashable {
        /// It is the item's present version.
        case present
        /// A later version took its place.
        case former
        /// It was the last one when the item was deleted.
        case deleted
    }

    /// The item as it was. ``KeychainItem/version`` is the number of the version.
    public let item: KeychainItem
    /// What became of it.
    public let state: State
    /// The number of the vault's change that made the version.
    public let change: Int
    /// Whether another machine of a circle made a later version without knowledge of this one, which took its place.
    ///
    /// Both were changes by somebody: show the person this one, or bring the two together.
    public let isOverruled: Bool

    init(_ version: ItemVersion) {
        isOverruled = version.isOverruled
        item = KeychainItem(version.item)
        state = version.ended == nil ? .present : version.isDeleted ? .deleted : .former
        change = Int(clamping: version.change)
    }
}

/// What happened to items of the vault since somebody asked last.
public struct KeychainChangeList: Sendable, Hashable {
    /// What happened to an item last.
    public struct Entry: Sendable, Hashable {
        /// The item's ``KeychainItem/id``.
        public let id: UUID
        /// The version that the item has since; nil if it is gone: deleted, or moved to another access group.
        public let version: Int?
        /// The number of the change.
        public let change: Int
        /// A version that was overruled since then: another machine made a later one without knowledge of it. Nil if
        /// there is none.
        ///
        /// `get(_:for:version:)` reads it. If the later change deleted the item, the item's
        /// last version is in its history as deleted.
        public let overruledVersion: Int?

        init(_ item: ChangedItem) {
            overruledVersion = item.overruled == 0 ? nil : Int(clamping: item.overruled)
            id = item.identifier
            version = item.isDeleted ? nil : Int(clamping: item.version)
            change = Int(clamping: item.change)
        }
    }

    /// The items that changed, in the order of their last changes. An item that moved to another group or came back has
    /// two entries, and the last one tells how it is now.
    public let entries: [Entry]
    /// The number to ask from the next time.
    public let next: Int
    /// False if the vault does not know any more what was deleted since then, for example after it was erased. Then
    /// there are no entries that one could rely on, and all items have to be read again.
    public let isComplete: Bool
}

extension Keychain {
    /// What happened since a change to the items of all services and servers in the program's access groups.
    ///
    /// Each change of the vault has a number, which is greater than those before it. Ask each time from
    /// ``KeychainChangeList/next`` of the answer before: then nothing is lost and nothing is told twice. ``changes``
    /// says when to ask.
    ///
    /// ```swift
    /// var list = try keychain.changes(since: 0)
    /// for await _ in try await keychain.changes {
    ///     list = try await keychain.changes(since: list.next)
    ///     if !list.isComplete { reload() } else { update(list.entries) }
    /// }
    /// ```
    ///
    /// Where a daemon serves the vault, it tells of the groups that the program may list.
    ///
    /// - Parameter number: 0 for everything that is there now.
    /// - Throws: ``KeychainError``.
    public func changes(since number: Int) throws -> KeychainChangeList {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).changes(since: number)
    }

    /// What happened since a change. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func changes(since number: Int) async throws -> KeychainChangeList {
        try await inBackground { bound in try bound.changes(since: number) }
    }

    /// The versions of an account's item, the newest first, without their values; then those of deleted items of this
    /// account.
    ///
    /// The vault keeps former versions if the item (``KeychainItem/Attributes/keep``) or the vault's owner says so.
    ///
    /// ```swift
    /// try keychain.set("first", for: "ada", attributes: .init(keep: .versions(5)))
    /// try keychain.set("second", for: "ada")
    /// let before = try keychain.get(String.self, for: "ada", version: 1)
    /// ```
    ///
    /// - Returns: Nothing if there is no item and was none.
    /// - Throws: ``KeychainError``.
    public func history(of account: String) throws -> [KeychainItemVersion] {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).history(of: account)
    }

    /// The versions of an account's item. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func history(of account: String) async throws -> [KeychainItemVersion] {
        try await inBackground { bound in try bound.history(of: account) }
    }

    /// The value that an account had in a version, or nil if there is no such version.
    ///
    /// Reading it takes what it took while it was the present one: an unlocked vault, or a person. If there is no item
    /// of this account, the one counts that was deleted last.
    ///
    /// - Throws: ``KeychainError``.
    public func get<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String, version: Int
    ) throws -> Value? {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).get(account, version: version)
    }

    /// The value that an account had in a version. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func get<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String, version: Int
    ) async throws -> Value? {
        try await inBackground { bound in try bound.get(account, version: version) }
    }

    /// Gives an item the value and the attributes of a former version, as a new version; or brings it back if it was
    /// deleted.
    ///
    /// - Parameter version: Nil for the last former version.
    /// - Returns: The item as it is now, without its value.
    /// - Throws: ``KeychainError/Code/itemNotFound`` if there is no such version, and
    ///   ``KeychainError/Code/duplicateItem`` if it belongs to a deleted item and the account has another one.
    @discardableResult
    public func restore(_ account: String, version: Int? = nil) throws -> KeychainItem {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).restore(account, version: version)
    }

    /// Gives an item the value and the attributes of a former version. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func restore(_ account: String, version: Int? = nil) async throws -> KeychainItem {
        try await inBackground { bound in try bound.restore(account, version: version) }
    }

    /// Removes the former versions of an account's item for good, and those of deleted items of this account. The item
    /// stays.
    ///
    /// - Parameter account: Nil for all accounts of the service or server.
    /// - Returns: How many versions there were.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func purge(_ account: String? = nil) throws -> Int {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).purge(account)
    }

    /// Removes the former versions of an account's item for good. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func purge(_ account: String? = nil) async throws -> Int {
        try await inBackground { bound in try bound.purge(account) }
    }
}

extension BoundKeychain {
    func changes(since number: Int) throws -> KeychainChangeList {
        let (items, known) = try KeychainError.translating { try session.perform(ChangesSince(Int64(number))) }
        return KeychainChangeList(
            entries: items.map(KeychainChangeList.Entry.init), next: Int(clamping: known.next),
            isComplete: known.isComplete)
    }

    func history(of account: String) throws -> [KeychainItemVersion] {
        do {
            return try session.perform(CopyVersions(query(account))).map(KeychainItemVersion.init)
        } catch .itemNotFound {
            return []
        } catch {
            throw KeychainError(error)
        }
    }

    func get<Value: KeychainValue>(_ account: String, version: Int) throws -> Value? {
        let item: StoredItem
        do {
            item = try session.perform(CopyVersion(query(account), version: Int64(version)))
        } catch .itemNotFound {
            return nil
        } catch {
            throw KeychainError(error)
        }
        return try item.value.map { try Value(keychainData: $0) }
    }

    func restore(_ account: String, version: Int?) throws -> KeychainItem {
        let operation = RestoreVersion(changeQuery(account), version: version.map(Int64.init))
        return KeychainItem(try KeychainError.translating { try session.perform(operation) })
    }

    func purge(_ account: String?) throws -> Int {
        try KeychainError.translating { try session.perform(PurgeVersions(query(account))) }
    }
}
