import ArgumentParser
import CommandKit
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface

/// Takes the key of a database away.
struct ForgetDatabaseCommand: DocumentedCommand {
    static let summary = "Take away the key of a database, after which nobody can read it."
    static let details = """
        The database stays, with its copies and its backups, and none of them can be read without the key. It may be \
        gone already: then name its identifier, which `keychain list` shows as the account of 'encrypted-database', or \
        of 'sqlcipher-file'. On a terminal you have to type 'forget'; elsewhere --yes is needed.

        The vault keeps the key as that of a deleted item, and `keychain restore` brings it back. With --for-good, it \
        is removed from there, too, and from the enclave.
        """
    static let examples = [
        Example("A database that is no longer needed", "keychain db forget app.db"),
        Example("Undo it", "keychain restore encrypted-database a1105b8c41cc46922ca5"),
        Example("One whose file is gone, for good", "keychain db forget a1105b8c41cc46922ca5 --for-good"),
    ]
    static let configuration: CommandConfiguration = documented("forget")

    @Argument(help: "An encrypted database, a SQLCipher file, or its identifier.", completion: .file())
    var database: String

    @Option(help: ArgumentHelp("Only a key in this access group.", valueName: "group"))
    var group: String?

    @Flag(help: "Remove it so that nothing brings it back.")
    var forGood = false

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var identifier: String
        var name: String?
        var group: String
        var canComeBack: Bool
    }

    func run() throws {
        try withOwnersVault(passcode) {
            let session = try VaultSession.current()
            let key = try DatabaseKeyItems(database)
            let items = try key.present(in: group, session)
            let known = items.isEmpty ? try key.deleted(in: group, session) : items
            guard let first = known.first, forGood || !items.isEmpty else {
                throw notFound(key, isDeleted: !known.isEmpty)
            }
            let name = known.lazy.compactMap { $0.attribute(.label) }.first.map { AttributeText($0).forTerminal }
            let named = Self.named(database, name, key)
            if !yes { try confirm(named) }
            if forGood {
                try key.destroy(items, known: known, session)
            } else {
                try key.forget(items, session)
            }
            if json {
                return try StandardOutput.write(
                    json: Answer(
                        identifier: key.account, name: name, group: first.accessGroup, canComeBack: !forGood))
            }
            let outcome =
                forGood
                ? "its key is gone for good"
                : "its key is forgotten; `keychain restore \(key.service) \(key.account)` brings it back"
            try StandardOutput.write(line: "\(named): \(outcome)")
        }
    }

    /// What a person typed, and the name that the keychain has, if that is another: a copy has the key of its original.
    private static func named(_ typed: String, _ name: String?, _ key: DatabaseKeyItems) -> String {
        let file = typed.split(separator: "/").last.map { String($0).escapedForTerminal }
        guard typed != key.account, let file else { return name ?? key.account }
        guard let name, name != file else { return typed.escapedForTerminal }
        return "\(typed.escapedForTerminal), which has the key of \(name)"
    }

    private func notFound(_ key: DatabaseKeyItems, isDeleted: Bool) -> Failure {
        Failure(
            status: errSecItemNotFound,
            isDeleted
                ? "the key of \(database.escapedForTerminal) is forgotten already: `keychain restore \(key.service) "
                    + "\(key.account)` brings it back, and --for-good removes it"
                : "the keychain has no key for \(database.escapedForTerminal)")
    }

    private func confirm(_ name: String) throws {
        let end = forGood ? ", for good" : " until it is restored"
        try Confirmation(
            loss: "Without this key nobody can read \(name), nor any copy or backup\(end).",
            word: "forget", verb: "forgotten"
        ).ask(unattended: .refused("say --yes to take away the key of \(name)"))
    }
}
