import ArgumentParser
import CLibrary
import CommandKit
import DatabaseFiles
import StatusCodes

/// Makes an encrypted database from a SQLCipher file.
struct ImportDatabaseCommand: DocumentedCommand {
    static let summary = "Make an encrypted database from a SQLCipher file."
    static let details = """
        Files of versions 1 to 4 are read. Give the file's raw key or its passphrase, unless the keychain has the key.

        The file stays as it is, and programs may use it meanwhile. The database gets its name when it is whole. \
        Without a second name the database takes the place of the file, which no program may have open then; its \
        former key goes from the keychain.
        """
    static let examples = [
        Example("With a passphrase", "keychain db import old.db app.db --passphrase-fd 3 3< phrase"),
        Example("In its place", "keychain db import app.db --passphrase-fd 3 3< phrase"),
        Example("With a raw key", "keychain db import old.db app.db --key-fd 3 3< key"),
    ]
    static let configuration: CommandConfiguration = documented("import")

    @Argument(help: "A SQLCipher file.", completion: .file())
    var path: String

    @Argument(help: "The database to make, instead of the file.", completion: .file())
    var database: String?

    @OptionGroup var given: SQLCipherInput

    @OptionGroup(title: "Where the database's key is kept") var key: DatabaseKeyOptions

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var path: String
        var database: String
        var bytes: UInt64
    }

    func run() throws {
        let storage = try key.storage
        if let database, access(database, F_OK) == 0 { throw Failure.fileExists(database) }
        try withOwnersVault(passcode, makingKey: true, requiring: key.require) {
            let file = try ProtectedDatabaseFile.existing(path, given)
            guard case .sqlcipher = file.format else {
                throw Failure(
                    status: errSecParam,
                    "\(path.escapedForTerminal) is no SQLCipher file: it was encrypted here already")
            }
            try DatabaseConversion.showing { progress in
                if let database {
                    try file.copy(to: ProtectedDatabaseFile(path: database), key: storage, progress: progress)
                } else {
                    try file.encrypt(key: storage, progress: progress)
                }
            }
        }
        let made = database ?? path
        let answer = Answer(path: path, database: made, bytes: FileSize.of(made))
        if json { return try StandardOutput.write(json: answer) }
        let size = FileProgress.amount(Double(answer.bytes))
        let former = database == nil ? "it is no SQLCipher file any more" : "\(path.escapedForTerminal) is kept"
        try StandardOutput.write(line: "\(made.escapedForTerminal) made, \(size); \(former)")
    }
}
