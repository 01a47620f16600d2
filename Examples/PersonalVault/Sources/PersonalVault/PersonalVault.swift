import DataProtection
import Foundation
import GRDB
import Keychain
import ProtectedDatabase
import SealedFields

/// What a person keeps: who they are to a service, documents, messages and notes.
struct PersonalVault {
    /// Who this program is to the keychain, and the access group of all that it stores.
    static let identifier = "com.example.personal-vault"
    static let account = Keychain(service: identifier, accessGroup: identifier)
    /// Whose values are handed out when a person agreed.
    static let passwords = Keychain(
        service: identifier + ".passwords", accessGroup: identifier, accessControl: .userPresence)
    static let fieldKeys = FieldKeys(identifier + ".notes", accessGroup: identifier)
    /// The list of the keys that the keychain keeps for databases, and the keys: those of this group are of this
    /// program's.
    static let databaseKeys = ["encrypted-database", "encrypted-database/keys"].map {
        Keychain(service: $0, accessGroup: identifier)
    }

    let folder: URL
    let store: ProtectedDatabase

    /// Opens the vault in the program's data folder.
    init(folder: URL) throws {
        try Self.removeEarlierInstallation(folder)
        self.folder = folder
        store = try ProtectedDatabase(
            path: folder.appending(path: "store.db").path,
            key: .keychain(.complete, accessGroup: Self.identifier))
        try Self.migrator.migrate(store)
    }

    /// Items of the keychain outlive the program's folder. Without the marker in it, this is a first launch.
    private static func removeEarlierInstallation(_ folder: URL) throws {
        let marker = folder.appending(path: "installed")
        if !FileManager.default.fileExists(atPath: marker.path) {
            try fieldKeys.destroy()
            try MessageKey.remove()
        }
        try Keychain.removeItemsOfEarlierInstallation(of: [account, passwords] + databaseKeys, marker: marker)
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.create(table: "note") {
                $0.primaryKey("id", .blob)
                $0.column("title", .text).notNull()
                $0.column("created", .datetime).notNull().indexed()
                $0.column("body", .blob).notNull()
                $0.column("tags", .blob).notNull()
            }
            try db.create(table: "document") {
                $0.primaryKey("id", .blob)
                $0.column("name", .text).notNull()
                $0.column("noteId", .blob).references("note", onDelete: .cascade)
            }
            try db.create(table: "message") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("sealed", .blob).notNull()
            }
        }
        return migrator
    }

    // MARK: Signing in and out

    func signIn(_ name: String, password: String) throws {
        try Self.passwords.set(password, for: name)
        try Self.account.set(name, for: "name")
    }

    var name: String? { get throws { try Self.account.get(String.self, for: "name") } }

    /// Asks a person.
    func password() throws -> String? {
        guard let name = try name else { return nil }
        return try Self.passwords.get(String.self, for: name)
    }

    /// Removes all there is: the keys first, without which nothing of the rest can be read.
    func signOut() throws {
        try Self.passwords.removeAll()
        try Self.account.removeAll()
        try Self.fieldKeys.destroy()
        try MessageKey.remove()
        try store.close()
        try store.file.remove()
        try FileManager.default.removeItem(at: folder)
    }
}
