import Access
import Bytes
import Crypto
import FoundationEssentials
import KeychainModel
import VaultInterface

/// The collections and items of the Secret Service in the vault.
///
/// An item is a generic password with the attributes that programs look for as custom attributes. Its service names the
/// collection, its account is its identifier. A program finds those of all access groups that it may list, because
/// looking for attributes names no item.
struct SecretStore: Sendable {
    /// The collections that are always there: one in the vault, and one in memory.
    static let defaultCollection = "login"
    static let sessionCollection = "session"
    private static let servicePrefix = "secret-service/"
    private static let collectionsService = "secret-service.collections"
    private static let aliasesService = "secret-service.aliases"

    private let session: VaultSession
    private let memory: SessionItems
    private let owner: SessionItems.Owner
    private let asks: Bool

    /// - Parameters:
    ///   - session: New items go to the first group of its client.
    ///   - asks: Whether a person is asked to unlock the vault for a search. Otherwise the search says what is locked.
    init(_ session: VaultSession, _ memory: SessionItems, asks: Bool) {
        (self.session, self.memory, self.asks) = (session, memory, asks)
        owner = SessionItems.Owner(
            user: session.client.program?.user ?? .max, group: session.client.accessGroups.first ?? "")
    }

    /// The group of new items.
    var group: String { owner.group }

    struct Item: Sendable {
        let collection: String
        let id: String
        let stored: StoredItem

        var label: String { text(.label) }
        var contentType: String { text(.itemDescription) }
        var attributes: CustomAttributes { stored.customAttributes }
        var group: String { stored.accessGroup }
        var isInMemory: Bool { collection == SecretStore.sessionCollection }

        private func text(_ name: AttributeName) -> String {
            if case .string(let text)? = stored.attribute(name) { text } else { "" }
        }
    }

    struct Collection: Sendable {
        let id: String
        let label: String
        let group: String
        /// The item that keeps it; nil for those that are always there.
        let stored: StoredItem?
    }

    // MARK: Items

    /// What a search finds.
    struct Found {
        var items: [Item] = []
        /// Items of which nothing more is known while the vault is locked.
        var locked: [UUID] = []
    }

    /// Finds items, in the order in which they were made.
    ///
    /// - Parameters:
    ///   - collection: Nil for all.
    ///   - attributes: What the items have, among others.
    ///   - includingSecrets: Whether to read the secrets, for which a person may be asked.
    func find(
        in collection: String? = nil, id: String? = nil, with attributes: CustomAttributes = [:],
        includingSecrets: Bool = false
    ) throws(VaultError) -> Found {
        var found = Found()
        if collection == nil || collection == Self.sessionCollection {
            found.items = memoryItems(id, attributes, includingSecrets: includingSecrets)
        }
        guard collection != Self.sessionCollection else { return found }
        var query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        if let id, let identifier = Self.identifier(inName: id) {
            query.identifier = identifier
        } else {
            if let collection { query.attributes[.service] = .string(Self.servicePrefix + collection) }
            if let id { query.attributes[.account] = .string(id) }
        }
        query.customAttributes = attributes
        if !asks { query.reports = .locked }
        if includingSecrets { query.authentication.prompt = "use a secret" }
        let stored = try copy(query, includingValues: includingSecrets) { part in
            if case .locked(let identifier) = part { found.locked.append(identifier) }
        }
        found.items += stored.compactMap { stored in
            guard case .string(let service)? = stored.attribute(.service), service.hasPrefix(Self.servicePrefix),
                case .string(let id)? = stored.attribute(.account)
            else { return nil }
            return Item(collection: String(service.dropFirst(Self.servicePrefix.count)), id: id, stored: stored)
        }
        found.items.sort { ($0.stored.creationDate, $0.id) < ($1.stored.creationDate, $1.id) }
        return found
    }

