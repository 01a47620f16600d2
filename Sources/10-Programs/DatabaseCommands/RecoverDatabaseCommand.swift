import ArgumentParser
import CommandKit
import DatabaseFiles

/// Makes a new database from one that lost its page index.
struct RecoverDatabaseCommand: DocumentedCommand {
    static let summary = "Recover a database whose page index is lost or does not fit."
    static let details = """
        For a database whose second file, NAME-….pages, is missing or of another time, for example after the \
        database's file alone was put back from a backup. Every page still has to prove that it belongs to the \
        database, and all pages have to fit together. But nothing proves any more that each is the last copy of its \
        page. The old database is left as it is, and no program may have it open meanwhile. The key of the new one is \
        kept as that of the old one, unless an option says otherwise.
        """
    static let examples = [Example("A database", "keychain db recover app.db recovered.db")]
    static let configuration: CommandConfiguration = documented("recover")

    @Argument(help: "An encrypted database.", completion: .file())
    var path: String

    @Argument(help: "The file to make.", completion: .file())
    var target: String

    @OptionGroup var key: DatabaseKeyChanges

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        try withOwnersVault(passcode, requiring: key.require) {
            let storage = try key.storage(ProtectedDatabaseFile(path: path))
            try DatabaseConversion.run(target, verb: "made", json: json) { new, progress in
                try ProtectedDatabaseFile(path: path).recover(to: new, key: storage, progress: progress)
            }
        }
    }
}
