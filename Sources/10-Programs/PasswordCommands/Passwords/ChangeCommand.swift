import ArgumentParser
import CommandKit
import KeychainModel
import StoredKeys
import VaultInterface

/// Changes what belongs to a secret, and not the secret.
struct ChangeCommand: DocumentedCommand {
    static let summary = "Change the attributes, class or expiry of a password, and not its secret."
    static let details = """
        Nobody gives the secret again. What you do not mention stays, also the other attributes of your own: `keychain \
        set --attribute` replaces all of them, and this command only those that you name. No version is kept of what \
        an item was before, because its secret is the same.

        What reading the secret takes, changing it takes, too: an unlocked vault, a person, or the item's own password. \
        An expired password gets a new time with --expires.
        """
    static let examples = [
        Example("Give it an attribute", "keychain change db.example.com app --attribute stage=production"),
        Example("Keep it for another quarter", "keychain change registry.example.com ci --expires 90d"),
        Example(
            "Let a backup have it", "keychain change db.example.com app --accessible when-unlocked"),
        Example("Ask a person from now on", "keychain change bank alice --require presence"),
    ]
    static let configuration: CommandConfiguration = documented("change")

    @OptionGroup var name: PasswordName
    @OptionGroup var scope: ItemScope
    @OptionGroup(title: "What to change") var options: ChangeOptions
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let authentication = try itemPassword.authentication(isNew: options.require.contains(.password))
        var search = PasswordSearch(name, scope, authentication)
        search.query.includesExpired = true
        let item = try search.described(in: session)
        // A program finds such a key by its attributes.
        if let purpose = KeyPurpose(service: name.service) { throw purpose.changeRefusal(name.forTerminal) }
        try options.change(item, in: session, asking: search.query.authentication)
        if json { try StandardOutput.write(json: ItemSummary(search.described(in: session))) }
    }
}
