import ArgumentParser
import CommandKit
import DatabaseFiles

/// Encrypts a database again, under a new key.
struct RekeyDatabaseCommand: DocumentedCommand {
    static let summary = "Encrypt a database again, under a new key."
    static let details = """
        The old key is removed. Copies of the database from before can then not be opened by anybody, including you. \
        The new key is kept as the old one was, unless an option says otherwise. No program may have the database open \
        meanwhile.
        """
    static let examples = [
        Example("A new key", "keychain db rekey app.db"),
        Example("One in the enclave", "keychain db rekey app.db --key-in enclave"),
    ]
    static let configuration: CommandConfiguration = documented("rekey")

    @Argument(help: "An encrypted database.", completion: .file())
    var path: String

    @OptionGroup var key: DatabaseKeyChanges

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        try withOwnersVault(passcode, requiring: key.require) {
            let storage = try key.storage(ProtectedDatabaseFile(path: path))
            try DatabaseConversion.run(path, verb: "has a new key", json: json) { file, progress in
                try file.changeKey(to: storage, progress: progress)
            }
        }
    }
}
