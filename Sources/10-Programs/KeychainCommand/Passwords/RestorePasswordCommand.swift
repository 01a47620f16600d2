import ArgumentParser
import FoundationEssentials
import KeychainModel
import VaultInterface

/// Brings a former version of a password back.
struct RestorePasswordCommand: DocumentedCommand {
    static let summary = "Bring back a former version of a password, or a deleted one."
    static let details = """
        The item gets the secret and the attributes of the former version, as a new version: what was there before is \
        kept, too, if versions are kept. Without --version, it is the last former version. If the password was \
        deleted, it comes back, with its last secret unless --version names another.

        A deleted password does not come back in the place of another one with the same name. The key of a database \
        that was forgotten comes back whole: `keychain list --deleted` shows it with the database's name.
        """
    static let examples = [
        Example("Undo the last change", "keychain restore db.example.com app"),
        Example("Choose the version", "keychain restore db.example.com app --version 3"),
    ]
    static let configuration: CommandConfiguration = documented("restore")

    @OptionGroup var name: PasswordName
    @OptionGroup var scope: ItemScope

    @Option(help: ArgumentHelp("The version, which `keychain history` shows.", valueName: "number"))
    var version: Int64?

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        var search = try PasswordSearch(name, scope, itemPassword.authentication())
        search.query.includesExpired = true
        let query = try search.versionQuery(in: session)
        // First, so that a database on the list has its key.
        let partner = try Self.restorePartner(
            of: name.service, account: name.account, search.query(in: session).accessGroup, session)
        let item: StoredItem
        do {
            item = try session.perform(RestoreVersion(query, version: version))
        } catch {
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
        if json { try StandardOutput.write(json: ItemSummary(item)) }
    }
}
