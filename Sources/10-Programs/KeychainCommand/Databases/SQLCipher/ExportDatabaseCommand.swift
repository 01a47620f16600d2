import ArgumentParser
import Bytes
import CLibrary
import DatabaseFiles
import FoundationEssentials
import KeychainModel
import SQLCipherService
import SQLCipherWire
import StatusCodes
import StoredKeys
import SystemSQLite

/// Writes an encrypted database to a file that other programs read.
struct ExportDatabaseCommand: DocumentedCommand {
    static let summary = "Write a database to a SQLCipher file or a plain file."
    static let details = """
        The database stays as it is, and programs may use it meanwhile. A key that you give for the SQLCipher file is \
        not kept. Without one the file gets a new key, which the keychain keeps as a password of the service \
        'sqlcipher-file'; `keychain get` prints it as `PRAGMA key` takes it. Rows are copied in memory. What was \
        written is read again and compared.

        A file of the format sqlite is plain: anybody who can read it reads everything. It gets mode 0600.

        SQLCipher files need the library libsqlcipher (Debian's package libsqlcipher0). If its SQLite does not \
        understand something in the database, the export fails and names it.
        """
    static let examples = [
        Example("For SQLCipher, with a new key", "keychain db export app.db --output app.sqlcipher"),
        Example("With a key of your own", "keychain db export app.db --output out.db --key-fd 3 3< key"),
        Example("A plain copy", "keychain db export app.db --output plain.db --format sqlite"),
    ]
    static let configuration: CommandConfiguration = documented("export")

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case sqlcipher, sqlite
    }

    @Argument(help: "An encrypted database.", completion: .file())
    var path: String

    @Option(help: ArgumentHelp("The file to make.", valueName: "file"), completion: .file())
    var output: String

    @Option(help: "What to make: a SQLCipher file, or a plain SQLite database.")
    var format = Format.sqlcipher

    @OptionGroup var given: CipherKeyInput

    @OptionGroup(title: "Where a new key is kept") var key: DatabaseKeyOptions

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if format == .sqlite, given.isGiven || key.isGiven {
            throw ValidationError("a plain file has no key: leave out the options about keys, or --format sqlite")
        }
        if given.isGiven, key.isGiven {
            throw ValidationError("a key that is given is not kept: leave out --class, --key-in, --require and --group")
        }
    }

    private struct Answer: Encodable {
        var path: String
        var output: String
        var format: String
        var bytes: UInt64
        var rows: Int?
        var tables: Int?
        /// Statistics that are left out, because the other SQLite makes them again.
        var omitted: [String]?
        var key: CipherKeyItem?
    }

    func run() throws {
        let cipherKey = try given.read()
        let protection = try key.itemProtection
        guard access(output, F_OK) != 0 else { throw Failure.fileExists(output) }
        let answer = try withOwnersVault(passcode) {
            switch format {
            case .sqlite: try exportPlain()
            case .sqlcipher: try export(cipherKey, protection)
            }
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

    private func exportPlain() throws -> Answer {
        var meter: FileProgress?
        var done: UInt64 = 0
        defer { meter?.end() }
        try ProtectedDatabaseFile(path: path).copyPlain(to: output) { progress in
            let shown = meter ?? FileProgress(progress.total)
            meter = shown
            if progress.done > done { shown.add(progress.done - done) }
            done = max(done, progress.done)
            return true
        }
        return Answer(path: path, output: output, format: format.rawValue, bytes: FileSize.of(output))
    }

    private func export(_ given: CipherKey?, _ protection: StoredKeyProtection) throws -> Answer {
        let cipherKey: CipherKey
        if let given { cipherKey = given } else { cipherKey = CipherKey(.raw, try RawCipherKey.random()) }
        let meter = TransferMeter()
        defer { meter.end() }
        // The key is kept under the salt, which the file has first, and before the file has its name.
        let name = Data([UInt8].random(count: 6)).hexadecimal()
        let part = "\(output).\(name).exporting"
        defer { unlink(part) }
        let summary = try namingDatabase(path) {
            let database = try ProtectedConnection(ProtectedDatabaseFile(path: path), .readOnly)
            defer { database.close() }
            return try database.use { connection in
                try SQLCipherFile.import(connection, to: part, key: cipherKey) { meter.show($0) }
            }
        }
        var answer = Answer(
            path: path, output: output, format: format.rawValue, bytes: FileSize.of(part), rows: summary.rows,
            tables: summary.tables, omitted: summary.omitted.isEmpty ? nil : summary.omitted)
        let keys = CipherFileKeys()
        if given == nil {
            let account = try keys.add(
                cipherKey.bytes, of: part, name: FileName.of(output), protection, accessGroup: key.group)
            answer.key = CipherKeyItem(account: account)
        }
        guard link(part, output) == 0 else {
            let code = errno
            if given == nil { try keys.remove(part) }
            throw code == EEXIST ? Failure.fileExists(output) : Failure.file("make", output, code)
        }
        return answer
    }
}

/// The password item that is the key of a SQLCipher file.
struct CipherKeyItem: Encodable {
    var service = CipherFileKeys.service
    var account: String
}

enum FileName {
    static func of(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}

enum FileSize {
    static func of(_ path: String) -> UInt64 {
        var information = stat()
        return stat(path, &information) == 0 ? UInt64(clamping: information.st_size) : 0
    }
}

extension Failure {
    static func fileExists(_ path: String) -> Failure {
        Failure(status: errSecDuplicateItem, "\(path.escapedForTerminal) exists already: choose another name")
    }

    static func file(_ verb: String, _ path: String, _ code: Int32) -> Failure {
        Failure(
            status: errSecIO, exitCode: ExitStatus.other,
            "cannot \(verb) \(path.escapedForTerminal): \(String(cString: strerror(code)))")
    }
}
