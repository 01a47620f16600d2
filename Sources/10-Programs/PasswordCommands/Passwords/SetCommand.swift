import Access
import ArgumentParser
import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import PasswordGeneration
import StoredKeys
import VaultInterface

/// Stores a secret, or replaces one.
struct SetCommand: DocumentedCommand {
    static let summary = "Store a secret, or replace the one that is there."
    static let details = """
        You type the secret twice, without echo. If standard input is not a terminal, the secret is read from there, \
        and one newline at its end is removed. A secret is never an argument, because other users can see arguments.

        If exactly one item has this service and account, its secret is replaced, and everything that you do not \
        mention stays. Otherwise a new item is made, in the group 'keychain' unless --group names another. Where a \
        daemon serves the vault, only that group is looked at, because other programs store in other groups. Without \
        a daemon, an item of any group is replaced. The new secret keeps the expiry of the old \
        one, unless that has passed; then it does not expire.
        """
    static let examples = [
        Example("Type the secret", "keychain set mail.example.com alice"),
        Example("Make it up", "keychain set db.example.com backup --generate --length 32"),
        Example("Take it from another program", "pwgen -s 32 1 | keychain set db.example.com backup"),
        Example("Take it from a file, byte for byte", "keychain set signing key --raw < key.bin"),
        Example(
            "Keep it readable after the vault was unlocked once",
            "keychain set api ci --accessible after-first-unlock"),
        Example("Give it an attribute to find it by", "keychain set db.example.com app --attribute stage=production"),
        Example("Let it expire in 90 days", "keychain set registry.example.com ci --expires 90d"),
        Example("Keep the last 5 secrets, too", "keychain set db.example.com app --keep 5"),
        Example("Ask a person each time it is read", "keychain set bank alice --require presence"),
    ]
    static let configuration: CommandConfiguration = documented("set")

    @OptionGroup var name: PasswordName
    @OptionGroup var place: ItemPlace
    @OptionGroup(title: "Where the secret comes from") var input: SecretInput

    @Flag(help: "Make the secret up, as `keychain generate` does. Nobody sees it.")
    var generate = false

    @OptionGroup(title: "With --generate") var recipe: RecipeOptions

