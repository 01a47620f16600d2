import Bytes
import FoundationEssentials
import KeychainModel
import VaultInterface

/// The collections and items of the Secret Service in the vault.
///
/// An item is a generic password in an access group of its own, with the attributes that programs look for as custom
/// attributes. Its service names the collection, its account is its identifier.
package struct SecretStore: Sendable {
    /// The access group of all items.
    package static let group = "secret-service"
    /// The collections that are always there: one in the vault, and one in memory.
    static let defaultCollection = "login"
    static let sessionCollection = "session"
    private static let servicePrefix = "secret-service/"
    private static let collectionsService = "secret-service.collections"

    private let session: VaultSession
    private let memory = SessionItems()

    package init(_ session: VaultSession) { self.session = session }

    struct Item: Sendable {
        let collection: String
        let id: String
        let stored: StoredItem

        var label: String { text(.label) }
        var contentType: String { text(.itemDescription) }
        var attributes: CustomAttributes { stored.customAttributes }

        private func text(_ name: AttributeName) -> String {
            if case .string(let text)? = stored.attribute(name) { text } else { "" }
        }
    }

    struct Collection: Sendable {
        let id: String
        let label: String
        /// The item that keeps it; nil for those that are always there.
        let stored: StoredItem?
    }

    // MARK: Items

    /// Finds items without their secrets, in the order in which they were made.
    ///
    /// - Parameters:
    ///   - collection: Nil for all.
    ///   - attributes: What the items have, among others.
    func items(
        in collection: String? = nil, id: String? = nil, with attributes: CustomAttributes = [:]
    ) throws(VaultError) -> [Item] {
        let remembered = collection == nil || collection == Self.sessionCollection ? memoryItems(id, attributes) : []
        guard collection != Self.sessionCollection else { return remembered }
        var query = ItemQuery(itemClass: .genericPassword, accessGroup: Self.group, synchronizable: .any)
        if let collection { query.attributes[.service] = .string(Self.servicePrefix + collection) }
        if let id { query.attributes[.account] = .string(id) }
        query.customAttributes = attributes
        let found = try copy(query, includingValues: false).compactMap { stored -> Item? in
            guard case .string(let service)? = stored.attribute(.service), service.hasPrefix(Self.servicePrefix),
                case .string(let id)? = stored.attribute(.account)
            else { return nil }
            return Item(collection: String(service.dropFirst(Self.servicePrefix.count)), id: id, stored: stored)
        }
        return (found + remembered).sorted { ($0.stored.creationDate, $0.id) < ($1.stored.creationDate, $1.id) }
    }

    private func memoryItems(_ id: String?, _ attributes: CustomAttributes) -> [Item] {
        memory.all().compactMap { found in
            guard id == nil || id == found.id,
                attributes.allSatisfy({ found.stored.customAttributes[$0.key] == $0.value })
            else { return nil }
            return Item(collection: Self.sessionCollection, id: found.id, stored: found.stored)
        }
    }

    /// Reads a secret; nil if the item went meanwhile. May ask a person.
    func secret(of item: Item) throws(VaultError) -> Data? {
        if item.collection == Self.sessionCollection { return memory.secret(item.id) }
        var query = ItemQuery(itemClass: .genericPassword, accessGroup: Self.group, synchronizable: .any)
        query.attributes = Self.name(item.collection, item.id)
        query.authentication.prompt = "use the secret '\(item.label)'"
        return try copy(query, includingValues: true).first?.value
    }

    /// Makes an item, or gives the one with the same attributes a new secret.
    func store(
        _ secret: Data, in collection: String, label: String, attributes: CustomAttributes, contentType: String,
        replacing: Bool
    ) throws(VaultError) -> (item: Item, isNew: Bool) {
        let former = replacing ? try items(in: collection, with: attributes).first { $0.attributes == attributes } : nil
        let id = former?.id ?? [UInt8].random(count: 16).hexadecimal()
        var item = NewItem(
            itemClass: .genericPassword, attributes: Self.name(collection, id), accessGroup: Self.group, value: secret)
        item.attributes[.label] = .string(label)
        item.attributes[.itemDescription] = .string(contentType)
        item.customAttributes = attributes
        let isMemory = collection == Self.sessionCollection
        guard let stored = isMemory ? memory.put(id, item) : try session.perform(PutItem(item)) else {
            throw .memoryUnavailable
        }
        return (Item(collection: collection, id: id, stored: stored), former == nil)
    }

    func change(_ item: Item, _ changes: ItemChanges) throws(VaultError) {
        if item.collection == Self.sessionCollection { return memory.change(item.id, changes) }
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: Self.name(item.collection, item.id), accessGroup: Self.group,
            synchronizable: .any)
        try session.perform(UpdateItems(query, with: changes))
    }

    func delete(_ item: Item) throws(VaultError) {
        if item.collection == Self.sessionCollection { return memory.remove(item.id) }
        try delete(Self.name(item.collection, item.id))
    }

    // MARK: Collections

    func collections() throws(VaultError) -> [Collection] {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(Self.collectionsService)],
            accessGroup: Self.group, synchronizable: .any)
        var found = try copy(query, includingValues: false).compactMap { stored -> Collection? in
            guard case .string(let id)? = stored.attribute(.account) else { return nil }
            var label = ""
            if case .string(let text)? = stored.attribute(.label) { label = text }
            return Collection(id: id, label: label, stored: stored)
        }
        if !found.contains(where: { $0.id == Self.defaultCollection }) {
            found.append(Collection(id: Self.defaultCollection, label: "Login", stored: nil))
        }
        found.append(Collection(id: Self.sessionCollection, label: "Session", stored: nil))
        return found.sorted { $0.id < $1.id }
    }

    /// Makes a collection, or gives one another label.
    ///
    /// - Parameter id: Nil for a new one.
    func store(collection id: String?, label: String) throws(VaultError) -> Collection {
        let id = id ?? [UInt8].random(count: 8).hexadecimal()
        var item = NewItem(
            itemClass: .genericPassword,
            attributes: [.service: .string(Self.collectionsService), .account: .string(id), .label: .string(label)],
            accessGroup: Self.group, value: Data())
        item.customAttributes = [:]
        return Collection(id: id, label: label, stored: try session.perform(PutItem(item)))
    }

    /// Deletes a collection with its items.
    func delete(_ collection: Collection) throws(VaultError) {
        for item in try items(in: collection.id) { try delete(item) }
        try delete([.service: .string(Self.collectionsService), .account: .string(collection.id)])
    }

    // MARK: Calls

    private static func name(_ collection: String, _ id: String) -> [AttributeName: AttributeValue] {
        [.service: .string(servicePrefix + collection), .account: .string(id)]
    }

    private func copy(_ query: ItemQuery, includingValues: Bool) throws(VaultError) -> [StoredItem] {
        do throws(VaultError) {
            return try session.perform(CopyItems(query, includingValues: includingValues))
        } catch .itemNotFound {
            return []
        }
    }

    private func delete(_ attributes: [AttributeName: AttributeValue]) throws(VaultError) {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: attributes, accessGroup: Self.group, synchronizable: .any)
        do throws(VaultError) {
            _ = try session.perform(DeleteItems(query))
        } catch .itemNotFound {
            // Somebody else was faster.
        }
    }
}
