import ArgumentParser
import KeychainModel
import StatusCodes
import VaultInterface

/// Removes former versions of passwords for good.
struct PurgeCommand: DocumentedCommand {
    static let summary = "Remove the former versions of a password, or of everything, for good."
    static let details = """
        The present secrets stay. Deleted passwords, of which versions were kept, are gone afterwards. Without a name, \
        the former versions of all items are removed, keys and certificates included; that needs --yes. With --json, \
        the number of removed versions is printed.
        """
    static let examples = [
        Example("Forget what the secret was", "keychain purge db.example.com app"),
        Example("Forget everything that was", "keychain purge --yes"),
    ]
    static let configuration: CommandConfiguration = documented("purge")

    @Argument(help: "What the secret is for, such as a host or a program.")
    var service: String?

    @Argument(help: "Whose secret it is.")
    var account: String?

    @OptionGroup var scope: ItemScope

    @Flag(help: "Remove the former versions of all items.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var purged: Int
    }

    func validate() throws {
        guard (service == nil) == (account == nil) else { throw ValidationError("name a service and an account") }
        guard service != nil || scope.group == nil && scope.synchronizable == nil else {
            throw ValidationError("--group and --synchronizable choose between items of a name: name one")
        }
    }

    func run() throws {
        guard service != nil || yes else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "there is nobody to confirm it: say --yes to remove the former versions of all items")
        }
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        var search: PasswordSearch?
        if let service, let account {
            search = PasswordSearch(
                service: service, account: account, group: scope.group, synchronizable: scope.synchronizableScope,
                authentication: AuthenticationOptions(interaction: .skip))
        }
        let count = try session.perform(PurgeVersions(search?.query(in: session)))
        if count == 0, let search, try search.oneIfAny(in: session) == nil {
            let error = try search.notFound(in: session, remedy: "--group")
            throw error
        }
        if json { try StandardOutput.write(json: Answer(purged: count)) }
    }
}
