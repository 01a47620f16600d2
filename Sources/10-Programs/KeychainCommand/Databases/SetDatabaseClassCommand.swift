import ArgumentParser
import DatabaseFiles

/// Keeps a database's key elsewhere.
struct SetDatabaseClassCommand: DocumentedCommand {
    static let summary = "Move a database to another class, or its key to another place."
    static let details = """
        What no option says anything about stays as it was. Takes a moment, however large the database is, since its pages \
        stay as they are. Programs that have it open go on as the former class says until they open it again.
        """
    static let examples = [
        Example("Close it with the vault", "keychain db set-class app.db --class complete"),
        Example("Ask for a person", "keychain db set-class app.db --require presence"),
    ]
    static let configuration: CommandConfiguration = documented("set-class")

    @Argument(help: "An encrypted database.")
    var path: String

    @OptionGroup var key: DatabaseKeyChanges

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print what was done, and any error, as JSON.")
    var json = false

    func validate() throws {
        guard key.isGiven else { throw ValidationError("say what to change, as with --class or --key-in") }
    }

    func run() throws {
        let info = try withOwnersVault(passcode, requiring: key.require) { () throws(Failure) in
            let file = ProtectedDatabaseFile(path: path)
            let storage = try key.storage(file)
            return try handlingDatabase { () throws(ProtectedDatabaseError) in
                if let storage { try file.setKeyStorage(storage) }
                return try file.info()
            }
        }
        let summary = DatabaseSummary(path, info)
        if json { return try StandardOutput.write(json: summary) }
        try StandardOutput.write(line: summary.line)
    }
}
