import Foundation
import GRDB
import ProtectedDatabase
import SealedFields

extension FriendStore {
    /// What a sign-in needs to know.
    struct SignInRecord: Sendable {
        let account: Account
        let passwordHash: String
    }

    /// - Returns: False if the address has an account.
    func insert(_ account: Account, passwordHash: String) async throws -> Bool {
        let row = account.id
        let digest = try digest(of: account.email)
        // No keys are made for somebody who has an account.
        let isTaken = try await database.read { db in
            try Bool.fetchOne(db, sql: "SELECT 1 FROM account WHERE emailDigest = ?", arguments: [digest])
        }
        if isTaken == true { return false }
        let sealing = try keys.sealing(of: row)
        let values: [Data] = try [
            sealing.seal(account.email.text, "account", "email", row),
            sealing.seal(account.name, "account", "name", row),
            sealing.seal(passwordHash, "account", "passwordHash", row),
        ]
        let isNew = try await database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO account (id, emailDigest, email, name, passwordHash) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (emailDigest) DO NOTHING
                    """,
                arguments: [row.uuidString, digest, values[0], values[1], values[2]])
            return db.changesCount == 1
        }
        // Two at once: keys that nothing was sealed with for good.
        if !isNew { try keys.destroy(account.id) }
        return isNew
    }

    /// The account of an address with its hash; nil if there is none, which takes as long.
    func signInRecord(of email: EmailAddress?) async throws -> SignInRecord? {
        let digest = try email.map { try self.digest(of: $0) } ?? Data()
        let found = try await sealedAccount("emailDigest = ?", [digest])
        guard let email, let found else {
            let decoy = try nobodysHash()
            _ = try AccountKeys.fresh(Self.nobody).open(decoy, "account", "passwordHash", Self.nobody)
            return nil
        }
        let sealing = AccountKeys.fresh(found.id)
        let passwordHash = try sealing.open(found.passwordHash, "account", "passwordHash", found.id)
        let name = try sealing.open(found.name, "account", "name", found.id)
        return SignInRecord(account: Account(id: found.id, email: email, name: name), passwordHash: passwordHash)
    }

    private func nobodysHash() throws -> Data {
        try keys.sealing(of: Self.nobody).seal("nobody", "account", "passwordHash", Self.nobody)
    }

    func account(_ id: Account.ID) async throws -> Account? {
        guard let found = try await sealedAccount("id = ?", [id.uuidString]) else { return nil }
        return try keys.opening(id) { sealing in
            guard let email = EmailAddress(try sealing.open(found.email, "account", "email", id)) else {
                throw DatabaseError(message: "the address of an account is none")
            }
            return Account(id: id, email: email, name: try sealing.open(found.name, "account", "name", id))
        }
    }

    /// A row, as it is stored.
    private struct SealedAccount: Sendable {
        let id: UUID
        let email, name, passwordHash: Data

        init?(_ row: Row) {
            guard let id = UUID(uuidString: row["id"]) else { return nil }
            (self.id, email, name, passwordHash) = (id, row["email"], row["name"], row["passwordHash"])
        }
    }

    private func sealedAccount(_ condition: String, _ arguments: StatementArguments) async throws -> SealedAccount? {
        try await database.read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM account WHERE \(condition) AND NOT isGoing", arguments: arguments)
                .flatMap(SealedAccount.init)
        }
    }

    func setPasswordHash(_ hash: String, of id: Account.ID) async throws {
        let value = try keys.sealing(of: id).seal(hash, "account", "passwordHash", id)
        try await database.write { db in
            try db.execute(
                sql: "UPDATE account SET passwordHash = ? WHERE id = ?", arguments: [value, id.uuidString])
        }
    }

    /// Removes an account with its friends, sessions and pictures, and destroys its keys.
    ///
    /// First it is noted that the account is to go: whatever interrupts this, it is finished at the next start.
    func delete(_ id: Account.ID, _ avatars: Avatars) async throws {
        try await database.write { db in
            try db.execute(sql: "UPDATE account SET isGoing = 1 WHERE id = ?", arguments: [id.uuidString])
        }
        // Whatever still writes for the account comes to its end before the keys do.
        keys.retire(id)
        try await avatars.removeAll(of: id)
        try keys.destroy(id)
        try await database.write { db in
            try db.execute(sql: "DELETE FROM account WHERE id = ?", arguments: [id.uuidString])
        }
        // What was in the log goes with it. Somebody who reads at the moment keeps it from that; then a later deletion
        // does it.
        try? await database.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }

    /// Finishes what an end of the process interrupted.
    func finishDeletions(_ avatars: Avatars) async throws {
        let going = try await database.read { try String.fetchAll($0, sql: "SELECT id FROM account WHERE isGoing") }
        for id in going.compactMap(UUID.init(uuidString:)) { try await delete(id, avatars) }
    }

    func accountIDs() async throws -> Set<Account.ID> {
        let ids = try await database.read { try String.fetchAll($0, sql: "SELECT id FROM account") }
        return Set(ids.compactMap(UUID.init(uuidString:)))
    }

    private func digest(of email: EmailAddress) throws -> Data {
        try keys.directory.digest(of: email.text, table: "account", column: "email").bytes
    }
}
