import Access
import CommandKit
import FoundationEssentials
import KeychainModel
import ProcessVault
import VaultInterface

/// The internet passwords of the vault, as the commands and helpers use them.
///
/// Which password an address names is decided by ``InternetAddress/names(_:)``, for all of them.
package struct InternetPasswords {
    /// The security domains that tell apart what different helpers keep for one address.
    enum Domain {
        /// Whatever domain they have.
        case any
        /// This one; nil for none.
        case only(String?)
    }

    private let session: VaultSession
    /// Of the items that are looked for; nil for every group.
    private let group: String?

    /// The group that the command line names.
    private let named: String?

    package init(_ session: VaultSession, group: String? = nil) throws {
        self.session = session
        named = group
        self.group = try group ?? session.ownGroup
    }

    /// The passwords of a vault that is there already; nil without one, which then has none.
    static func present() throws -> InternetPasswords? {
        guard try ProcessVault.exists() else { return nil }
        return try InternetPasswords(.ofOwner())
    }

    /// Finds the items that an address names, without their secrets. The one that changed last comes first.
    func find(
        _ address: InternetAddress, in domain: Domain, interaction: AuthenticationOptions.Interaction = .allow
    ) throws -> [StoredItem] {
        var found: [UUID: StoredItem] = [:]
        for attributes in address.searches {
            for item in try copy(attributes, interaction: interaction) { found[item.identifier] = item }
        }
        let named = select(Array(found.values), address, domain)
        guard named.isEmpty else { return named }
        // Another program may have written the address in another form. Nobody is asked about those items.
        var others: [StoredItem] = []
        do {
            others = select(try copy([:], interaction: .skip), address, domain)
        } catch VaultError.accessDenied {
            // A program that may not list the items has only those that it names.
        }
        if others.isEmpty { try refuseUnknownCopy() }
        return others
    }

    /// What another copy of the tool does not find must not look lost.
    private func refuseUnknownCopy() throws { try OtherTool.refuseUnknownCopy(named, "nothing was found") }

    private func select(_ items: [StoredItem], _ address: InternetAddress, _ domain: Domain) -> [StoredItem] {
        items.filter { address.names(InternetAddress($0)) && domain.has($0.securityDomain) }
            .sorted { $0.modificationDate > $1.modificationDate }
    }

    /// Finds all items, or those with custom attributes, and asks nobody. The one that changed last comes first.
    ///
    /// - Parameter withheld: Called for each item that needs a person, if the vault does not tell this program of it.
    func all(custom: CustomAttributes = [:], withheld: () -> Void = {}) throws -> [StoredItem] {
        let found = try copy([:], custom: custom, interaction: .skip, withheld: withheld)
        if found.isEmpty { try refuseUnknownCopy() }
        return found.sorted { $0.modificationDate > $1.modificationDate }
    }

    private func copy(
        _ attributes: ItemAttributes, custom: CustomAttributes = [:],
        interaction: AuthenticationOptions.Interaction, withheld: () -> Void = {}
    ) throws -> [StoredItem] {
        var query = ItemQuery(
            itemClass: .internetPassword, attributes: attributes, accessGroup: group, synchronizable: .any,
            authentication: AuthenticationOptions(interaction: interaction))
        query.customAttributes = custom
        query.includesExpired = true
        if interaction == .skip { query.reports = .guarded }
        var guarded: [StoredItem] = []
        do {
            let found = try session.perform(CopyItems(query, includingValues: false)) { part in
                switch part {
                case .guarded(let item): guarded.append(item)
                case .withheld: withheld()
                default: break
                }
            }
            return found + guarded
        } catch .itemNotFound {
            return guarded
        }
    }

    /// Reads the secret of an item; nil if the item went meanwhile. May ask a person.
    func secret(_ item: StoredItem) throws -> Data? {
        var query = ItemQuery(item: item)
        query.includesExpired = true
        query.authentication.prompt = "use the password of '\(InternetAddress(item).url)'"
        do {
            return try session.perform(CopyItems(query, includingValues: true)).first?.value
        } catch {
            guard error == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Stores a secret under an address, or replaces the one that is there.
    @discardableResult
    package func store(
        _ secret: Data, at address: InternetAddress, label: String? = nil, domain: String? = nil,
        custom: CustomAttributes = [:], expiry: Expiry? = nil
    ) throws -> StoredItem {
        try OtherTool.refuseUnknownCopy(named)
        let group = try group ?? OtherTool.groupForNewItem
        var attributes = address.attributes
        if let former = try former(of: address, domain, group) {
            // One that is there may have its address in another form, and stays one item.
            for name in ItemClass.internetPassword.schema.ownPrimaryKey { attributes[name] = former.attribute(name) }
        }
        attributes[.label] = .string(label ?? address.url)
        if let domain { attributes[.securityDomain] = .string(domain) }
        var item = NewItem(
            itemClass: .internetPassword, attributes: attributes, accessGroup: group, value: secret)
        item.customAttributes = custom
        item.expiry = expiry
        return try session.perform(PutItem(item))
    }

    private func former(of address: InternetAddress, _ domain: String?, _ group: String?) throws -> StoredItem? {
        var whole = address
        whole.account = address.account ?? ""
        let group = group ?? session.client.accessGroups.first
        return try find(whole, in: .only(domain), interaction: .skip).first { item in
            !item.isSynchronizable && InternetAddress(item).service == address.service
                && group.map { item.accessGroup.isSameGroup(as: $0) } ?? true
        }
    }

    func delete(_ item: StoredItem) throws {
        do {
            _ = try session.perform(DeleteItems(ItemQuery(item: item)))
        } catch {
            guard error == .itemNotFound else { throw error }
        }
    }
}

extension InternetPasswords.Domain {
    func has(_ domain: String?) -> Bool {
        switch self {
        case .any: true
        case .only(let only): domain == only
        }
    }
}

extension StoredItem {
    /// The security domain; nil for none.
    package var securityDomain: String? {
        guard case .string(let text)? = attribute(.securityDomain), !text.isEmpty else { return nil }
        return text
    }
}
