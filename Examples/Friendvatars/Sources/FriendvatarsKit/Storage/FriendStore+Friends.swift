import Foundation
import GRDB
import ProtectedDatabase
import SealedFields

extension FriendStore {
    enum Insertion: Sendable {
        case added, isThere, tooMany
    }

    /// The list of an account, by name. What is damaged of it hides nothing else.
    func list(of account: Account.ID) async throws -> FriendList.Contents {
        let rows = try await sealedFriends("account = ?", [account.uuidString])
        guard !rows.isEmpty else { return FriendList.Contents() }
        return try keys.opening(account) { sealing in
            var contents = FriendList.Contents()
            for row in rows {
                if let friend = try row.opened(with: sealing) {
                    contents.friends.append(friend)
                } else {
                    contents.damaged.append(row.id)
                }
            }
            contents.friends.sort {
                ($0.name.lowercased(), $0.id.uuidString) < ($1.name.lowercased(), $1.id.uuidString)
            }
            return contents
        }
    }

    /// Somebody on the list of an account; nil for nobody, and for what is damaged.
    func friend(_ id: Friend.ID, of account: Account.ID) async throws -> Friend? {
        let rows = try await sealedFriends("id = ? AND account = ?", [id.uuidString, account.uuidString])
        return try keys.opening(account) { try rows.first?.opened(with: $0) }
    }

    /// A row, as it is stored.
    private struct SealedFriend: Sendable {
        let id: UUID
        let email, name: Data

        init?(_ row: Row) {
            guard let id = UUID(uuidString: row["id"]) else { return nil }
            (self.id, email, name) = (id, row["email"], row["name"])
        }

        /// Nil for what is damaged. A key that is not to be had is an error: then all of it would seem to be.
        func opened(with sealing: FieldSealing) throws -> Friend? {
            do {
                guard let email = EmailAddress(try sealing.open(email, "friend", "email", id)) else { return nil }
                return Friend(id: id, email: email, name: try sealing.open(name, "friend", "name", id))
            } catch let error as SealedFieldsError {
                let damages: [SealedFieldsError.Code] = [
                    .notAuthentic, .notSealed, .unsupported, .undecodableValue,
                ]
                if damages.contains(error.code) { return nil }
                throw error
            }
        }
    }

    private func sealedFriends(_ condition: String, _ arguments: StatementArguments) async throws -> [SealedFriend] {
        try await database.read { db in
            try Row.fetchAll(db, sql: "SELECT id, email, name FROM friend WHERE \(condition)", arguments: arguments)
                .compactMap(SealedFriend.init)
        }
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
