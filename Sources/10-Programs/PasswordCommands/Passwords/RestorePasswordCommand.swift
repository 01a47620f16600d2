import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import StatusCodes
import StoredKeys
import VaultInterface

/// Brings a former version of a password back.
struct RestorePasswordCommand: DocumentedCommand {
    static let summary = "Bring back a former version of a password, or a deleted one."
    static let details = """
        The item gets the secret and the attributes of the former version, as a new version: what was there before is \
        kept, too, if versions are kept. Without --version, it is the last former version. If the password was \
        deleted, it comes back, with its last secret unless --version names another. The command says which version \
        came back, and when that was stored.

        If several passwords of this name were deleted, the one that was deleted last comes back, unless --id names \
        another: `keychain history` and `keychain list --deleted` show the beginning of each one's identifier.

        A deleted password does not come back in the place of another one with the same name. The key of a database \
        that was forgotten comes back whole: `keychain list --deleted` shows it with the database's name.
        """
    static let examples = [
        Example("Undo the last change", "keychain restore db.example.com app"),
        Example("Choose the version", "keychain restore db.example.com app --version 3"),
        Example("Choose the item", "keychain restore db.example.com app --id 5f0c23a1"),
    ]
    static let configuration: CommandConfiguration = documented("restore")

    @OptionGroup var name: PasswordName
    @OptionGroup var scope: ItemScope

    @Option(help: ArgumentHelp("The version, which `keychain history` shows.", valueName: "number"))
    var version: Int64?

    @OptionGroup var identifier: ItemIdentifier
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    /// The item as it is now, and the version that it was.
    private struct Answer: Encodable {
        private enum Keys: CodingKey { case restored, identifier }

        var item: ItemSummary
        var restored: Int64?

        func encode(to encoder: any Encoder) throws {
            try item.encode(to: encoder)
            var container = encoder.container(keyedBy: Keys.self)
            try container.encodeIfPresent(restored, forKey: .restored)
        }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        var search = try PasswordSearch(name, scope, itemPassword.authentication())
        search.query.includesExpired = true
        var query = try search.versionQuery(in: session, identifier)
        // First, so that a database on the list has its key.
        let partner = try Self.restorePartner(
            of: name.service, account: name.account, search.query(in: session).accessGroup, session)
        let item: StoredItem
        let source = try source(query, session)
        // Exactly the one that is told of, also if somebody deletes another one meanwhile.
        if let source { query.identifier = source.item.identifier }
        do {
            item = try session.perform(RestoreVersion(query, version: source?.item.version ?? version))
        } catch {
            guard error != .duplicateItem || query.identifier == nil else { throw Self.occupied }
            guard error == .itemNotFound else { throw error }
            if let partner {
                if json { try StandardOutput.write(json: ItemSummary(partner)) }
                return
            }
            // That of a deleted item with the same name, which the history shows, too.
            let hidesDeleted =
                try query.identifier != nil
                && session.perform(CopyVersions(search.query(in: session))).contains {
                    $0.item.identifier != query.identifier
                }
            throw PasswordSearch.noVersion(
                version,
                adding: hidesDeleted ? "; a deleted item with its name comes back once this one is deleted" : "")
        }
        if item.isExpired(Date()) {
            CommandNote.show("the secret that is back has expired: only `keychain get --expired` reads it")
        }
        if json {
            var summary = ItemSummary(item)
            summary.identifier = item.identifier.uuidString
            return try StandardOutput.write(json: Answer(item: summary, restored: source?.item.version))
        }
        guard let source else { return }
        try StandardOutput.write(
            line:
                "version \(source.item.version), stored at \(Timestamp(source.item.modificationDate).shown), is back as "
                + "version \(item.version)")
        let others = deletedOthers(than: item, search, session)
        if others > 0 {
            CommandNote.show(
                "\(others) deleted \(others == 1 ? "item has" : "items have") this name, too: `keychain history` shows "
                    + "\(others == 1 ? "it" : "them")")
        }
    }

    private static let occupied = Failure(
        status: errSecDuplicateItem,
        "an item with this name is there: a deleted one comes back once that one is deleted")

    /// Returns the version that comes back; nil if nobody can tell without asking a person.
    private func source(_ query: ItemQuery, _ session: VaultSession) throws -> ItemVersion? {
        var query = query
        query.authentication.interaction = .skip
        query.includesExpired = true
        let versions: [ItemVersion]
        do {
            versions = try session.perform(CopyVersions(query))
        } catch {
            guard error == .itemNotFound else { throw error }
            return nil
        }
        let present = versions.first { $0.ended == nil }
        // Of the item that is there, or of the one that was deleted last.
        let last = versions.filter(\.isDeleted).max { $0.ended ?? 0 < $1.ended ?? 0 }
        guard let chosen = (present ?? last)?.item.identifier else { return nil }
        let former = versions.filter { $0.ended != nil && $0.item.identifier == chosen }
        guard let version else { return former.max { $0.item.version < $1.item.version } }
        return former.first { $0.item.version == version }
    }

    /// Returns how many further items of this name are deleted.
    private func deletedOthers(than item: StoredItem, _ search: PasswordSearch, _ session: VaultSession) -> Int {
        var search = search
        search.query.authentication.interaction = .skip
        let versions = (try? session.perform(CopyVersions(search.query(in: session)))) ?? []
        return Set(versions.filter { $0.isDeleted && $0.item.identifier != item.identifier }.map(\.item.identifier))
            .count
    }
}

extension RestorePasswordCommand {
    /// Brings back the other item of a database's key, which has two: one names the database, the other one is its key.
    ///
    /// - Parameter service: The service of the item that is being restored.
    /// - Returns: Nil if there is no other item, or if it need not come back.
    private static func restorePartner(
        of service: String, account: String, _ group: String?, _ session: VaultSession
    ) throws -> StoredItem? {
        guard KeyPurpose(service: service) == .database else { return nil }
        let partner =
            service == KeyPurpose.databaseService
            ? service + KeyPurpose.keysEnding : KeyPurpose.databaseService
        var query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string(partner), .account: .string(account)],
            accessGroup: group, synchronizable: .any)
        query.includesExpired = true
        guard try session.described(query).isEmpty,
            try session.versions(query).contains(where: \.isDeleted)
        else { return nil }
        return try session.perform(RestoreVersion(query, version: nil))
    }
}
