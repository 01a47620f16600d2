import ArgumentParser
import CLibrary
import CommandKit
import DatabaseFiles
import FoundationEssentials
import SystemSQLite

/// Writes a database as SQL.
struct DumpDatabaseCommand: DocumentedCommand {
    static let summary = "Write a database as SQL text."
    static let details = """
        The text makes the same database again in any SQLite: `sqlite3 new.db < app.sql`. It is written from one \
        snapshot; programs may use the database meanwhile.

        The text is plain: anybody who can read it reads everything. A file gets mode 0600.
        """
    static let examples = [
        Example("To a file", "keychain db dump app.db --output app.sql"),
        Example("Into another database", "keychain db dump app.db | sqlite3 plain.db"),
    ]
    static let configuration: CommandConfiguration = documented("dump")

    @Argument(help: "An encrypted database, or a SQLCipher file.", completion: .file())
    var path: String

    @Option(help: ArgumentHelp("The file to make, instead of standard output.", valueName: "file"), completion: .file())
    var output: String?

    @OptionGroup var given: SQLCipherInput

    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        try withOwnersVault(passcode) {
            let database = try ProtectedConnection(.existing(path, given), .readOnly, busyTimeout: 10_000)
            defer { database.close() }
            guard let output else { return try dump(database) { try StandardOutput.write($0) } }
            let descriptor = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw errno == EEXIST ? Failure.fileExists(output) : Failure.file("make", output, errno)
            }
            defer { close(descriptor) }
            do {
                try dump(database) { try FileOutput.write($0, to: descriptor) }
                guard fsync(descriptor) == 0 else { throw Failure.file("flush", output, errno) }
            } catch {
                unlink(output)
                throw error
            }
        }
    }

    private func dump(_ database: ProtectedConnection, _ write: @escaping (Data) throws -> Void) throws {
        try namingDatabase(path) {
            try database.use { try DatabaseDump(connection: $0, write: write).run() }
        }
    }
}
