import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import VaultInterface

/// A browser that may ask for logins, and the sites whose logins it may have.
struct Association: Codable {
    /// The key by which the extension shows that it is the one that was associated, in Base64. The protocol sends it as
    /// it is, so it is a secret.
    var key: String
    /// The program that asked for it.
    var browser: String
    /// What a person allowed, such as `https://example.org`.
    var sites: [String]

    /// The most sites that are remembered. A person is asked anew for those before.
    private static let mostSites = 10_000

    mutating func allow(_ site: String) {
        guard !sites.contains(site) else { return }
        sites.append(site)
        sites.removeFirst(max(0, sites.count - Self.mostSites))
    }
}

/// The associations of a vault. Each is a password of the service `browser-association/NAME`.
struct Associations {
    private static let prefix = "browser-association/"

    private let session: VaultSession
    private let group: String?

    init(_ session: VaultSession) throws {
        self.session = session
        group = try session.ownGroup
    }

    /// An association with its name and its item.
    struct Named {
        var name: String
        var association: Association
        var item: StoredItem
    }

    /// Returns all of them in the order of their names.
    func all() throws -> [Named] {
        let query = ItemQuery(itemClass: .genericPassword, accessGroup: group, synchronizable: .any)
        return try session.described(query) { _ in }
            .filter { $0.text(.service)?.hasPrefix(Self.prefix) == true }
            .compactMap(read).sorted { $0.name < $1.name }
    }

    func named(_ name: String) throws -> Named? {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(Self.prefix + name)], accessGroup: group,
            synchronizable: .any)
        return try session.described(query) { _ in }.first.flatMap(read)
    }

    /// Returns the association with this name and key, which are what an extension knows of it.
    func known(_ name: String, key: String) throws -> Named? {
        guard let found = try named(name),
            isEqualInConstantTime(Data(found.association.key.utf8), Data(key.utf8))
        else { return nil }
        return found
    }

    private func read(_ item: StoredItem) -> Named? {
        var query = ItemQuery(item: item)
        query.authentication.interaction = .skip
        guard let service = item.text(.service),
            let items = try? session.perform(CopyItems(query, includingValues: true)),
            let value = items.first?.value, let association = try? JSONDecoder().decode(Association.self, from: value)
        else { return nil }
        return Named(name: String(service.dropFirst(Self.prefix.count)), association: association, item: item)
    }

    /// Returns a name for a new association: the browser's, with a number if it is taken.
    func freeName(for browser: String) throws -> String {
        let taken = Set(
            try session.described(ItemQuery(itemClass: .genericPassword, accessGroup: group, synchronizable: .any)) {
                _ in
            }
            .compactMap { $0.text(.service) })
        guard taken.contains(Self.prefix + browser) else { return browser }
        var number = 2
        while taken.contains("\(Self.prefix)\(browser)-\(number)") { number += 1 }
        return "\(browser)-\(number)"
    }

    func store(_ association: Association, as name: String) throws {
        var item = NewItem(
            itemClass: .genericPassword,
            attributes: [
                .service: .string(Self.prefix + name), .account: .string(""),
                .label: .string("Browser \(name)"),
            ], accessGroup: try group ?? OtherTool.groupForNewItem,
            value: .wipedWhenFreed(Data(try JSON.string(association).utf8)))
        // A site that was forgotten must not come back from the history.
        item.kept = .atMost(0)
        _ = try session.perform(PutItem(item))
    }

    func delete(_ named: Named) throws {
        _ = try session.perform(DeleteItems(ItemQuery(item: named.item)))
    }
}
