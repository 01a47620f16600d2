import Access
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// How a query is carried out: what the store decides by digests, and what is decided on the opened
/// item.
struct SearchPlan {
    let search: ItemSearch
    /// The attributes to compare once a row is open. Digests are short, so all of them are compared.
    let exact: ItemAttributes
    let customAttributes: CustomAttributes
    /// Whether some condition can be decided only on opened attributes, even for a deletion.
    let needsOpenedAttributes: Bool
    /// Whether digests decide what is found, and those of some items are closed before the first unlocking.
    private let mayOverlook: Bool
    private let keybag: OpenedKeybag

    init(_ query: ItemQuery, authorization: Authorization, keybag: OpenedKeybag) throws(VaultError) {
        let itemClass = query.itemClass
        let asked = try Conditions(query)
        let (protection, hasPair) = (asked.protection, asked.hasPair)
        // Rows that earlier software wrote have their digests under the key that needs no unlocking, of all classes.
        let needsClosed = protection?.isClosed ?? true
        let closed = needsClosed ? keybag.closedIndex : nil
        let groups = keybag.groupDigests(in: authorization.scope)
        let terms: @Sendable (IndexKey) -> SearchTerms.List = { [named = asked.named] index in
            let custom = query.customAttributes.map { index.term(ofCustom: $0.key, $0.value, in: itemClass) }
            let terms = named.map { ($0.name, index.term($0.name, $0.value, in: itemClass)) }
            let pair = hasPair ? index.lookup(itemClass, query.attributes).map { [$0] } ?? [] : []
            let others = terms.filter { itemClass.filedAttributes.contains($0.0) }.map { $0.1 } + custom
            return SearchTerms.List(
                filed: pair.isEmpty ? others : pair, required: terms.map { $0.1 } + custom + pair)
        }
        // Most items need an unlocking: a search for one then ends before it looks for others.
        let first = terms(closed ?? keybag.index)
        let makeLast = closed == nil ? nil : { @Sendable [index = keybag.index] in terms(index) }
        let seek: ItemSearch.Seek =
            if let identifier = query.identifier {
                .filed(identifier.term)
            } else if !first.filed.isEmpty {
                .terms
            } else if let groups {
                .listed(keybag.listings(of: itemClass, in: groups))
            } else {
                .everything
            }
        mayOverlook = needsClosed && closed == nil && !first.required.isEmpty
        self.keybag = keybag

        let synchronizable: Bool? =
            switch query.synchronizable {
            case .any: nil
            case .localOnly: false
            case .synchronizableOnly: true
            }
        search = ItemSearch(
            itemClass: itemClass, seek: seek, terms: SearchTerms([first], makeLast), groups: groups,
            isSynchronizable: synchronizable, protection: protection, isTombstone: asked.isTombstone,
            identifier: query.identifier)
        exact = asked.exact
        customAttributes = query.customAttributes
        needsOpenedAttributes = asked.needsOpenedAttributes
    }

    /// The conditions of a query, by how they are decided.
    private struct Conditions {
        var protection: ProtectionClass?
        var isTombstone: Bool?
        /// The attributes to compare once a row is open.
        var exact: ItemAttributes
        /// Those that rows have digests of.
        var named: [(name: AttributeName, value: AttributeValue)] = []
        /// Whether both attributes are named whose digest finds the item.
        let hasPair: Bool
        var needsOpenedAttributes: Bool

        init(_ query: ItemQuery) throws(VaultError) {
            let names = query.itemClass.lookupPair
            hasPair = names.map { query.attributes[$0.first] != nil && query.attributes[$0.second] != nil } ?? false
            isTombstone = query.includesTombstones ? nil : false
            exact = query.attributes
            needsOpenedAttributes = !query.filters.isEmpty
            for (name, value) in query.attributes {
                switch name {
                case .accessible:
                    guard case .string(let string) = value, let found = ProtectionClass(rawValue: string) else {
                        throw .itemNotFound
                    }
                    protection = found
                    exact[name] = nil
                case .tombstone:
                    isTombstone = value == .number(1)
                    exact[name] = nil
                case .creationDate, .modificationDate, .itemHash:
                    needsOpenedAttributes = true
                default:
                    if let names, hasPair, name == names.first || name == names.second { continue }
                    named.append((name, value))
                }
            }
        }
    }

    /// Makes sure, after a search that found `count` items, that none was overlooked because its digests are closed.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    func checkOverlooked(_ query: ItemQuery, found count: Int, _ reader: ItemStore.Reader) throws {
        guard mayOverlook, query.limit.map({ count < $0 }) ?? true else { return }
        // There is no second item with the same primary key, and no second key of a pair that is of the same kind.
        let key = query.itemClass == .key ? [.applicationLabel, .keyClass] : query.itemClass.schema.ownPrimaryKey
        if count > 0, !key.isEmpty, key.allSatisfy({ query.attributes[$0] != nil }) { return }
        try keybag.checkSearchable(query.itemClass, in: search.groups, reader)
    }

    /// Makes sure the same of a search among deleted items.
    func checkOverlookedDeleted(_ query: ItemQuery, _ reader: ItemStore.Reader) throws {
        guard mayOverlook, try reader.hasDeletedClosedRow(query.itemClass, in: search.groups) else { return }
        throw KeybagError.locked(.afterFirstUnlock)
    }

    /// Whether an opened item has every attribute the query named.
    func accepts(_ item: StoredItem) -> Bool {
        guard customAttributes.allSatisfy({ item.customAttributes[$0.key] == $0.value }) else { return false }
        let schema = item.itemClass.schema
        return exact.allSatisfy { name, value in
            guard let definition = schema[name], let held = item.attribute(name) else { return false }
            return held.matches(value, as: definition.kind)
        }
    }
}
