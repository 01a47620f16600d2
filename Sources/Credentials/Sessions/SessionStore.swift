import Foundation

/// A session, as a server keeps it: without the token.
public struct Session: Sendable, Hashable, Codable {
    /// SHA-256 of the token.
    public var hash: Data
    /// What the tokens of one sign-in have in common.
    public var family: UUID
    /// Who is signed in.
    public var account: String
    /// When the person signed in.
    public var begun: Date
    /// When this token was made.
    public var issued: Date
    /// When another token took its place; nil while none did.
    public var replaced: Date?

    /// A session; see the properties.
    public init(hash: Data, family: UUID, account: String, begun: Date, issued: Date, replaced: Date? = nil) {
        (self.hash, self.family, self.account) = (hash, family, account)
        (self.begun, self.issued, self.replaced) = (begun, issued, replaced)
    }
}

/// Where a server keeps its sessions.
public protocol SessionStore: Sendable {
    /// The session of a token with this hash.
    func session(_ hash: Data) async throws -> Session?
    /// Adds a session.
    func insert(_ session: Session) async throws
    /// Puts a session in the place of another: adds `new`, and notes of the one with the hash `old` when it was replaced, in one
    /// step, unless it is gone or was replaced before.
    ///
    /// - Returns: Whether that was done.
    func replace(_ old: Data, with new: Session) async throws -> Bool
    /// Removes the sessions of one sign-in.
    func removeFamily(_ family: UUID) async throws
    /// Removes all sessions of an account.
    func removeAll(of account: String) async throws
    /// Removes the sessions whose token was made before `date`, and those that began before `begun`.
    func removeExpired(issuedBefore date: Date, begunBefore begun: Date) async throws
}

/// Sessions in memory, which end with the program.
public actor MemorySessionStore: SessionStore {
    private var sessions: [Data: Session] = [:]

    /// Without sessions.
    public init() {}

    public func session(_ hash: Data) -> Session? { sessions[hash] }

    public func insert(_ session: Session) { sessions[session.hash] = session }

    public func replace(_ old: Data, with new: Session) -> Bool {
        guard sessions[old] != nil, sessions[old]?.replaced == nil else { return false }
        sessions[old]?.replaced = new.issued
        sessions[new.hash] = new
        return true
    }

    public func removeFamily(_ family: UUID) {
        sessions = sessions.filter { $0.value.family != family }
    }

    public func removeAll(of account: String) {
        sessions = sessions.filter { $0.value.account != account }
    }

    public func removeExpired(issuedBefore date: Date, begunBefore begun: Date) {
        sessions = sessions.filter { $0.value.issued >= date && $0.value.begun >= begun }
    }
}
