import ArgumentParser
import CommandKit
import ItemFiles
import KeychainModel
import PasswordFiles
import StatusCodes
import VaultInterface

/// Takes in the items of a file that `keychain send` made.
struct ReceiveCommand: DocumentedCommand {
    static let summary = "Take in the items of a file that `keychain send` wrote."
    static let details = """
        All items are taken in or none. They keep their identifiers, dates, access groups and requirements. If one of \
        them is there already, nothing is changed: delete that one first, or use --new with another --group.

        A file for a key is opened with the private key in this keychain, for which a person is asked if the key \
        requires it. Nothing in such a file says who sent it: everybody who has the public key can make one. So look \
        at it with --check before you take it in.

        The password that --item-password-fd gives is the one that items with a password of their own get here, and the \
        one of the private key if that has one.
        """
    static let examples = [
        Example("See what is in it", "keychain receive alice.items --check"),
        Example("Take it in", "keychain receive alice.items"),
        Example("As a new item of another group", "keychain receive alice.items --new --group com.example.mail"),
    ]
    static let configuration: CommandConfiguration = documented("receive")

    @Argument(help: ArgumentHelp("The file, or '-' for standard input.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "List what is in the file, and take nothing in.")
    var check = false

    @Flag(help: "Give the items identifiers and dates of their own.")
    var new = false

    @Option(help: ArgumentHelp("The access group to take them into, instead of their own.", valueName: "group"))
    var group: String?

    @OptionGroup var password: PasswordInput
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard group?.isEmpty != true, group != "*" else {
            throw ValidationError("--group takes the name of one access group, not '' or '*'")
        }
        if check, new || group != nil { throw ValidationError("--check takes nothing in: leave out --new and --group") }
    }

    func run() throws {
        let sealed = try ItemFile(ItemTransfer.read(file))
        // Read once, for the key and for the items.
        let own = try itemPassword.descriptor == nil ? nil : itemPassword.authentication().applicationPassword
        var items: [StoredItem]
        if sealed.keyLabel == nil {
            items = try sealed.items(openedWith: PasswordFileKeys(password.ask()))
            if check { return try show(items) }
        } else {
            guard password.descriptor == nil else { throw ItemFileError.keyNeeded }
            let session = try VaultSession.ofOwnerInPresentVault(passcode)
            let options = AuthenticationOptions(
                prompt: "open the file of items with your key.", applicationPassword: own)
            items = try session.items(in: sealed, asking: options)
            if check { return try show(items) }
        }
        let session = try VaultSession.ofOwner(passcode)
        let needsPassword = items.contains { $0.accessControl.flags?.contains(.applicationPassword) == true }
        let options =
            try own.map { AuthenticationOptions(applicationPassword: $0) }
            ?? itemPassword.authentication(isNew: needsPassword)
        let operation = ReceiveItems(items, accessGroup: group, keepsIdentity: !new, options: options)
        do throws(ItemFileError) {
            items = try session.receive(operation)
        } catch {
            guard error == .refused(.duplicateItem) else { throw error }
            throw Failure(
                status: errSecDuplicateItem,
                "\(present(among: items, session)) already, and nothing was taken in: delete it, or say --new with "
                    + "another --group")
        }
        try show(items)
    }

    /// Says which of the items are there, as far as a search finds them that asks nobody.
    private func present(among items: [StoredItem], _ session: VaultSession) -> String {
        let found = items.filter { item in
            var byName = ItemQuery(
                itemClass: item.itemClass, accessGroup: group ?? item.accessGroup,
                synchronizable: item.isSynchronizable ? .synchronizableOnly : .localOnly)
            for name in item.itemClass.schema.ownPrimaryKey { byName.attributes[name] = item.attribute(name) }
            // An item that has another name by now has the same identifier.
            var byIdentifier = ItemQuery(item: item)
            byIdentifier.accessGroup = nil
            return [byName, new ? nil : byIdentifier].compactMap(\.self).contains { isThere($0, session) }
        }
        guard !found.isEmpty else { return "one of the items is there" }
        return "\(found.listed) \(found.count == 1 ? "is" : "are") there"
    }

    private func isThere(_ query: ItemQuery, _ session: VaultSession) -> Bool {
        var query = query
        query.includesExpired = true
        query.authentication.interaction = .skip
        query.reports = [.withheld, .locked, .damage]
        var isThere = false
        let items = try? session.perform(CopyItems(query, includingValues: false)) { _ in isThere = true }
        return isThere || items?.isEmpty == false
    }

    private func show(_ items: [StoredItem]) throws {
        if json { return try StandardOutput.write(json: items.map(ItemSummary.init)) }
        let rows = items.map { item in
            [
                item.attribute(.service).map { AttributeText($0).forTerminal } ?? "",
                item.attribute(.account).map { AttributeText($0).forTerminal } ?? "",
                item.accessGroup.escapedForTerminal,
            ]
        }
        try StandardOutput.write(
            Table(rows.sorted { $0.lexicographicallyPrecedes($1) }, heads: ["service", "account", "group"]))
    }
}
