import ArgumentParser
import CLibrary
import CommandKit
import KeychainModel
import StoredKeys
import VaultInterface

/// Deletes a password.
struct DeleteCommand: DocumentedCommand {
    static let summary = "Delete a password."
    static let details = """
        Exactly one item is deleted, or none. If several items have this service and account, choose one with --group. \
        With --json, the number of deleted items is printed.

        If the vault keeps versions of the password (`keychain history`), `keychain restore` brings it back, until \
        `keychain purge` removes them. Otherwise it is gone for good, and on a terminal you have to type 'delete', \
        unless --yes is given.

        Keys that were stored for something else, such as those of encrypted databases, are not deleted: what they \
        open could not be read any more. `keychain db forget` takes away the key of a database, and --stored-key \
        deletes any other.
        """
    static let examples = [
        Example("Delete it", "keychain delete mail.example.com alice"),
        Example("Delete it if it is there", "keychain delete mail.example.com alice || [ $? -eq 44 ]"),
    ]
    static let configuration: CommandConfiguration = documented("delete", aliases: ["rm"])

    @OptionGroup var name: PasswordName
    @OptionGroup var scope: ItemScope

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Delete it also if it is a key that was stored for something else.")
    var storedKey = false

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var deleted: Int
    }

    func run() throws {
        if !storedKey, let purpose = KeyPurpose(service: name.service) {
            throw purpose.refusal(name.forTerminal, account: name.account)
        }
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        // Deleting asks nobody: an item that only a person may read is deleted by its name.
        var search = PasswordSearch(name, scope, AuthenticationOptions(interaction: .skip))
        search.query.reports = .guarded
        let item = try search.oneIfAny(in: session)
        if !yes, let item, isatty(0) == 1 { try confirm(item, session) }
        guard let count = try delete(item.map(ItemQuery.init(item:)) ?? search.query(in: session), session) else {
            let error = try search.notFound(in: session, remedy: "--group")
            throw error
        }
        if json { try StandardOutput.write(json: Answer(deleted: count)) }
    }

    /// Asks a person at the terminal before a password is deleted that cannot come back.
    private func confirm(_ item: StoredItem, _ session: VaultSession) throws {
        // A program that is not the owner's tool may not ask what the vault keeps.
        guard item.kept.count ?? (try? session.perform(KeepVersions(nil))) ?? 0 == 0 else { return }
        try Confirmation(
            loss: "\(name.forTerminal) is then gone for good: the vault keeps no former version of it.",
            word: "delete", verb: "deleted"
        ).ask(unattended: .goesOn)
    }

    /// - Returns: How many items were deleted; nil if there is none.
    private func delete(_ query: ItemQuery, _ session: VaultSession) throws -> Int? {
        do {
            return try session.perform(DeleteItems(query))
        } catch {
            if error == .itemNotFound { return nil }
            throw error
        }
    }
}
