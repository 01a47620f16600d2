import ArgumentParser
import CommandKit
import DatabaseFiles

/// Changes how a database's key is kept.
struct SetDatabaseClassCommand: DocumentedCommand {
    static let summary = "Move a database to another class, or its key to another place."
    static let details = """
        What no option names stays as it was. This takes a moment, however large the database is, because its pages \
        stay as they are. Programs that have the database open follow the old class until they open it again.
        """
    static let examples = [
        Example("Close it with the vault", "keychain db set-class app.db --class complete"),
        Example("Ask for a person", "keychain db set-class app.db --require presence"),
    ]
    static let configuration: CommandConfiguration = documented("set-class")

    @Argument(help: "An encrypted database.", completion: .file())
    var path: String

    @OptionGroup var key: DatabaseKeyChanges

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard key.isGiven else { throw ValidationError("say what to change, as with --class or --key-in") }
    }

    func run() throws {
        let info = try withOwnersVault(passcode, requiring: key.require) {
            let file = ProtectedDatabaseFile(path: path)
            let storage = try key.storage(file)
            if let storage { try file.setKeyStorage(storage) }
            return try file.info()
        }
        let summary = DatabaseSummary(path, info)
        if json { return try StandardOutput.write(json: summary) }
        try StandardOutput.write(line: summary.line)
    }
}
