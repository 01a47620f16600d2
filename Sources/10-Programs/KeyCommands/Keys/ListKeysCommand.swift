import ArgumentParser
import CommandKit
import FoundationEssentials
import StatusCodes
import VaultInterface
import VaultKeys

/// Lists the keys.
struct ListKeysCommand: DocumentedCommand {
    static let summary = "List the keys in the keychain."
    static let details = """
        One line for each key: its label, its type, where the private half is kept, the beginning of its hash and its \
        access group. On a terminal they are in columns, otherwise they are separated by tabs. 'tpm2' and 'software \
        enclave' stand for keys of the vault's enclave, 'public' for a key of which only the public half is here, and \
        'locked' for a key whose private half the lock hides. Keys of AES and HMAC, which programs make by the PKCS #11 \
        module, have one line, too. A listing asks nobody.
        """
    static let examples = [
        Example("Everything", "keychain key list"),
        Example("With hashes, tags and what using them takes", "keychain key list --json"),
    ]
    static let configuration: CommandConfiguration = documented("list", aliases: ["ls"])

    @Option(help: ArgumentHelp("Only keys of this access group.", valueName: "group"), completion: .groups)
    var group: String?

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let session = try KeyCommandSession.forLooking(passcode)
        let inventory =
            if passcode.descriptor == nil {
                try session.inventory(group, includingSecretKeys: true)
            } else {
                try session.unlockedInventory(group, includingSecretKeys: true)
            }
        if inventory.pairs.isEmpty { try OtherTool.refuseUnknownCopy(group, "nothing is listed") }
        let enclave = try session.status().enclave
        if json {
            try StandardOutput.write(json: inventory.sortedPairs.map { KeySummary($0, enclave: enclave) })
        } else if !inventory.pairs.isEmpty {
            let rows = inventory.sortedPairs.map { pair in
                [
                    pair.name, pair.typeName, KeySummary.kept(pair, enclave: enclave),
                    String(pair.hexadecimalHash.prefix(KeyPair.shownHashLength)), pair.group.escapedForTerminal,
                ]
            }
            try StandardOutput.write(Table(rows, heads: ["key", "type", "kept in", "hash", "group"]))
        }
        if inventory.isLocked {
            let note = "keychain: the vault is locked: keys that were stored without their public half are not shown\n"
            // The listing itself was written: a note that cannot be written is no reason to fail.
            try? FileOutput.write(Data(note.utf8), to: 2)
        }
        let count = inventory.damagedCount
        guard count == 0 else {
            throw Failure(
                status: errSecDecode,
                "\(count) damaged \(count == 1 ? "item was" : "items were") left out: "
                    + "`keychain status --verify` names them")
        }
    }
}