    /// The same for those who need to know all of the items.
    ///
    /// - Throws: ``VaultError/interactionNotAllowed(reason:)`` for a locked one.
    func items(
        in collection: String? = nil, id: String? = nil, with attributes: CustomAttributes = [:],
        includingSecrets: Bool = false
    ) throws(VaultError) -> [Item] {
        let found = try find(in: collection, id: id, with: attributes, includingSecrets: includingSecrets)
        guard found.locked.isEmpty else { throw .interactionNotAllowed(reason: "the keychain is locked") }
        return found.items
    }

    /// The name of an item of which only the identifier is known.
    static func name(ofLocked identifier: UUID) -> String {
        "u" + withUnsafeBytes(of: identifier.uuid) { $0.hexadecimal() }
    }

    private static func identifier(inName name: String) -> UUID? {
        guard name.hasPrefix("u"), let bytes = [UInt8](hexadecimal: name.utf8.dropFirst()), bytes.count == 16 else {
            return nil
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private func memoryItems(
        _ id: String?, _ attributes: CustomAttributes, includingSecrets: Bool
    ) -> [Item] {
        memory.all(of: owner).compactMap { found in
            guard id == nil || id == found.id,
                attributes.allSatisfy({ found.stored.customAttributes[$0.key] == $0.value })
            else { return nil }
            var stored = found.stored
            if !includingSecrets { stored.value = nil }
            return Item(collection: Self.sessionCollection, id: found.id, stored: stored)
        }
    }

    /// Makes an item, or gives the one with the same attributes a new secret.
    func store(
        _ secret: Data, in collection: String, label: String, attributes: CustomAttributes, contentType: String,
        replacing: Bool
    ) throws(VaultError) -> (item: Item, isNew: Bool) {
        let former = replacing ? try items(in: collection, with: attributes).first { $0.attributes == attributes } : nil
        let id: String
        if let former {
            id = former.id
        } else {
            id = try replacing ? freeName(for: attributes, in: collection) : Self.randomName()
        }
        var item = NewItem(
            itemClass: .genericPassword, attributes: Self.name(collection, id), accessGroup: former?.group ?? group,
            value: secret)
        item.attributes[.label] = .string(label)
        item.attributes[.itemDescription] = .string(contentType)
        item.customAttributes = attributes
        let isMemory = collection == Self.sessionCollection
        guard let stored = isMemory ? memory.put(id, item, of: owner) : try session.perform(PutItem(item)) else {
            throw .memoryUnavailable
        }
        return (Item(collection: collection, id: id, stored: stored), former == nil)
    }

    private static func randomName() -> String { [UInt8].random(count: 16).hexadecimal() }

    /// Returns the name of the item that is the one with these attributes: two programs that store it at the same time
    /// make one item.
    private func freeName(for attributes: CustomAttributes, in collection: String) throws(VaultError) -> String {
        var hash = SHA256()
        for (name, value) in attributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            for text in [name, value] {
                withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { hash.update(bufferPointer: $0) }
                hash.update(data: Data(text.utf8))
            }
        }
        let name = hash.finalize().prefix(16).hexadecimal()
        // Its attributes may have been changed since.
        return try items(in: collection, id: name).isEmpty ? name : Self.randomName()
    }

    func change(_ item: Item, _ changes: ItemChanges) throws(VaultError) {
        if item.collection == Self.sessionCollection {
            guard memory.change(item.id, changes, of: owner) else { throw .memoryUnavailable }
            return
        }
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: Self.name(item.collection, item.id), accessGroup: item.group,
            synchronizable: .any)
        try session.perform(UpdateItems(query, with: changes))
    }

    func delete(_ item: Item) throws(VaultError) {
        if item.collection == Self.sessionCollection { return memory.remove(item.id, of: owner) }
        try delete(Self.name(item.collection, item.id), in: item.group)
    }

    // MARK: Collections

