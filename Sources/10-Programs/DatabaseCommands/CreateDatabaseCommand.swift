import ArgumentParser
import CommandKit
import DatabaseFiles

/// Makes an empty encrypted database.
struct CreateDatabaseCommand: DocumentedCommand {
    static let summary = "Make an empty encrypted database."
    static let details = """
        A program that opens a database which is not there makes it. This command makes it first, in the class that \
        you choose.
        """
    static let examples = [
        Example("One that closes with the vault", "keychain db create notes.db --class complete"),
        Example("One that opens on this machine alone", "keychain db create notes.db --key-in enclave"),
    ]
    static let configuration: CommandConfiguration = documented("create")

    @Argument(help: "The file to make.", completion: .file())
    var path: String

    @OptionGroup var key: DatabaseKeyOptions

    @Option(help: ArgumentHelp("Bytes in a page, a power of two from 1024 to 65536.", valueName: "bytes"))
    var pageSize = 4096

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard (1024...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
            throw ValidationError("--page-size is a power of two from 1024 to 65536")
        }
    }

    private struct Answer: Encodable {
        var path: String
    }

    func run() throws {
        let storage = try key.storage
        try withOwnersVault(passcode, makingKey: true, requiring: key.require) {
            try ProtectedDatabaseFile(path: path).create(key: storage, pageSize: pageSize)
        }
        if json { return try StandardOutput.write(json: Answer(path: path)) }
        try StandardOutput.write(line: "\(path.escapedForTerminal) made")
    }
}
