import CommandKit
import ExchangeFormats
import FoundationEssentials
import KeychainModel
import PasswordCommands
import StoredKeys
import VaultInterface
import VaultKeys

/// Reads passwords as entries, which another password manager takes in.
struct EntryExport {
    let session: VaultSession
    /// Nil for every group.
    let group: String?
    /// The service, or the address of internet passwords; nil for all.
    let name: String?

    /// What stays, and why.
    private(set) var left: [ExchangeContents.Problem] = []

    init(_ session: VaultSession, group: String?, name: String?) {
        (self.session, self.group, self.name) = (session, group, name)
    }

    mutating func entries() throws -> [ExchangeEntry] {
        var items = try read(.genericPassword) + read(.internetPassword) + read(.key)
        // What belongs to an entry is found by its number.
        let parts = Dictionary(grouping: items.filter { $0.customAttributes[EntryItems.link] != nil }) {
            $0.accessGroup + "\n" + ($0.customAttributes[EntryItems.link] ?? "")
        }
        let companions = Set(
            parts.values.flatMap { part in
                // A code whose login is gone is an entry of its own.
                part.contains { !Self.isCompanion($0) } ? part.filter(Self.isCompanion).map(\.identifier) : []
            })
        items.removeAll { companions.contains($0.identifier) }
        let versions = try formerVersions()
        return try items.filter(isMeant).sorted(by: Self.isBefore).map { item in
            let others = item.customAttributes[EntryItems.link].flatMap { parts[item.accessGroup + "\n" + $0] } ?? []
            return EntryItems.entry(
                item, others.filter { companions.contains($0.identifier) },
                history: try history(of: item, versions[item.identifier] ?? []))
        }
    }

    private static func isCompanion(_ item: StoredItem) -> Bool {
        guard item.itemClass != .key else { return true }
        guard let service = EntryItems.text(item, .service), item.itemClass == .genericPassword else { return false }
        return service == EntryService.details || service.hasPrefix(EntryService.codePrefix)
    }

    private static func isBefore(_ first: StoredItem, _ second: StoredItem) -> Bool {
        let names = [first, second].map { [$0.names.name?.plain ?? "", $0.names.account?.plain ?? "", $0.accessGroup] }
        return names[0].lexicographicallyPrecedes(names[1])
    }

    private func isMeant(_ item: StoredItem) -> Bool {
        guard let name else { return true }
        let service = EntryItems.text(item, .service)
        return service == name || service == EntryService.codePrefix + name || EntryItems.text(item, .server) == name
            || EntryItems.text(item, .label) == name
    }

    private mutating func read(_ itemClass: ItemClass) throws -> [StoredItem] {
        var query = ItemQuery(
            itemClass: itemClass, accessGroup: group, synchronizable: .any,
            authentication: AuthenticationOptions(interaction: .skip))
        query.includesExpired = true
        query.reports = [.guarded, .damage]
        var (guarded, damaged): ([StoredItem], Int) = ([], 0)
        var found: [StoredItem] = []
        do {
            found = try session.perform(CopyItems(query, includingValues: true)) { part in
                switch part {
                case .guarded(let item): guarded.append(item)
                case .damage: damaged += 1
                default: break
                }
            }
        } catch {
            guard error == .itemNotFound else { throw error }
        }
        for item in guarded where isMeant(item) { left.append(.init(Self.name(item), "it needs a person")) }
        if damaged > 0 { left.append(.init("\(damaged) items", "they are damaged: see `keychain status --verify`")) }
        return found.filter { item in
            // The public half belongs to the private one, or to somebody else.
            guard item.itemClass != .key || item.attributes[.keyClass] == .number(1) else { return false }
            guard let reason = Self.reasonToStay(item) else { return true }
            if isMeant(item) { left.append(.init(Self.name(item), reason)) }
            return false
        }
    }

    private static func name(_ item: StoredItem) -> String {
        [item.names.name?.plain, item.names.account?.plain].compactMap(\.self).joined(separator: " ")
    }

    private static func reasonToStay(_ item: StoredItem) -> String? {
        if item.accessControl.protection.isThisDeviceOnly { return "it is for this device only" }
        if let service = EntryItems.text(item, .service), KeyPurpose(service: service) != nil {
            return "it is a key of the keychain's own"
        }
        if item.itemClass == .key {
            return item.isEnclaveKey || VaultKey.stored(in: item) == nil ? "the key cannot leave its enclave" : nil
        }
        if let value = item.value, String(validating: value, as: UTF8.self) == nil { return "its secret is not text" }
        return nil
    }

    // MARK: History

    private func formerVersions() throws -> [UUID: [ItemVersion]] {
        var versions: [ItemVersion] = []
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            var query = ItemQuery(
                itemClass: itemClass, accessGroup: group, synchronizable: .any,
                authentication: AuthenticationOptions(interaction: .skip))
            query.includesExpired = true
            versions += try session.versions(query)
        }
        return Dictionary(grouping: versions.filter { $0.ended != nil && !$0.isDeleted }) { $0.item.identifier }
    }

    /// Returns the former secrets of an item, the oldest first. Of each, the date is when the next one came.
    private func history(of item: StoredItem, _ versions: [ItemVersion]) throws -> [ExchangeEntry.Former] {
        let versions = versions.sorted { $0.item.version < $1.item.version }
        let dates = versions.dropFirst().map(\.item.modificationDate) + [item.modificationDate]
        return try zip(versions, dates).compactMap { version, ended in
            var query = ItemQuery(item: item)
            query.authentication.interaction = .skip
            query.includesExpired = true
            let former = try session.perform(CopyVersion(query, version: version.item.version))
            return former.value.flatMap { String(validating: $0, as: UTF8.self) }.map {
                .init(password: $0, ended: ended)
            }
        }
    }
}
