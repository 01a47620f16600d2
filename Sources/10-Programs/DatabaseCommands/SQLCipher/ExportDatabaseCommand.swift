import ArgumentParser
import CLibrary
import CommandKit
import DatabaseFiles

/// Writes an encrypted database to a file that other programs read.
struct ExportDatabaseCommand: DocumentedCommand {
    static let summary = "Write a database to a SQLCipher file or a plain file."
    static let details = """
        The database stays as it is, and programs may use it meanwhile. The copy gets its name when it is whole, and \
        mode 0600.

        A key that you give for the SQLCipher file is not kept. Without one the file gets a new key, which the \
        keychain keeps as a password of the service 'sqlcipher-file'; `keychain get` prints it as `PRAGMA key` takes \
        it. SQLCipher 3 opens files of version 3, SQLCipher 4 opens both; it has to be told of the older one with \
        `PRAGMA cipher_compatibility = 3`.

        A file of the format sqlite is plain: anybody who can read it reads everything.
        """
    static let examples = [
        Example("For SQLCipher, with a new key", "keychain db export app.db --output app.sqlcipher"),
        Example("For SQLCipher 3", "keychain db export app.db --output old.db --sqlcipher-version 3"),
        Example("With a key of your own", "keychain db export app.db --output out.db --key-fd 3 3< key"),
        Example("A plain copy", "keychain db export app.db --output plain.db --format sqlite"),
    ]
    static let configuration: CommandConfiguration = documented("export")

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case sqlcipher, sqlite
    }

    @Argument(help: "An encrypted database, or a SQLCipher file whose key the keychain has.", completion: .file())
    var path: String

    @Option(help: ArgumentHelp("The file to make.", valueName: "file"), completion: .file())
    var output: String

    @Option(help: "What to make: a SQLCipher file, or a plain SQLite database.")
    var format = Format.sqlcipher

    @OptionGroup var given: SQLCipherInput

    @OptionGroup(title: "Where a new key is kept") var key: DatabaseKeyOptions

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if format == .sqlite, given.isGiven || key.isGiven {
            throw ValidationError("a plain file has no key: leave out the options about keys, or --format sqlite")
        }
        if given.hasKey, key.isGiven {
            throw ValidationError("a key that is given is not kept: leave out --class, --key-in, --require and --group")
        }
    }

    private struct Answer: Encodable {
        var path: String
        var output: String
        var format: String
        var bytes: UInt64
        var key: CipherKeyItem?
    }

    func run() throws {
        let options = format == .sqlite ? nil : try given.read() ?? given.with(.keychain(try key.storage))
        guard access(output, F_OK) != 0 else { throw Failure.fileExists(output) }
        let makesKey = options != nil && !given.hasKey
        let answer = try withOwnersVault(passcode, makingKey: makesKey, requiring: key.require) {
            let file = try ProtectedDatabaseFile.existing(path)
            let copy = ProtectedDatabaseFile(path: output).with(options.map { .sqlcipher($0) } ?? .plain)
            try DatabaseConversion.showing { try file.copy(to: copy, progress: $0) }
            let account = makesKey ? try copy.info().identifier : nil
            return Answer(
                path: path, output: output, format: format.rawValue, bytes: FileSize.of(output),
                key: account.map { CipherKeyItem(account: $0) })
        }
        if json { return try StandardOutput.write(json: answer) }
        let size = FileProgress.amount(Double(answer.bytes))
        let name = output.escapedForTerminal
        guard format == .sqlcipher else {
            return try StandardOutput.write(
                line: "\(name) written, \(size), NOT encrypted: remove it when you no longer need it")
        }
        let place =
            answer.key.map { "its key is the password '\($0.service)' '\($0.account)'" } ?? "its key was not kept"
        try StandardOutput.write(line: "\(name) written, \(size); \(place)")
    }
}

/// The password item that is the key of a SQLCipher file.
struct CipherKeyItem: Encodable {
    var service = SQLCipherKeys.service
    var account: String
}

enum FileSize {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func of(_ path: String) -> UInt64 {
        var information = stat()
        return stat(path, &information) == 0 ? UInt64(clamping: information.st_size) : 0
    }
}
