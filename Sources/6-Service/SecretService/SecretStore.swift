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
package struct SecretStore: Sendable {
    /// The collections that are always there: one in the vault, and one in memory.
    static let defaultCollection = "login"
    static let sessionCollection = "session"
    private static let mostCollections = 1000
    private static let servicePrefix = "secret-service/"

    /// Whether a password of this service is an item of a collection. Its account is a number then.
    package static func isName(ofService service: String) -> Bool { service.hasPrefix(servicePrefix) }

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

    /// An item, with or without its secret.
    struct Item: Sendable {
        let collection: String
        let id: String
        let stored: StoredItem

        var path: SecretPath { .item(collection: collection, id: id) }
        var label: String { text(.label) }
        var contentType: String { text(.itemDescription) }
        var attributes: CustomAttributes { stored.customAttributes }
        var group: String { stored.accessGroup }
        var isInMemory: Bool { collection == SecretStore.sessionCollection }

        private func text(_ name: AttributeName) -> String {
            if case .string(let text)? = stored.attribute(name) { text } else { "" }
        }
    }

    /// A collection of items.
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
        /// Names of items of which nothing more is known while the vault is locked.
        var locked: [String] = []

        var paths: [SecretPath] { items.map(\.path) + lockedPaths }
        /// Nothing but the name is known of a locked item, so its collection is not.
        var lockedPaths: [SecretPath] { locked.map { .item(collection: SecretStore.defaultCollection, id: $0) } }
    }

    /// Finds items: those of the program's own group first, and then the one that changed last, because libsecret and
    /// others take the first one. Items that need a person or a password of their own are left out.
    ///
    /// - Parameters:
    ///   - collection: Nil for all.
    ///   - attributes: What the items have, among others.
    ///   - most: The most items of the vault; nil for all.
    ///   - includingSecrets: Whether to read the secrets, for which a person may be asked.
    func find(
        in collection: String? = nil, id: String? = nil, with attributes: CustomAttributes = [:],
        most: Int? = nil, includingSecrets: Bool = false
    ) throws(VaultError) -> Found {
        var found = Found()
        if collection == nil || collection == Self.sessionCollection {
            found.items = memoryItems(id, attributes, includingSecrets: includingSecrets)
        }
        guard collection != Self.sessionCollection else { return found }
        var query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        query.customAttributes = attributes
        if let id, let identifier = Self.identifier(inName: id) {
            query.identifier = identifier
        } else if let id, let wanted = Self.attributes(inName: id) {
            query.customAttributes = wanted
        } else {
            // Items that were not stored through this service are in the default collection.
            if let collection, collection != Self.defaultCollection || id != nil {
                query.attributes[.service] = .string(Self.servicePrefix + collection)
            }
            if let id { query.attributes[.account] = .string(id) }
        }
        query.limit = most
        // A person is asked only when a program wants the secret of one item.
        let isOne = query.attributes[.account] != nil && includingSecrets
        query.authentication.interaction = isOne ? .allow : .skip
        query.reports = .damage
        if !asks { query.reports.insert(.locked) }
        if includingSecrets { query.authentication.prompt = "use a secret" }
        let stored: [StoredItem]
        do {
            stored = try copy(query, includingValues: includingSecrets) { part in
                if case .locked(let identifier) = part { found.locked.append(Self.name(ofLocked: identifier)) }
            }
        } catch {
            // Before the first unlock, the vault cannot tell which items have an attribute.
            guard case .interactionNotAllowed = error, !asks, !includingSecrets else { throw error }
            if let id { found.locked = [id] } else if let name = Self.name(ofAll: attributes) { found.locked = [name] }
            return found
        }
        found.items += stored.compactMap(Self.item)
        found.items.sort { one, other in
            let (isFirst, isSecond) = (one.group == group, other.group == group)
            guard isFirst == isSecond else { return isFirst }
            let (date, otherDate) = (one.stored.modificationDate, other.stored.modificationDate)
            return date == otherDate ? one.id < other.id : date > otherDate
        }
        return found
    }

    /// Returns the item of the service that a password is; nil for one that is not the service's.
    private static func item(_ stored: StoredItem) -> Item? {
        guard case .string(let service)? = stored.attribute(.service),
            case .string(let account)? = stored.attribute(.account)
        else { return nil }
        guard service.hasPrefix(servicePrefix) else {
            // Python's keyring has such passwords, through its own backend and through this service.
            let names = stored.customAttributes
            guard names["service"] == service, names["username"] == account else { return nil }
            return Item(collection: defaultCollection, id: name(ofLocked: stored.identifier), stored: stored)
        }
        let collection = String(service.dropFirst(servicePrefix.count))
        // Somebody may have stored such a password by hand.
        guard SecretPath.isName(collection), SecretPath.isName(account) else { return nil }
        return Item(collection: collection, id: account, stored: stored)
    }

    /// Finds items as ``find(in:id:with:most:includingSecrets:)`` does.
    ///
    /// - Throws: ``VaultError/interactionNotAllowed(reason:)`` if one of them is locked.
    func items(
        in collection: String? = nil, id: String? = nil, with attributes: CustomAttributes = [:],
        includingSecrets: Bool = false
    ) throws(VaultError) -> [Item] {
        let found = try find(in: collection, id: id, with: attributes, includingSecrets: includingSecrets)
        guard found.locked.isEmpty else { throw Self.locked }
        return found.items
    }

    private static let locked = VaultError.interactionNotAllowed(reason: "the keychain is locked")

    /// The name of an item of which only the identifier is known, or which this service did not make.
    private static func name(ofLocked identifier: UUID) -> String {
        "u" + withUnsafeBytes(of: identifier.uuid) { $0.hexadecimal() }
    }

    private static func identifier(inName name: String) -> UUID? {
        guard name.hasPrefix("u"), let bytes = [UInt8](hexadecimal: name.utf8.dropFirst()), bytes.count == 16 else {
            return nil
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The name of the item, if there is one, that has these attributes. Nil without attributes, which many have.
    private static func name(ofAll attributes: CustomAttributes) -> String? {
        guard !attributes.isEmpty else { return nil }
        let texts = attributes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        // No attribute has a zero in it.
        return "q" + Array(texts.joined(separator: "\0").utf8).hexadecimal()
    }

    private static func attributes(inName name: String) -> CustomAttributes? {
        guard name.hasPrefix("q"), let bytes = [UInt8](hexadecimal: name.utf8.dropFirst()),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let texts = text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
        guard texts.count.isMultiple(of: 2) else { return nil }
        let pairs = stride(from: 0, to: texts.count, by: 2).map { (texts[$0], texts[$0 + 1]) }
        let attributes = CustomAttributes(pairs) { first, _ in first }
        return attributes.problem == nil ? attributes : nil
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
        // An item of another group is not this program's to replace: others could read the secret.
        let former =
            replacing
            ? try items(in: collection, with: attributes).first {
                $0.attributes == attributes && $0.group.isSameGroup(as: group)
            } : nil
        let id: String
        if let former {
            id = former.id
        } else {
            id = try replacing ? freeName(for: attributes, in: collection) : Self.randomName()
        }
        var name = Self.name(collection, id)
        if let former { for part in name.names { name[part] = former.stored.attribute(part) } }
        var item = NewItem(
            itemClass: .genericPassword, attributes: name, accessGroup: former?.group ?? group, value: secret)
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

    /// Returns a name that depends on the attributes alone. Two programs that store the same attributes at the same
    /// time then write one item.
    private func freeName(for attributes: CustomAttributes, in collection: String) throws(VaultError) -> String {
        var hash = SHA256()
        for (name, value) in attributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            for text in [name, value] {
                withUnsafeBytes(of: UInt64(clamping: text.utf8.count).littleEndian) { hash.update(bufferPointer: $0) }
                hash.update(data: Data(text.utf8))
            }
        }
        let name = hash.finalize().prefix(16).hexadecimal()
        // Its attributes may have been changed since.
        return try items(in: collection, id: name).isEmpty ? name : Self.randomName()
    }

    /// Changes attributes or the secret of an item.
    func change(_ item: Item, _ changes: ItemChanges) throws(VaultError) {
        if item.collection == Self.sessionCollection {
            guard memory.change(item.id, changes, of: owner) else { throw .memoryUnavailable }
            return
        }
        try session.perform(UpdateItems(Self.query(item), with: changes))
    }

    /// Deletes an item; one that is gone already is no error.
    func delete(_ item: Item) throws(VaultError) {
        if item.collection == Self.sessionCollection { return memory.remove(item.id, of: owner) }
        try delete(Self.query(item))
    }

    /// The query for exactly this item, which a secret of another one cannot take the place of.
    private static func query(_ item: Item) -> ItemQuery {
        ItemQuery(
            itemClass: .genericPassword, accessGroup: item.group, synchronizable: .any,
            identifier: item.stored.identifier)
    }

    // MARK: Collections

    /// Returns the collections, those that are always there among them.
    func collections() throws(VaultError) -> [Collection] { try known().collections }

    /// Returns a collection; nil if there is none.
    ///
    /// - Throws: ``VaultError/interactionNotAllowed(reason:)`` if nobody can know yet whether there is one.
    func collection(_ id: String) throws(VaultError) -> Collection? {
        let (collections, areAll) = try known(id)
        if let found = collections.first(where: { $0.id == id }) { return found }
        guard areAll else { throw Self.locked }
        return nil
    }

    /// Returns the collections. Before the first unlock these are those that are always there.
    ///
    /// - Parameter id: Nil for all; otherwise others may be left out.
    private func known(_ id: String? = nil) throws(VaultError) -> (collections: [Collection], areAll: Bool) {
        var stored: [StoredItem]?
        do {
            stored = try marks(Self.collectionsService, id)
        } catch {
            guard case .interactionNotAllowed = error, !asks else { throw error }
        }
        var found = (stored ?? []).compactMap { stored -> Collection? in
            guard case .string(let id)? = stored.attribute(.account), SecretPath.isName(id) else { return nil }
            var label = ""
            if case .string(let text)? = stored.attribute(.label) { label = text }
            return Collection(id: id, label: label, group: stored.accessGroup, stored: stored)
        }
        // Two programs may have made one of the same name, each in its own group.
        var ids: Set<String> = []
        found.removeAll { !ids.insert($0.id).inserted }
        if !ids.contains(Self.defaultCollection) {
            found.append(Collection(id: Self.defaultCollection, label: "Login", group: group, stored: nil))
        }
        found.append(Collection(id: Self.sessionCollection, label: "Session", group: group, stored: nil))
        return (found.sorted { $0.id < $1.id }, stored != nil)
    }

    /// Makes a collection, or gives one another label.
    ///
    /// - Parameter former: Nil for a new one.
    func store(collection former: Collection?, label: String) throws(VaultError) -> Collection {
        let id: String
        if let former { id = former.id } else { id = try freeName(ofCollection: label) }
        let group = former?.group ?? group
        let stored = try mark(
            Self.collectionsService, id, [.label: .string(label)], in: group)
        return Collection(id: id, label: label, group: group, stored: stored)
    }

    /// Returns the name of a new collection, as gnome-keyring makes it: some programs know collections by their paths.
    private func freeName(ofCollection label: String) throws(VaultError) -> String {
        let base = label.isEmpty ? "unnamed" : label
        let taken = Set(try collections().map(\.id))
        guard taken.count < Self.mostCollections else {
            throw .quotaExceeded(group: group, limit: Self.mostCollections)
        }
        var name = SecretPath.name(of: base)
        var number = 0
        while taken.contains(name) {
            number += 1
            name = SecretPath.name(of: "\(base)_\(number)")
        }
        return name
    }

    /// Deletes a collection with its items and its other names.
    func delete(_ collection: Collection) throws(VaultError) {
        for item in try items(in: collection.id) { try delete(item) }
        for alias in try marks(Self.aliasesService) where alias.attribute(.comment) == .string(collection.id) {
            guard let name = alias.attribute(.account) else { continue }
            try delete([.service: .string(Self.aliasesService), .account: name], in: alias.accessGroup)
        }
        try delete(
            [.service: .string(Self.collectionsService), .account: .string(collection.id)], in: collection.group)
    }

    /// Returns the collection with this other name; nil if there is none.
    func collection(alias: String) throws(VaultError) -> String? {
        let standard: String? =
            switch alias {
            case "default", Self.defaultCollection: Self.defaultCollection
            case Self.sessionCollection: Self.sessionCollection
            default: nil
            }
        do {
            let mark = try marks(Self.aliasesService, alias).first?.attribute(.comment)
            if case .string(let id)? = mark, try collection(id) != nil { return id }
        } catch {
            guard case .interactionNotAllowed = error, !asks, standard != nil else { throw error }
        }
        return standard
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

    /// Finds items that keep no secret, and are known from the first unlock on.
    private func marks(_ service: String, _ account: String? = nil) throws(VaultError) -> [StoredItem] {
        var query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service)], synchronizable: .any)
        if let account { query.attributes[.account] = .string(account) }
        query.authentication.interaction = .skip
        return try copy(query, includingValues: false)
    }

    private func mark(
        _ service: String, _ account: String, _ attributes: ItemAttributes, in group: String
    ) throws(VaultError) -> StoredItem {
        var item = NewItem(
            itemClass: .genericPassword, attributes: [.service: .string(service), .account: .string(account)],
            accessGroup: group, value: Data())
        item.attributes.merge(attributes) { _, new in new }
        item.customAttributes = [:]
        item.accessControl = AccessControl(protection: .afterFirstUnlock)
        return try session.perform(PutItem(item))
    }

    private static func name(_ collection: String, _ id: String) -> ItemAttributes {
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

    private func delete(_ attributes: ItemAttributes, in group: String) throws(VaultError) {
        try delete(
            ItemQuery(itemClass: .genericPassword, attributes: attributes, accessGroup: group, synchronizable: .any))
    }

    private func delete(_ query: ItemQuery) throws(VaultError) {
        do throws(VaultError) {
            _ = try session.perform(DeleteItems(query))
        } catch .itemNotFound {
            // Another call deleted it meanwhile.
        }
    }
}
