import Access
import Foundation
import KeychainModel
import KeychainServices
import VaultInterface

/// A keychain together with the vault and the program it acts on and for: the one place where keychain
/// operations become operations of the vault. Everything here blocks.
struct BoundKeychain: Sendable {
    let keychain: Keychain
    let session: VaultSession

    var itemClass: ItemClass {
        switch keychain.target {
        case .service: .genericPassword
        case .server: .internetPassword
        }
    }

    /// What tells the keychain's items from those of other keychains, each part given.
    var place: ItemAttributes {
        switch keychain.target {
        case .service(let name): [.service: .string(name)]
        case .server(let server): server.attributes
        }
    }

    /// The group named, else the one where the vault puts the program's new items, so that reading and
    /// storing look at the same place. Nil leaves the refusal of a program without groups to the vault.
    var accessGroup: String? {
        keychain.accessGroup ?? session.client.accessGroups.first { $0 != Client.everyGroup }
    }

    func query(_ account: String?, limit: Int? = nil) -> ItemQuery {
        var attributes = place
        attributes[.account] = account.map(AttributeValue.string)
        var query = ItemQuery(
            itemClass: itemClass, attributes: attributes, accessGroup: accessGroup,
            synchronizable: keychain.isSynchronizable ? .synchronizableOnly : .localOnly, limit: limit,
            authentication: authentication)
        query.includesExpired = keychain.readsExpiredItems
        return query
    }

    func newItem(
        _ account: String, _ value: Data?, _ attributes: KeychainItem.Attributes = .init()
    ) throws -> NewItem {
        var all = try named(attributes)
        all.merge(place) { _, place in place }
        all[.account] = .string(account)
        var item = NewItem(
            itemClass: itemClass, attributes: all, accessGroup: accessGroup, accessControl: try accessControl(),
            isSynchronizable: keychain.isSynchronizable, value: value,
            authentication: changeAuthentication)
        item.customAttributes = attributes.custom
        item.expiry = attributes.expiry?.stored
        item.kept = attributes.keep?.stored
        return item
    }

    private var authentication: AuthenticationOptions {
        var options = keychain.interaction.options
        if let context = keychain.authenticationContext {
            context.state.use(in: session)
            options.context = context.state.identifier
            options.applicationPassword = context.state.applicationPassword
        }
        return options
    }

    /// An item that is to be changed cannot be left out, so leaving out becomes refusing.
    var changeAuthentication: AuthenticationOptions {
        var options = authentication
        if options.interaction == .skip { options.interaction = .fail }
        return options
    }

    func changeQuery(_ account: String) -> ItemQuery {
        var query = query(account)
        query.authentication = changeAuthentication
        query.includesExpired = true
        return query
    }

    private func named(
        _ attributes: KeychainItem.Attributes
    ) throws -> ItemAttributes {
        if attributes.generic != nil, itemClass == .internetPassword {
            throw KeychainError.invalidRequest("internet passwords have no generic attribute; use comment or label")
        }
        return attributes.named
    }

    func accessControl() throws -> KeychainModel.AccessControl {
        let flags = try keychain.accessControl?.flags()
        if let flags, !flags.isEmpty, keychain.isSynchronizable {
            throw KeychainError.invalidRequest(
                "an item with an access control cannot be synchronizable; drop one of the two")
        }
        if keychain.isSynchronizable, keychain.accessibility.protection.isThisDeviceOnly {
            throw KeychainError.invalidRequest(
                "an item for this device only cannot be synchronizable; drop one of the two")
        }
        return KeychainModel.AccessControl(protection: keychain.accessibility.protection, flags: flags)
    }

    func item(_ account: String, includingValue: Bool) throws -> StoredItem? {
        try first(query(account, limit: 1), includingValue: includingValue)
    }

    private func first(_ query: ItemQuery, includingValue: Bool) throws -> StoredItem? {
        do {
            return try session.perform(CopyItems(query, includingValues: includingValue)).first
        } catch .itemNotFound {
            return nil
        } catch {
            throw KeychainError(error)
        }
    }

    func data(_ account: String) throws -> Data? { try item(account, includingValue: true)?.value }

    /// The bytes a change starts from; nil if there is no item.
    func dataForChange(_ account: String) throws -> Data? {
        var query = changeQuery(account)
        query.limit = 1
        guard let item = try first(query, includingValue: true) else { return nil }
        guard let data = item.value else {
            throw KeychainError.invalidRequest("the item has no value to change; set one first")
        }
        return data
    }

    func get<Value: KeychainValue>(_ account: String) throws -> Value? {
        guard let data = try data(account) else { return nil }
        return try Value(keychainData: data)
    }

    func set(
        _ data: Data, _ account: String, _ attributes: KeychainItem.Attributes = .init()
    ) throws {
        let item = try newItem(account, data, attributes)
        _ = try KeychainError.translating { try session.perform(PutItem(item)) }
    }

    func contains(_ account: String) throws -> Bool {
        var query = query(account, limit: 1)
        query.authentication = AuthenticationOptions(interaction: .fail)
        do {
            return try !session.perform(CopyItems(query, includingValues: false)).isEmpty
        } catch .itemNotFound {
            return false
        } catch .interactionNotAllowed, .itemPasswordMissing, .enrolmentChanged {
            // The vault says so only of an item that is there: locked, or one that needs a person.
            return true
        } catch {
            throw KeychainError(error)
        }
    }

    func remove(_ account: String) throws -> Bool { try delete(query(account)) > 0 }

    /// Whether the stored bytes were `expected` and are now `new`; nil stands for no item.
    func exchange(_ account: String, expecting expected: Data?, with new: Data?) throws -> Bool {
        let item = try newItem(account, new)
        return try KeychainError.translating {
            try session.perform(ExchangeItem(item, expecting: expected))
        }
    }

    func setAttributes(_ account: String, _ attributes: KeychainItem.Attributes) throws {
        var changes = ItemChanges(attributes: try named(attributes))
        changes.customAttributes = attributes.custom
        changes.expiry = attributes.expiry?.stored
        changes.kept = attributes.keep?.stored
        _ = try KeychainError.translating {
            try session.perform(UpdateItems(changeQuery(account), with: changes))
        }
    }

    func rename(_ account: String, to newAccount: String) throws {
        let changes = ItemChanges(attributes: [.account: .string(newAccount)])
        _ = try KeychainError.translating {
            try session.perform(UpdateItems(changeQuery(account), with: changes))
        }
    }

    func protect(_ account: String) throws {
        let changes = ItemChanges(accessControl: try accessControl())
        _ = try KeychainError.translating {
            try session.perform(UpdateItems(changeQuery(account), with: changes))
        }
    }

    func items(withCustom custom: [String: String] = [:], includingValues: Bool) throws -> [KeychainItem] {
        var query = query(nil)
        query.customAttributes = custom
        do {
            return try session.perform(CopyItems(query, includingValues: includingValues))
                .map { KeychainItem($0) }
                .sorted { $0.account < $1.account }
        } catch .itemNotFound {
            return []
        } catch {
            throw KeychainError(error)
        }
    }

    /// The items with their values, as they are stored.
    func allItemsToSend() throws -> [StoredItem] {
        let query = query(nil)
        return try KeychainError.translating { try session.perform(CopyItems(query, includingValues: true)) }
    }

    func removeAll() throws -> Int { try delete(query(nil)) }

    private func delete(_ query: ItemQuery) throws -> Int {
        do {
            return try session.perform(DeleteItems(query))
        } catch .itemNotFound {
            return 0
        } catch {
            throw KeychainError(error)
        }
    }
}
