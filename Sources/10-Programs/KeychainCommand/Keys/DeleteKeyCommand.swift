import ArgumentParser
import CLibrary
import KeychainModel
import StatusCodes
import VaultInterface

/// Deletes a key.
struct DeleteKeyCommand: DocumentedCommand {
    static let summary = "Delete a key for good, both halves."
    static let details = """
        Exactly one key is deleted, or none. What was encrypted for it can no longer be decrypted, and a key of the \
        enclave cannot come back. Certificates for the key stay. On a terminal, deleting a key of the enclave asks you \
        to type 'delete', unless --yes is given; otherwise nobody is asked. With --json, the number of deleted items \
        is printed.
        """
    static let examples = [
        Example("By its label", "keychain key delete release"),
        Example("One of several with a label, by its hash", "keychain key delete 3fa85f6457174562"),
    ]
    static let configuration: CommandConfiguration = documented("delete", aliases: ["rm"])

    @OptionGroup var selection: KeySelection
    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var deleted: Int
    }

    /// Asks a person at the terminal before a key is deleted that cannot be made again.
    private static func confirm(_ pair: KeyPair) throws {
        let question: String
        switch pair.privateHalf {
        case .found where pair.isInEnclave: question = "The key '\(pair.name)' is in the enclave and cannot come back."
        case .locked:
            question = "The key '\(pair.name)' cannot come back if it is in the enclave, which the lock hides."
        default: return
        }
        guard isatty(0) == 1, let terminal = CommandTerminal() else { return }
        guard try terminal.ask(question + "\nType 'delete' to go on: ") == "delete" else {
            throw Failure(status: errSecUserCanceled, "not confirmed: nothing was deleted")
        }
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session)
        if !yes { try Self.confirm(pair) }
        let query = ItemQuery(
            itemClass: .key, attributes: [.applicationLabel: .data(pair.hash)], accessGroup: pair.group,
            synchronizable: .any)
        let count = try session.session.perform(DeleteItems(query))
        if json { try StandardOutput.write(json: Answer(deleted: count)) }
    }
}
