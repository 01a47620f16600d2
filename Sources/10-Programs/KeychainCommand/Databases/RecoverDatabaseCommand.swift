import ArgumentParser
import DatabaseFiles

/// Makes a database of one that lost its page index.
struct RecoverDatabaseCommand: DocumentedCommand {
    static let summary = "Make a database of one whose page index is lost or does not fit."
    static let details = """
        For a database without its second file, NAME-….pages, or with one of another time, as when the database's file alone was \
        put back from a backup. Every page in it still has to show that it belongs there, and all of them have to fit together; \
        but nothing shows any more that each is the last copy of itself. The former database is left as it is, and no program may \
        have it open meanwhile. The new one's key is kept as the former one's, unless an option says otherwise.
        """
    static let examples = [Example("A database", "keychain db recover app.db recovered.db")]
    static let configuration: CommandConfiguration = documented("recover")

    @Argument(help: "An encrypted database.")
    var path: String

    @Argument(help: "The file to make.")
    var target: String

    @OptionGroup var key: DatabaseKeyChanges

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: "Print what was made, and any error, as JSON.")
    var json = false

    func run() throws {
        try withOwnersVault(passcode, requiring: key.require) { () throws(Failure) in
            let storage = try key.storage(ProtectedDatabaseFile(path: path))
            try DatabaseConversion.run(target, verb: "made", json: json) {
                (new, progress) throws(ProtectedDatabaseError) in
                try ProtectedDatabaseFile(path: path).recover(to: new, key: storage, progress: progress)
            }
        }
    }
}
