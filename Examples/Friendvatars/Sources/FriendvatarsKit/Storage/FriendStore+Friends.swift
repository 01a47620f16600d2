import Foundation
import GRDB
import ProtectedDatabase
import SealedFields

extension FriendStore {
    enum Insertion: Sendable {
        case added, isThere, tooMany
    }

    /// The friends of an account, by name.
    func friends(of account: Account.ID) async throws -> [Friend] {
        try await sealedFriends("account = ?", [account.uuidString]).compactMap { try open($0, of: account) }
            .sorted { ($0.name.lowercased(), $0.id.uuidString) < ($1.name.lowercased(), $1.id.uuidString) }
    }

    func friend(_ id: Friend.ID, of account: Account.ID) async throws -> Friend? {
        try await sealedFriends("id = ? AND account = ?", [id.uuidString, account.uuidString]).first
            .flatMap { try open($0, of: account) }
    }

    /// A row, as it is stored.
    private struct SealedFriend: Sendable {
        let id: UUID
        let email, name: Data

        init?(_ row: Row) {
            guard let id = UUID(uuidString: row["id"]) else { return nil }
            (self.id, email, name) = (id, row["email"], row["name"])
        }
    }

    private func sealedFriends(_ condition: String, _ arguments: StatementArguments) async throws -> [SealedFriend] {
        try await database.read { db in
            try Row.fetchAll(db, sql: "SELECT id, email, name FROM friend WHERE \(condition)", arguments: arguments)
                .compactMap(SealedFriend.init)
        }
    }

    private func open(_ found: SealedFriend, of account: Account.ID) throws -> Friend? {
        let sealing = try keys.sealing(of: account)
        guard let email = EmailAddress(try sealing.open(found.email, "friend", "email", found.id)) else { return nil }
        return Friend(id: found.id, email: email, name: try sealing.open(found.name, "friend", "name", found.id))
    }

    func insert(_ friend: Friend, of account: Account.ID, limit: Int) async throws -> Insertion {
        let sealing = try keys.sealing(of: account)
        let digest = try sealing.digest(of: friend.email.text, table: "friend", column: "email").bytes
        let email = try sealing.seal(friend.email.text, "friend", "email", friend.id)
        let name = try sealing.seal(friend.name, "friend", "name", friend.id)
        return try await database.write { db in
            let count = try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM friend WHERE account = ?", arguments: [account.uuidString])
            guard count ?? 0 < limit else { return .tooMany }
            try db.execute(
                sql: """
                    INSERT INTO friend (id, account, emailDigest, email, name) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (account, emailDigest) DO NOTHING
                    """,
                arguments: [friend.id.uuidString, account.uuidString, digest, email, name])
            return db.changesCount == 1 ? .added : .isThere
        }
    }

    func remove(_ id: Friend.ID, of account: Account.ID) async throws {
        try await database.write { db in
            try db.execute(
                sql: "DELETE FROM friend WHERE id = ? AND account = ?", arguments: [id.uuidString, account.uuidString])
        }
    }
}