    @Option(help: ArgumentHelp("A name for people.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("A remark.", valueName: "text"))
    var comment: String?

    @Option(
        help: ArgumentHelp(
            "An attribute of your own, by which `keychain list` finds the item. Replaces all such attributes that the "
                + "item had; repeat the option to give several.",
            valueName: "name=value"))
    var attribute: [CustomAttribute] = []

    @Option(
        help: ArgumentHelp(
            "When the secret expires: after 90s, 10m, 12h or 7d, at 2027-01-31 (00:00 UTC) or 2027-01-31T12:00:00Z, or "
                + "never. Afterwards only `keychain get --expired` reads it.",
            valueName: "when"))
    var expires: String?

    @Option(
        help: ArgumentHelp(
            "How many former versions of the secret to keep: 0 to 1000, or default for what `keychain history` says of "
                + "the vault. `keychain history` shows them, and `keychain restore` brings one back.",
            valueName: "number"))
    var keep: String?

    @Option(help: ArgumentHelp("When the secret can be read.", valueName: "class"))
    var accessible: ProtectionName?

    @Option(
        help: ArgumentHelp(
            "What reading it takes besides an unlocked vault. If repeated, all of them are needed.",
            valueName: "requirement"))
    var require: [ItemRequirement] = []

    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    @Argument(help: .hidden)
    var refused: [String] = []

    private var scope: ItemScope { place.scope }

    func validate() throws {
        guard generate || !recipe.isGiven else {
            throw ValidationError("the options for what a password is made up of go with --generate")
        }
        guard !generate || !input.isGiven else {
            throw ValidationError("--generate excludes --stdin, --secret-fd and --raw")
        }
        _ = try attribute.dictionary()
        if expires != nil, expiry == nil { throw ValidationError("--expires takes \(Moment.forms), or never") }
        if keep != nil, kept == nil { throw ValidationError("--keep takes a number from 0 to 1000, or default") }
        guard scope.group?.isEmpty != true, scope.group != Client.everyGroup else {
            throw ValidationError("--group takes the name of one access group, not '' or '*'")
        }
        if scope.synchronizable == true, flags != nil || accessible?.protection.isThisDeviceOnly == true {
            throw ValidationError(
                "an item for this device only, or one that requires something, does not travel: leave out "
                    + "--synchronizable, or choose another --accessible")
        }
        guard AccessControl.isValid(flags ?? []) else {
            throw ValidationError(
                "these requirements exclude each other: 'presence' stands alone or with 'password', and "
                    + "'biometry' excludes 'current-biometry'")
        }
    }

    func run() throws {
        guard refused.isEmpty else {
            throw Failure.usage(
                "a secret is not taken from the command line, where every user of the machine can read it: "
                    + "give it on standard input or type it at the prompt")
        }
        // First, so that nobody types a secret that cannot be stored.
        try OtherTool.refuseUnknownCopy(scope.group)
        let secret = try generate ? Data(recipe.recipe.password().utf8) : input.read()
        if let date = expiry?.date, date <= Date() {
            CommandNote.show("this expiry has passed: only `keychain get --expired` will read the secret")
        }
        let session = try VaultSession.ofOwner(passcode)
        try ItemRequirement.check(require, session)
        let authentication = try itemPassword.authentication(isNew: require.contains(.password))
        let search = PasswordSearch(name, scope, authentication)
        let existing = try search.oneIfAny(in: session)
        // The key of a SQLCipher file is a password that a person may put right.
        if existing != nil, let purpose = KeyPurpose(service: name.service), purpose != .cipherFile {
            throw purpose.replacementRefusal(name.forTerminal)
        }
        if let existing, try update(existing, secret, search, session) {
            if json {
                try StandardOutput.write(json: ItemSummary(search.one(in: session, includingValues: false)))
            }
            return
        }
        let item = try session.perform(PutItem(newItem(secret, authentication)))
        // The secret is stored. A failure of this search must not look like a failure to store it.
        let others = (try? search.otherGroups(in: session)) ?? []
        if !others.isEmpty {
            CommandNote.show(
                "this made a new item; other programs have one of this name, too, in \(others.joined(separator: ", ")): "
                    + "--group replaces it")
        }
        if json { try StandardOutput.write(json: ItemSummary(item)) }
    }

    private var attributes: ItemAttributes {
        var attributes: ItemAttributes = [:]
        attributes[.label] = label.map { .string($0) }
        attributes[.comment] = comment.map { .string($0) }
        return attributes
    }

    /// Nil if none was given, or one that is no time.
    private var expiry: Expiry? {
        expires == "never" ? .never : expires.flatMap { Moment.date($0, direction: 1) }.map(Expiry.at)
    }

    /// Nil if none was given, or one that is no number of versions.
    private var kept: KeptVersions? {
        if keep == "default" { return .vaultDefault }
        return keep.flatMap { Int($0) }.map(KeptVersions.atMost).flatMap { $0.isValid ? $0 : nil }
    }

    /// Nil if none was given.
    private var customAttributes: CustomAttributes? {
        get throws { attribute.isEmpty ? nil : try attribute.dictionary() }
    }

    /// - Returns: False if the item was deleted in the meantime.
    private func update(
        _ item: StoredItem, _ secret: Data, _ search: PasswordSearch, _ session: VaultSession
    ) throws -> Bool {
        var control: AccessControl?
        if accessible != nil || !require.isEmpty {
            control = AccessControl(
                protection: accessible?.protection ?? item.accessControl.protection,
                flags: require.isEmpty ? item.accessControl.flags : flags)
        }
        var changes = ItemChanges(attributes: attributes, accessControl: control, value: secret)
        changes.customAttributes = try customAttributes
        changes.expiry = expiry
        changes.kept = kept
        do {
            var query = ItemQuery(item: item)
            query.authentication = search.query.authentication
            guard kept != nil else {
                try session.perform(UpdateItems(query, with: changes))
                return true
            }
            let before = try Self.versionCount(item, session)
            try session.perform(UpdateItems(query, with: changes))
            let after = try Self.versionCount(item, session)
            // The secret that was replaced is now a former one, and took the place of the oldest.
            let usual = after > 1 ? 1 : 0
            let lost = before - after + usual
            if lost > usual {
                CommandNote.show(
                    "\(lost) former \(lost == 1 ? "secret was" : "secrets were") removed: the item keeps fewer now")
            }
            return true
        } catch {
            guard error == .itemNotFound else { throw error }
            return false
        }
    }

    /// How many versions an item has, the present one included. Asks nobody.
    private static func versionCount(_ item: StoredItem, _ session: VaultSession) throws(VaultError) -> Int {
        var query = ItemQuery(item: item)
        query.authentication = AuthenticationOptions(interaction: .skip)
        query.includesExpired = true
        return try session.versions(query).count
    }

    /// The requirements as flags; nil for none.
    private var flags: AccessControl.Flags? {
        require.isEmpty ? nil : require.reduce(into: AccessControl.Flags()) { $0.formUnion($1.flag) }
    }

    private func newItem(_ secret: Data, _ authentication: AuthenticationOptions) throws -> NewItem {
        let naming: ItemAttributes = [
            .service: .string(name.service), .account: .string(name.account),
        ]
        var item = NewItem(
            itemClass: .genericPassword, attributes: attributes.merging(naming) { _, naming in naming },
            accessGroup: try scope.group ?? OtherTool.groupForNewItem,
            accessControl: AccessControl(
                protection: accessible?.protection ?? ItemClass.genericPassword.defaultProtection, flags: flags),
            isSynchronizable: scope.synchronizable ?? false, value: secret, authentication: authentication)
        item.customAttributes = try customAttributes
        item.expiry = expiry
        item.kept = kept
        return item
    }
}