    func collections() throws(VaultError) -> [Collection] {
        var found = try marks(Self.collectionsService).compactMap { stored -> Collection? in
            guard case .string(let id)? = stored.attribute(.account) else { return nil }
            var label = ""
            if case .string(let text)? = stored.attribute(.label) { label = text }
            return Collection(id: id, label: label, group: stored.accessGroup, stored: stored)
        }
        if !found.contains(where: { $0.id == Self.defaultCollection }) {
            found.append(Collection(id: Self.defaultCollection, label: "Login", group: group, stored: nil))
        }
        found.append(Collection(id: Self.sessionCollection, label: "Session", group: group, stored: nil))
        return found.sorted { $0.id < $1.id }
    }

    /// Makes a collection, or gives one another label.
    ///
    /// - Parameter former: Nil for a new one.
    func store(collection former: Collection?, label: String) throws(VaultError) -> Collection {
        let id = former?.id ?? [UInt8].random(count: 8).hexadecimal()
        let group = former?.group ?? group
        let stored = try mark(
            Self.collectionsService, id, [.label: .string(label)], in: group)
        return Collection(id: id, label: label, group: group, stored: stored)
    }

    /// Deletes a collection with its items.
    func delete(_ collection: Collection) throws(VaultError) {
        for item in try items(in: collection.id) { try delete(item) }
        try delete(
            [.service: .string(Self.collectionsService), .account: .string(collection.id)], in: collection.group)
    }

    /// Returns the collection with this other name; nil if there is none.
    func collection(alias: String) throws(VaultError) -> String? {
        let marks = try marks(Self.aliasesService, alias)
        if case .string(let id)? = marks.first?.attribute(.comment) { return id }
        switch alias {
        case "default", Self.defaultCollection: return Self.defaultCollection
        case Self.sessionCollection: return Self.sessionCollection
        default: return nil
        }
    }

    /// Gives a collection another name.
    ///
    /// - Parameter collection: Nil to take the name away.
    func set(alias: String, to collection: String?) throws(VaultError) {
        if let collection {
            _ = try mark(Self.aliasesService, alias, [.comment: .string(collection)], in: group)
        } else {
            try delete([.service: .string(Self.aliasesService), .account: .string(alias)], in: group)
        }
    }

    // MARK: Calls

    /// Items that keep no secret.
    private func marks(_ service: String, _ account: String? = nil) throws(VaultError) -> [StoredItem] {
        var query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service)], synchronizable: .any)
        if let account { query.attributes[.account] = .string(account) }
        // While the vault is locked, only the collections are known that are always there.
        if !asks { query.reports = .locked }
        return try copy(query, includingValues: false)
    }

    private func mark(
        _ service: String, _ account: String, _ attributes: [AttributeName: AttributeValue], in group: String
    ) throws(VaultError) -> StoredItem {
        var item = NewItem(
            itemClass: .genericPassword, attributes: [.service: .string(service), .account: .string(account)],
            accessGroup: group, value: Data())
        item.attributes.merge(attributes) { _, new in new }
        item.customAttributes = [:]
        return try session.perform(PutItem(item))
    }

    private static func name(_ collection: String, _ id: String) -> [AttributeName: AttributeValue] {
        [.service: .string(servicePrefix + collection), .account: .string(id)]
    }

    private func copy(
        _ query: ItemQuery, includingValues: Bool, report: (CopyItems.Part) -> Void = { _ in }
    ) throws(VaultError) -> [StoredItem] {
        do throws(VaultError) {
            return try session.perform(CopyItems(query, includingValues: includingValues), report: report)
        } catch .itemNotFound {
            return []
        }
    }

    private func delete(_ attributes: [AttributeName: AttributeValue], in group: String) throws(VaultError) {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: attributes, accessGroup: group, synchronizable: .any)
        do throws(VaultError) {
            _ = try session.perform(DeleteItems(query))
        } catch .itemNotFound {
            // Somebody else was faster.
        }
    }
}
