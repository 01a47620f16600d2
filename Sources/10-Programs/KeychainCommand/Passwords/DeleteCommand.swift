import ArgumentParser
import KeychainModel
import VaultInterface

/// Deletes a password.
struct DeleteCommand: DocumentedCommand {
    static let summary = "Delete a password."
    static let details = """
        Exactly one item is deleted, or none. If several items have this service and account, choose one with --group. \
        With --json, the number of deleted items is printed.

        If the vault keeps versions of the password (`keychain history`), `keychain restore` brings it back, until \
        `keychain purge` removes them. Otherwise it is gone for good.
        """
    static let examples = [
        Example("Delete it", "keychain delete mail.example.com alice"),
        Example("Delete it if it is there", "keychain delete mail.example.com alice || [ $? -eq 44 ]"),
    ]
    static let configuration: CommandConfiguration = documented("delete", aliases: ["rm"])

    @OptionGroup var name: PasswordName
    @OptionGroup var scope: ItemScope

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var deleted: Int
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        // Deleting asks nobody: an item that only a person may read is deleted by its name.
        let search = PasswordSearch(name, scope, AuthenticationOptions(interaction: .skip))
        let item = try search.oneIfAny(in: session)
        guard let count = try delete(item.map(ItemQuery.init(item:)) ?? search.query(in: session), session) else {
            let error = try search.notFound(in: session, remedy: "--group")
            throw error
        }
        if json { try StandardOutput.write(json: Answer(deleted: count)) }
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
