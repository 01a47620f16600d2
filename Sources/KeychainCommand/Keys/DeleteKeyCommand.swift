import ArgumentParser
import KeychainModel
import Vault

/// Deletes a key.
struct DeleteKeyCommand: DocumentedCommand {
    static let summary = "Delete a key for good, both halves."
    static let details = """
        Exactly one key is deleted, or none. What was encrypted for it stays encrypted; a key of the enclave cannot come \
        back. Certificates for the key stay. Nobody is asked.
        """
    static let examples = [
        Example("By its label", "keychain key delete release"),
        Example("One of several with a label, by its hash", "keychain key delete 3fa85f6457174562"),
    ]
    static let configuration: CommandConfiguration = documented("delete", aliases: ["rm"])

    @OptionGroup var selection: KeySelection
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print how many items were deleted, and any error, as JSON.")
    var json = false

    private struct Answer: Encodable {
        var deleted: Int
    }

    func run() throws {
        let session = try KeySession.forLooking(passcode)
        let pair = try selection.one(in: session)
        let query = ItemQuery(
            itemClass: .key, attributes: [.applicationLabel: .data(pair.hash)], accessGroup: pair.group,
            synchronizable: .any)
        let count = try failing { () throws(VaultError) in
            try session.session.vault.delete(query, as: session.session.client)
        }
        if json { try StandardOutput.write(json: Answer(deleted: count)) }
    }
}
