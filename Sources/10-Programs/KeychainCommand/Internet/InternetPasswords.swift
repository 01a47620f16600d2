import FoundationEssentials
import KeychainModel
import VaultInterface

/// The internet passwords of the vault, as the commands and helpers use them.
struct InternetPasswords {
    private let session: VaultSession
    /// Of the items that are looked for; nil for every group.
    private let group: String?

    init(_ session: VaultSession, group: String? = nil) throws {
        self.session = session
        self.group = try group ?? session.ownGroup
    }

    /// The passwords of a vault that is there already; nil without one, which then has none.
    static func present() throws -> InternetPasswords? {
        guard try ProcessVault.exists() else { return nil }
        return try InternetPasswords(.ofOwner())
    }

    /// Finds items with an address, without their secrets. The one that changed last comes first.
    ///
    /// - Parameter custom: Custom attributes that they have.
    func find(_ address: InternetAddress?, custom: CustomAttributes = [:]) throws -> [StoredItem] {
        var query = ItemQuery(
            itemClass: .internetPassword, attributes: address?.attributes ?? [:], accessGroup: group,
            synchronizable: .any)
        query.customAttributes = custom
        query.includesExpired = true
        do {
            return try session.perform(CopyItems(query, includingValues: false))
                .sorted { $0.modificationDate > $1.modificationDate }
        } catch {
            guard error == .itemNotFound else { throw error }
            return []
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
    func store(
        _ secret: Data, at address: InternetAddress, label: String? = nil, domain: String? = nil,
        custom: CustomAttributes = [:], expiry: Expiry? = nil
    ) throws -> StoredItem {
        var attributes = address.attributes
        attributes[.label] = .string(label ?? address.url)
        if let domain { attributes[.securityDomain] = .string(domain) }
        var item = NewItem(
            itemClass: .internetPassword, attributes: attributes, accessGroup: group ?? OtherTool.groupForNewItem,
            value: secret)
        item.customAttributes = custom
        item.expiry = expiry
        return try session.perform(PutItem(item))
    }

    func delete(_ item: StoredItem) throws {
        do {
            _ = try session.perform(DeleteItems(ItemQuery(item: item)))
        } catch {
            guard error == .itemNotFound else { throw error }
        }
    }
}

extension StoredItem {
    /// The security domain; nil for none.
    var securityDomain: String? {
        guard case .string(let text)? = attribute(.securityDomain), !text.isEmpty else { return nil }
        return text
    }
}
