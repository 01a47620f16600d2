import ArgumentParser
import CommandKit
import KeychainModel
import StatusCodes
import StoredKeys
import VaultInterface

/// Gives a password another service or account.
struct RenameCommand: DocumentedCommand {
    static let summary = "Give a password another name, without typing the secret again."
    static let details = """
        The secret, its dates, attributes and former versions stay. A name that another password has already is \
        refused. `keychain change` changes the label, the remark, attributes, the class and requirements.
        """
    static let examples = [
        Example("Another account", "keychain rename mail.example.com alice mail.example.com alice.smith"),
        Example("Into another access group", "keychain rename api ci api ci --to-group com.example.builder"),
    ]
    static let configuration: CommandConfiguration = documented("rename", aliases: ["mv"])

    @OptionGroup var name: PasswordName

    @Argument(help: "The new service.")
    var newService: String

    @Argument(help: "The new account; the present one if it is left out.")
    var newAccount: String?

    @Option(
        name: .customLong("to-group"), help: ArgumentHelp("Its new access group.", valueName: "group"),
        completion: .groups)
    var newGroup: String?

    @OptionGroup var scope: ItemScope
    @OptionGroup var itemPassword: ItemPassword
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard newGroup?.isEmpty != true, newGroup != "*" else {
            throw ValidationError("--to-group takes the name of one access group, not '' or '*'")
        }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let authentication = try itemPassword.authentication()
        let item = try PasswordSearch(name, scope, authentication).one(in: session, includingValues: false)
        // A program finds its keys by these names.
        if KeyPurpose(service: name.service) != nil || KeyPurpose(service: newService) != nil {
            throw Failure.usage("this name is that of a key of the keychain's own, which other commands look for")
        }
        var changes = ItemChanges(
            attributes: [.service: .string(newService), .account: .string(newAccount ?? name.account)])
        changes.accessGroup = newGroup
        var query = ItemQuery(item: item)
        query.authentication = authentication
        query.includesExpired = true
        do {
            try session.perform(UpdateItems(query, with: changes))
        } catch {
            guard error == .duplicateItem else { throw error }
            throw Failure(
                status: errSecDuplicateItem,
                "a password '\(newService.escapedForTerminal)' '\((newAccount ?? name.account).escapedForTerminal)' is "
                    + "there already: choose another name, or delete that one")
        }
        guard json else { return }
        let renamed = PasswordSearch(
            service: newService, account: newAccount ?? name.account, group: newGroup ?? item.accessGroup)
        try StandardOutput.write(json: ItemSummary(renamed.one(in: session, includingValues: false)))
    }
}
