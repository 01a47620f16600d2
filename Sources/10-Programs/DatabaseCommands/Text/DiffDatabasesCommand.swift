import ArgumentParser
import CLibrary
import CommandKit
import DatabaseFiles
import DatabaseVFS
import SystemSQLite

/// Compares two databases.
struct DiffDatabasesCommand: DocumentedCommand {
    static let summary = "Compare two databases."
    static let details = """
        Each is an encrypted database, a SQLCipher file whose key the keychain has, or a plain database. What differs \
        is named: tables, indexes, views and triggers that are in one of them only or made in another way, and the \
        number of rows of each table that are in one of them only or have other values. Rows are told apart by their \
        primary key, or by their rowid.

        The exit status is 0 if there is no difference, and 1 if there is one.
        """
    static let examples = [Example("A copy", "keychain db diff app.db copy.db")]
    static let configuration: CommandConfiguration = documented("diff")

    @Argument(help: "A database.", completion: .file())
    var first: String

    @Argument(help: "Another one.", completion: .file())
    var second: String

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let difference = try withOwnersVault(passcode) {
            let other = try Self.file(second)
            // While the claim exists, the other database opens through the first one's connection.
            let (claim, _) = try other.claim()
            return try withExtendedLifetime(claim) { try compare(claim.uri) }
        }
        if json {
            try StandardOutput.write(json: difference)
        } else {
            try write(difference)
        }
        guard difference.isEmpty else { throw ExitCode(ExitStatus.other) }
    }

    private static func file(_ path: String) throws -> ProtectedDatabaseFile {
        do {
            return try .existing(path)
        } catch ProtectedDatabaseError.Code.notEncrypted {
            return ProtectedDatabaseFile(path: path).with(.plain)
        }
    }

    private func compare(_ uri: String) throws -> DatabaseDifference {
        let database = try ProtectedConnection(Self.file(first), .readOnly, busyTimeout: 10_000)
        defer { database.close() }
        return try namingDatabase(first) {
            try database.use { connection in
                try connection.execute("ATTACH \(SQLText.literal(uri)) AS other")
                return try DatabaseDifference(connection, other: "other")
            }
        }
    }

    private func write(_ difference: DatabaseDifference) throws {
        let names = (first.escapedForTerminal, second.escapedForTerminal)
        for object in difference.objects {
            let place =
                switch object.found {
                case "first": "only in \(names.0)"
                case "second": "only in \(names.1)"
                default: "made in another way"
                }
            try StandardOutput.write(line: "\(object.kind) \(object.name.escapedForTerminal): \(place)")
        }
        for table in difference.rows {
            let counts = [
                (table.onlyInFirst, "only in \(names.0)"), (table.onlyInSecond, "only in \(names.1)"),
                (table.changed, "with other values"),
            ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            try StandardOutput.write(
                line: "rows of \(table.table.escapedForTerminal): \(counts.joined(separator: ", "))")
        }
        if difference.isEmpty { try StandardOutput.write(line: "no difference") }
    }
}
