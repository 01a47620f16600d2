import ArgumentParser
import CommandKit
import KeychainModel
import StoredKeys
import VaultInterface
import VaultKeys

/// Deletes a key.
struct DeleteKeyCommand: DocumentedCommand {
    static let summary = "Delete a key for good, both halves."
    static let details = """
        Exactly one key is deleted, or none. What was encrypted for it can no longer be decrypted, and a key of the \
        enclave cannot come back. Certificates for the key stay. On a terminal you have to type 'delete', unless --yes \
        is given. Elsewhere nobody is asked. With --json, the number of deleted items is printed.

        A key that was stored for something else, such as a database whose key is in the enclave, is not deleted \
        unless --stored-key is given: what it opens could not be read any more.
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

    @Flag(help: "Delete it also if it is a key that was stored for something else.")
    var storedKey = false

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var deleted: Int
    }

    /// Asks a person at the terminal before a key is deleted that cannot come back.
    private static func confirm(_ pair: KeyPair) throws {
        let loss: String
        switch pair.privateHalf {
        case .absent: return
        case .found where pair.isInEnclave: loss = "The key '\(pair.name)' is in the enclave and cannot come back."
        case .locked:
            loss = "The key '\(pair.name)' cannot come back if it is in the enclave, which the lock hides."
        case .found, .withheld: loss = "The key '\(pair.name)' cannot come back, unless it is stored elsewhere, too."
        }
        try Confirmation(loss: loss, word: "delete", verb: "deleted").ask(unattended: .goesOn)
    }

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let pair = try selection.one(in: session, includingSecretKeys: true)
        if !storedKey, let purpose = KeyPurpose(named: pair.tag) {
            throw purpose.refusal("'\(pair.name)'", account: nil)
        }
        if !yes { try Self.confirm(pair) }
        let query = ItemQuery(
            itemClass: .key, attributes: [.applicationLabel: .data(pair.hash)], accessGroup: pair.group,
            synchronizable: .any)
        let count = try session.session.perform(DeleteItems(query))
        if json { try StandardOutput.write(json: Answer(deleted: count)) }
    }
}
