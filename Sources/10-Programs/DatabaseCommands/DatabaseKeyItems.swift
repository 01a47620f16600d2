import CommandKit
import DatabaseFiles
import FoundationEssentials
import KeychainModel
import ProcessVault
import StatusCodes
import StoredKeys
import VaultInterface

/// The items of the key of one database, or of one SQLCipher file, also where its file is gone.
struct DatabaseKeyItems {
    let purpose: KeyPurpose
    /// The identifier of the database, or the salt of the SQLCipher file: the account of the items.
    let account: String

    /// - Parameter name: A database, a SQLCipher file, or the identifier of one.
    init(_ name: String) throws {
        if FileSize.exists(name) {
            let info = try ProtectedDatabaseFile.existing(name).info()
            guard let identifier = info.identifier else { throw Failure.unknownDatabase(name) }
            (purpose, account) = (info.pageSize != nil ? .database : .cipherFile, identifier)
            return
        }
        if name.hasPrefix(SQLCipherKeys.pathPrefix) {
            (purpose, account) = (.cipherFile, name)
            return
        }
        let isIdentifier = name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        guard isIdentifier, name.utf8.count == 20 || name.utf8.count == 32 else {
            throw Failure(
                status: errSecItemNotFound,
                "there is no file \(name.escapedForTerminal), and it is no identifier of a database: `keychain list` "
                    + "shows those of '\(KeyPurpose.databaseService)' with the names of their files")
        }
        (purpose, account) = (name.utf8.count == 20 ? .database : .cipherFile, name)
    }

    var service: String { purpose == .database ? KeyPurpose.databaseService : KeyPurpose.cipherFileService }

    /// The services of the items: the list, and the keys. Of a SQLCipher file there is one item.
    private var services: [String] {
        purpose == .database ? [service, service + KeyPurpose.keysEnding] : [service]
    }

    private func query(_ service: String, _ group: String?) -> ItemQuery {
        ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(service), .account: .string(account)],
            accessGroup: group, synchronizable: .any)
    }

    /// The items that are there: that of the list first, in the one group that is meant.
    func present(in group: String?, _ session: VaultSession) throws -> [StoredItem] {
        try ofOneGroup(services.flatMap { try session.described(query($0, group)) })
    }

    private func ofOneGroup(_ found: [StoredItem]) throws -> [StoredItem] {
        let groups = Set(found.map(\.accessGroup)).sorted()
        guard groups.count < 2 else {
            throw Failure(
                status: errSecParam,
                "several groups have this key: choose one with --group ("
                    + groups.map { "'\($0.escapedForTerminal)'" }.joined(separator: ", ") + ")")
        }
        return found
    }

    /// The items that were deleted, and can come back.
    func deleted(in group: String?, _ session: VaultSession) throws -> [StoredItem] {
        try ofOneGroup(
            services.flatMap { try session.versions(query($0, group)) }.filter(\.isDeleted).map(\.item))
    }

    /// The enclave's key for which the key is encrypted.
    func enclaveKey(of items: [StoredItem]) -> Data? {
        items.lazy.compactMap { item -> Data? in
            guard case .data(let note)? = item.attribute(.generic) else { return nil }
            return purpose == .database ? KeyNote(note)?.enclaveKey : SQLCipherKeys.enclaveKey(inNote: note)
        }.first
    }

    /// Says how the key of a file comes back that was forgotten; empty for a file whose key was not.
    static func wayBack(of path: String) -> String {
        guard let key = try? DatabaseKeyItems(path), let session = try? VaultSession.current(),
            let deleted = try? key.deleted(in: nil, session), !deleted.isEmpty
        else { return "" }
        return "; it was forgotten: `keychain restore \(key.service) \(key.account)` brings it back"
    }

    /// Gives the items the name of the database's file, by which people know them.
    func name(_ path: String, _ session: VaultSession) throws {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        // Nobody is asked for the name of a key that needs a person.
        for item in try present(in: nil, session) where !item.accessControl.isConstrained {
            try session.perform(
                UpdateItems(ItemQuery(item: item), with: ItemChanges(attributes: [.label: .string(name)])))
        }
    }

    /// Deletes the items, so that the vault keeps what they were.
    func forget(_ items: [StoredItem], _ session: VaultSession) throws {
        // An item of an earlier version does not say that it is to be kept.
        for item in items where item.kept.count ?? 0 == 0 {
            var changes = ItemChanges()
            changes.kept = .atMost(1)
            try session.perform(UpdateItems(ItemQuery(item: item), with: changes))
        }
        // Off the list first: an entry on the list must have its key.
        for item in items { _ = try session.perform(DeleteItems(ItemQuery(item: item))) }
    }

    /// Removes the items for good, with what they were, and with the key of the enclave.
    ///
    /// - Parameters:
    ///   - items: Those that are there; none if they were deleted already.
    ///   - known: Those, or else the deleted ones, all of one group.
    func destroy(_ items: [StoredItem], known: [StoredItem], _ session: VaultSession) throws {
        for item in items { _ = try session.perform(DeleteItems(ItemQuery(item: item))) }
        for service in services {
            _ = try session.perform(PurgeVersions(query(service, known.first?.accessGroup)))
        }
        guard let label = enclaveKey(of: known) else { return }
        let key = ItemQuery(
            itemClass: .key,
            attributes: [.applicationTag: .data(Data(service.utf8)), .applicationLabel: .data(label)],
            accessGroup: known.first?.accessGroup)
        if try !session.described(key).isEmpty { _ = try session.perform(DeleteItems(key)) }
        _ = try session.perform(PurgeVersions(key))
    }
}
