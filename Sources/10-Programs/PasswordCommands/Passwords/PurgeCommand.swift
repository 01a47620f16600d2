import ArgumentParser
import CommandKit
import KeychainModel
import StoredKeys
import VaultInterface

/// Removes former versions of passwords for good.
struct PurgeCommand: DocumentedCommand {
    static let summary = "Remove the former versions of a password, or of everything, for good."
    static let details = """
        The present secrets stay. Deleted passwords, of which versions were kept, are gone afterwards. Without a name, \
        the former versions of all items are removed, keys and certificates included. On a terminal you have to type \
        'purge', unless --yes is given. Elsewhere --yes is needed for the removal of all, and for that of the key of a \
        database, which `keychain db forget` left. With --json, the number of removed versions is printed.
        """
    static let examples = [
        Example("Forget what the secret was", "keychain purge db.example.com app"),
        Example("Forget everything that was", "keychain purge --yes"),
    ]
    static let configuration: CommandConfiguration = documented("purge")

    @Argument(help: "What the secret is for, such as a host or a program.", completion: .services)
    var service: String?

    @Argument(help: "Whose secret it is.", completion: .accounts)
    var account: String?

    @OptionGroup var scope: ItemScope

    @OptionGroup var identifier: ItemIdentifier

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var purged: Int
    }

    func validate() throws {
        guard (service == nil) == (account == nil) else { throw ValidationError("name a service and an account") }
        guard service != nil || scope.group == nil && scope.synchronizable == nil && identifier.prefix == nil else {
            throw ValidationError("--group, --synchronizable and --id choose between items of a name: name one")
        }
    }

    func run() throws {
        try OtherTool.refuseUnknownCopy(scope.group, "nothing was purged")
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        if !yes { try confirm(session) }
        var search: PasswordSearch?
        if let service, let account {
            search = PasswordSearch(
                service: service, account: account, group: scope.group, synchronizable: scope.synchronizableScope,
                authentication: AuthenticationOptions(interaction: .skip))
        }
        var query = try search?.query(in: session)
        if identifier.prefix != nil { query = try search?.versionQuery(in: session, identifier) }
        let count = try session.perform(PurgeVersions(query))
        if count == 0, let search, try search.oneIfAny(in: session) == nil {
            let error = try search.notFound(in: session, remedy: "--group")
            throw error
        }
        if json { try StandardOutput.write(json: Answer(purged: count)) }
    }

    private func confirm(_ session: VaultSession) throws {
        let keys = try forgottenKeys(session)
        let whose = service == nil ? "all items" : "this password"
        var loss = "The former versions of \(whose), and what was deleted, are then gone for good."
        if !keys.isEmpty {
            loss +=
                " Nobody can then read \(keys.joined(separator: ", ")): \(keys.count == 1 ? "its key was" : "their keys were") "
                + "forgotten and could come back until now."
        }
        let needsYes = service == nil || !keys.isEmpty
        let remedy =
            keys.isEmpty
            ? "say --yes to remove the former versions of all items"
            : "say --yes to remove the keys of \(keys.joined(separator: ", ")), too, for good"
        try Confirmation(loss: loss, word: "purge", verb: "removed").ask(
            unattended: needsYes ? .refused(remedy) : .goesOn)
    }

    /// The names of the databases whose keys were forgotten and are purged, too.
    private func forgottenKeys(_ session: VaultSession) throws -> [String] {
        let services = [
            KeyPurpose.databaseService, KeyPurpose.databaseService + KeyPurpose.keysEnding,
            KeyPurpose.cipherFileService,
        ]
        let deleted = try services.filter { service == nil || service == $0 }.flatMap { named in
            var attributes: ItemAttributes = [.service: .string(named)]
            attributes[.account] = account.map { .string($0) }
            return try session.versions(
                ItemQuery(
                    itemClass: .genericPassword, attributes: attributes, accessGroup: scope.group, synchronizable: .any)
            ).filter(\.isDeleted)
        }
        return Set(
            deleted.compactMap { version in
                (version.item.attribute(.label) ?? version.item.attribute(.account)).map {
                    AttributeText($0).forTerminal
                }
            }
        ).sorted()
    }
}
