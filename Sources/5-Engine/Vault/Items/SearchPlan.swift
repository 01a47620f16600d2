import Access
import FoundationEssentials
import Items
import KeychainModel
import Sealing
import VaultInterface

/// How a query is carried out: what the store decides by digests, and what is decided on the opened
/// item.
struct SearchPlan {
    let search: ItemSearch
    /// The attributes to compare once a row is open. Digests are short, so all of them are compared.
    let exact: [AttributeName: AttributeValue]
    let customAttributes: CustomAttributes
    /// Whether some condition can be decided only on opened attributes, even for a deletion.
    let needsOpenedAttributes: Bool

    init(_ query: ItemQuery, authorization: Authorization, keybag: OpenedKeybag) throws(VaultError) {
        let index = keybag.index
        let itemClass = query.itemClass
        var terms: [(name: AttributeName, term: Int64)] = []
        var opened = !query.filters.isEmpty
        var protection: ProtectionClass?
        var tombstone: Bool? = query.includesTombstones ? nil : false
        var exact = query.attributes
        let pair = index.lookup(itemClass, query.attributes)

        for (name, value) in query.attributes {
            switch name {
            case .accessible:
                guard case .string(let string) = value, let found = ProtectionClass(rawValue: string) else {
                    throw .itemNotFound
                }
                protection = found
                exact[name] = nil
            case .tombstone:
                tombstone = value == .number(1)
                exact[name] = nil
            case .creationDate, .modificationDate, .itemHash:
                opened = true
            default:
                if pair != nil, let names = itemClass.lookupPair, name == names.first || name == names.second {
                    continue
                }
                terms.append((name, index.term(name, value, in: itemClass)))
            }
        }

        let custom = query.customAttributes.map { index.term(ofCustom: $0.key, $0.value, in: itemClass) }
        let groups = keybag.groupDigests(in: authorization.scope)
        let filed = terms.filter { itemClass.filedAttributes.contains($0.name) }.map(\.term) + custom
        let seek: ItemSearch.Seek =
            if let identifier = query.identifier {
                .filed(identifier.term)
            } else if let pair {
                .terms([pair])
            } else if !filed.isEmpty {
                .terms(filed)
            } else if let groups {
                .listed(keybag.listings(of: itemClass, in: groups))
            } else {
                .everything
            }
        var required = terms.map(\.term) + custom
        if query.identifier != nil, let pair { required.append(pair) }

        let synchronizable: Bool? =
            switch query.synchronizable {
            case .any: nil
            case .localOnly: false
            case .synchronizableOnly: true
            }
        search = ItemSearch(
            itemClass: itemClass, seek: seek, requiredTerms: required, groups: groups,
            isSynchronizable: synchronizable, protection: protection, isTombstone: tombstone,
            identifier: query.identifier)
        self.exact = exact
        customAttributes = query.customAttributes
        needsOpenedAttributes = opened
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
