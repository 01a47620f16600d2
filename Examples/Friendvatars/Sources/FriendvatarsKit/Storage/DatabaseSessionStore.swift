import Credentials
import Foundation
import GRDB
import ProtectedDatabase
import Synchronization

/// Keeps sessions in the database: hashes of tokens, and the account's number.
public final class DatabaseSessionStore: SessionStore {
    private let store: FriendStore
    private let additions = Atomic<Int>(0)

    /// - Parameter store: The database.
    public init(_ store: FriendStore) {
        self.store = store
    }

    /// At each start, and after every so many sign-ins and rotations.
    public func isRemovalDue() async throws -> Bool {
        additions.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 256)
    }

    public func session(_ hash: Data) async throws -> SignInSession? {
        try await store.database.read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM session WHERE hash = ?", arguments: [hash]).flatMap(
                SignInSession.init)
        }
    }

    public func insert(_ session: SignInSession) async throws {
        try await store.database.write { try session.insert(into: $0) }
    }

    public func noteShown(_ hash: Data) async throws {
        try await store.database.write { db in
            try db.execute(sql: "UPDATE session SET isShown = 1 WHERE hash = ?", arguments: [hash])
        }
    }

    public func replace(_ old: Data, newest: Data, with new: SignInSession) async throws -> Bool {
        try await store.database.write { db in
            let isNewest = try Bool.fetchOne(
                db, sql: "SELECT replaced IS NULL FROM session WHERE hash = ?", arguments: [newest])
            guard isNewest == true else { return false }
            try db.execute(
                sql: "UPDATE session SET replaced = ?, successor = ? WHERE hash IN (?, ?)",
                arguments: [new.issued.timeIntervalSinceReferenceDate, new.hash, old, newest])
            try new.insert(into: db)
            return true
        }
    }

    public func removeFamily(_ family: UUID) async throws {
        try await store.database.write { db in
            try db.execute(sql: "DELETE FROM session WHERE family = ?", arguments: [family.uuidString])
        }
    }

    public func removeAll(of account: String) async throws {
        try await store.database.write { db in
            try db.execute(sql: "DELETE FROM session WHERE account = ?", arguments: [account])
        }
    }

    public func removeExpired(issuedBefore date: Date, begunBefore begun: Date) async throws {
        try await store.database.write { db in
            try db.execute(
                sql: "DELETE FROM session WHERE issued < ? OR begun < ?",
                arguments: [date.timeIntervalSinceReferenceDate, begun.timeIntervalSinceReferenceDate])
        }
    }
}

extension SignInSession {
    fileprivate init?(_ row: Row) {
        guard let family = UUID(uuidString: row["family"]) else { return nil }
        self.init(
            hash: row["hash"], family: family, account: row["account"],
            begun: Date(timeIntervalSinceReferenceDate: row["begun"]),
            issued: Date(timeIntervalSinceReferenceDate: row["issued"]))
        isShown = row["isShown"]
        replaced = (row["replaced"] as Double?).map(Date.init(timeIntervalSinceReferenceDate:))
        successor = row["successor"]
    }

    fileprivate func insert(into db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO session (hash, family, account, begun, issued, isShown, replaced, successor)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                hash, family.uuidString, account, begun.timeIntervalSinceReferenceDate,
                issued.timeIntervalSinceReferenceDate, isShown, replaced?.timeIntervalSinceReferenceDate, successor,
            ])
    }
}
