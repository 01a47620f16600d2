import ArgumentParser
import CLibrary
import DatabaseFiles
import SQLCipherService

/// Makes an encrypted database from a SQLCipher file.
struct ImportDatabaseCommand: DocumentedCommand {
    static let summary = "Make an encrypted database from a SQLCipher file."
    static let details = """
        The file stays as it is. Give its raw key or its passphrase, unless the keychain has the key. Rows are copied \
        in memory. What was written is read again and compared. The database gets its name when it is whole.

        This needs the library libsqlcipher (Debian's package libsqlcipher0). Its version 3 reads files of version 3; \
        its version 4 reads files of both versions.
        """
    static let examples = [
        Example("With a passphrase", "keychain db import old.db app.db --passphrase-fd 3 3< phrase"),
        Example("With a raw key", "keychain db import old.db app.db --key-fd 3 3< key"),
    ]
    static let configuration: CommandConfiguration = documented("import")

    @Argument(help: "A SQLCipher file.", completion: .file())
    var path: String

    @Argument(help: "The database to make.", completion: .file())
    var database: String

    @OptionGroup var given: CipherKeyInput

    @OptionGroup(title: "Where the database's key is kept") var key: DatabaseKeyOptions

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var path: String
        var database: String
        var bytes: UInt64
        var rows: Int
        var tables: Int
        var omitted: [String]?
    }

    func run() throws {
        let storage = try key.storage
        guard access(database, F_OK) != 0 else { throw Failure.fileExists(database) }
        let answer = try withOwnersVault(passcode) {
            let cipherKey = try CipherFileKeys().key(of: path, given)
            let meter = TransferMeter()
            defer { meter.end() }
            let summary = try namingDatabase(database) {
                let source = try SQLCipherDatabase(path, key: cipherKey, readOnly: true)
                var summary: TransferSummary?
                try ProtectedDatabaseFile(path: database).create(key: storage) { db in
                    summary = try SQLCipherFile.export(source, to: db) { meter.show($0) }
                }
                try source.close()
                return summary
            }
            let omitted = summary?.omitted ?? []
            return Answer(
                path: path, database: database, bytes: FileSize.of(database), rows: summary?.rows ?? 0,
                tables: summary?.tables ?? 0, omitted: omitted.isEmpty ? nil : omitted)
        }
        if json { return try StandardOutput.write(json: answer) }
        let size = FileProgress.amount(Double(answer.bytes))
        try StandardOutput.write(
            line: "\(database.escapedForTerminal) made, \(size); \(path.escapedForTerminal) is kept")
    }
}
