import Foundation
import GRDB
import ProtectedDatabase
import SealedFields

/// The database of accounts, friends and sessions: encrypted as a whole, and what is personal in it sealed once more
/// with keys of the account that it belongs to.
public struct FriendStore: Sendable {
    let database: ProtectedDatabase
    let keys = AccountKeys()
    /// Stands for accounts that do not exist.
    static let nobody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The database in a folder; made at the first use.
    ///
    /// - Throws: ``StoreFailure`` when it is not the one that the vault has the keys of.
    public init(in folder: DataFolder) throws {
        try Self.checkFile(folder)
        var configuration = Configuration()
        // The terminal client and the server write the same file: one waits for the other, in seconds.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
        database = try ProtectedDatabase(
            path: folder.database.path(percentEncoded: false), key: .keychain(.completeUntilFirstUserAuthentication),
            configuration: configuration)
        try Self.migrator.migrate(database)
        do {
            try checkVault(folder)
        } catch {
            try? database.close()
            throw error
        }
    }

    /// Writes what is in the log to the database, and closes it.
    public func close() throws {
        try database.close()
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("accounts, friends, sessions") { db in
            try db.create(table: "account") {
                $0.column("id", .text).primaryKey()
                $0.column("emailDigest", .blob).notNull().unique()
                for column in ["email", "name", "passwordHash"] { $0.column(column, .blob).notNull() }
                $0.column("isGoing", .boolean).notNull().defaults(to: false)
            }
            try db.create(table: "friend") {
                $0.column("id", .text).primaryKey()
                $0.column("account", .text).notNull().indexed().references("account", onDelete: .cascade)
                $0.column("emailDigest", .blob).notNull()
                for column in ["email", "name"] { $0.column(column, .blob).notNull() }
                $0.uniqueKey(["account", "emailDigest"])
            }
            try db.create(table: "session") {
                $0.column("hash", .blob).primaryKey()
                $0.column("family", .text).notNull().indexed()
                $0.column("account", .text).notNull().indexed().references("account", onDelete: .cascade)
                for column in ["begun", "issued"] { $0.column(column, .double).notNull() }
                $0.column("isShown", .boolean).notNull()
                $0.column("replaced", .double)
                $0.column("successor", .blob)
            }
        }
        migrator.registerMigration("the vault's number") { db in
            try db.create(table: "vault") { $0.column("number", .text).notNull() }
        }
        return migrator
    }
}

extension FieldSealing {
    func seal(_ text: String, _ table: String, _ column: String, _ row: UUID) throws -> Data {
        try seal(text, at: FieldPlace(table: table, column: column, row: RowKey(row.uuidString))).bytes
    }

    func open(_ bytes: Data, _ table: String, _ column: String, _ row: UUID) throws -> String {
        try open(
            SealedColumnValue<String>(bytes: bytes),
            at: FieldPlace(table: table, column: column, row: RowKey(row.uuidString)))
    }
}
