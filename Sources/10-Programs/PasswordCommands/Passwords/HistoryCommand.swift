import ArgumentParser
import CommandKit
import FoundationEssentials
import KeychainModel
import VaultInterface

/// Shows the versions of a password, and how many the vault keeps.
struct HistoryCommand: DocumentedCommand {
    static let summary = "Show the versions of a password, or how many versions the vault keeps."
    static let details = """
        One line for each version, the newest first: its number; present, former or deleted; when it was stored, in \
        UTC; the access group; and the label. Secrets are not shown: `keychain get --version` prints one. A deleted \
        password is found by the same name. If a name was deleted and stored again, the lines are about several items, \
        which count by themselves: then the beginning of the item's identifier comes last, and `keychain get`, \
        `restore` and `purge` take it with --id.

        The vault keeps a former version when a secret is replaced or deleted, if the item says so (`keychain set \
        --keep`) or else the vault: --default sets how many it keeps of each item that does not say it. At first that \
        is 0. A lower number takes effect for an item with its next change. Without a name, the number is shown.

        Former versions are as well protected as the present one. Delete them with `keychain purge`.
        """
    static let examples = [
        Example("Show the versions", "keychain history db.example.com app"),
        Example("Keep the last 10 secrets of every item", "keychain history --default 10"),
        Example("See what the vault keeps", "keychain history"),
    ]
    static let configuration: CommandConfiguration = documented("history")

    @Argument(help: "What the secret is for, such as a host or a program.", completion: .services)
    var service: String?

    @Argument(help: "Whose secret it is.", completion: .accounts)
    var account: String?

    @OptionGroup var scope: ItemScope

    @Option(
        name: .customLong("default"),
        help: ArgumentHelp(
            "Keep so many former versions, 0 to 1000, of each item that does not say it itself. For the vault's owner.",
            valueName: "number"))
    var defaultKept: Int?

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Kept: Encodable {
        var keep: Int
    }

    private struct Version: Encodable {
        var version: Int64
        var state: String
        var modified: String
        var group: String
        var label: AttributeText?
        var identifier: String
        var change: Int64
        var ended: Int64?
        private var beginning: String
        private var stored: Date

        private enum CodingKeys: CodingKey { case version, state, modified, group, label, identifier, change, ended }

        init(_ version: ItemVersion) {
            self.version = version.item.version
            state =
                version.ended == nil
                ? "present" : version.isDeleted ? "deleted" : version.isOverruled ? "overruled" : "former"
            modified = Timestamp(version.item.modificationDate).iso8601
            group = version.item.accessGroup
            label = version.item.attribute(.label).map(AttributeText.init)
            identifier = version.item.identifier.uuidString
            beginning = version.item.identifier.beginning
            stored = version.item.modificationDate
            change = version.change
            ended = version.ended
        }

        func row(withIdentifier: Bool) -> [String] {
            ["\(version)", state, Timestamp(stored).shown, group.escapedForTerminal, label?.forTerminal ?? ""]
                + (withIdentifier ? [beginning] : [])
        }
    }

    func validate() throws {
        guard (service == nil) == (account == nil) else { throw ValidationError("name a service and an account") }
        guard KeptVersions(defaultKept).isValid else {
            throw ValidationError("--default takes a number from 0 to \(KeptVersions.largest)")
        }
        guard service == nil || defaultKept == nil else {
            throw ValidationError("--default is about all items: use `keychain set --keep` for one")
        }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        guard let service, let account else { return try runDefault(session) }
        let search = PasswordSearch(
            service: service, account: account, group: scope.group, synchronizable: scope.synchronizableScope,
            authentication: try itemPassword.authentication())
        let versions: [Version]
        do {
            // The newest first, also where they are about several items.
            versions = try session.perform(CopyVersions(search.query(in: session))).sorted { $0.change > $1.change }
                .map(Version.init)
        } catch {
            guard error as? VaultError == .itemNotFound else { throw error }
            let error = try search.notFound(in: session, remedy: "--group")
            throw error
        }
        if json { return try StandardOutput.write(json: versions) }
        let isAboutSeveral = Set(versions.map(\.identifier)).count > 1
        let rows = versions.map { $0.row(withIdentifier: isAboutSeveral) }
        try StandardOutput.write(
            Table(rows, heads: ["version", "state", "stored", "group", "label"] + (isAboutSeveral ? ["item"] : [])))
    }

    private func runDefault(_ session: VaultSession) throws {
        let former = try session.perform(KeepVersions(nil))
        let count = try session.perform(KeepVersions(defaultKept))
        if count < former {
            let lost = count == 0 ? "its former secrets" : "all former secrets but the last \(count)"
            CommandNote.show(
                "an item that does not say itself how many to keep loses \(lost) with its next change")
        }
        if json { return try StandardOutput.write(json: Kept(keep: count)) }
        guard defaultKept == nil else { return }
        try StandardOutput.write(line: "keep\t\(count)")
    }
}
