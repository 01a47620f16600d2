import Foundation
import GRDB
import Keychain
import ProtectedDatabase
import SealedFields

extension FriendStore {
    /// Where the vault has the number that the database has, too.
    private static let keychain = Keychain(
        service: "org.example.friendvatars.keys", accessibility: .afterFirstUnlockThisDeviceOnly)
    private static let item = "database"

    /// Makes sure that no new database is made for a vault that has the keys of another, which somebody has lost.
    static func checkFile(_ folder: DataFolder) throws {
        guard !FileManager.default.fileExists(atPath: folder.database.path(percentEncoded: false)),
            try keychain.get(String.self, for: item) != nil
        else { return }
        throw StoreFailure(
            "\(path(folder)) is missing, and the vault has its keys: put it back from a backup, with what belongs to it"
        )
    }

    /// Makes sure that the database and the vault belong together: a vault without the key of the directory would make
    /// a new one, and nobody would have an account any more.
    func checkVault(_ folder: DataFolder) throws {
        // The key first: a vault that has the number has the key.
        _ = try keys.directory.digest(of: "", table: "account", column: "email")
        let (number, isInUse) = try database.write { db in
            if let number = try String.fetchOne(db, sql: "SELECT number FROM vault") {
                return (number, try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM account)") ?? true)
            }
            let number = UUID().uuidString
            try db.execute(sql: "INSERT INTO vault (number) VALUES (?)", arguments: [number])
            return (number, false)
        }
        let known = try Self.keychain.update(String.self, for: Self.item) {
            if $0 == nil, !isInUse { $0 = number }
        }
        guard known == number else {
            throw StoreFailure(
                "\(Self.path(folder)) and the vault beside it do not belong together: put both back from one backup")
        }
    }

    private static func path(_ folder: DataFolder) -> String { printable(folder.database.path(percentEncoded: false)) }
}

/// Why the database cannot be used.
public struct StoreFailure: Error, Sendable, CustomStringConvertible {
    /// What happened, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
