import Foundation

/// A session, as a server keeps it: without the token.
public struct SignInSession: Sendable, Hashable, Codable {
    /// SHA-256 of the token.
    public var hash: Data
    /// What the tokens of one sign-in have in common.
    public var family: UUID
    /// The account that is signed in.
    public var account: String
    /// When the person signed in.
    public var begun: Date
    /// When this token was made.
    public var issued: Date
    /// Whether the token was shown, so that somebody has it.
    public var isShown: Bool
    /// When another token took its place; nil while none did.
    public var replaced: Date?
    /// The hash of that token, which may have been replaced in its turn.
    public var successor: Data?

    /// A session whose token nobody has shown yet; see the properties.
    public init(hash: Data, family: UUID, account: String, begun: Date, issued: Date) {
        (self.hash, self.family, self.account) = (hash, family, account)
        (self.begun, self.issued, isShown) = (begun, issued, false)
    }
}

/// Where a server keeps its sessions.
public protocol SessionStore: Sendable {
    /// The session of a token with this hash.
    func session(_ hash: Data) async throws -> SignInSession?
    /// Adds a session.
    func insert(_ session: SignInSession) async throws
    /// Notes that the token with this hash was shown.
    func noteShown(_ hash: Data) async throws
    /// Puts a session in the place of others, in one step: adds `new`, and notes of the sessions with the hashes `old`
    /// and `newest` that it was issued in their place, and when.
    ///
    /// - Parameter newest: The newest session of the sign-in: `old` itself, unless that was replaced before. If it is
    ///   gone, or was replaced, nothing is done.
    /// - Returns: Whether it was done.
    func replace(_ old: Data, newest: Data, with new: SignInSession) async throws -> Bool
    /// Removes the sessions of one sign-in.
    func removeFamily(_ family: UUID) async throws
    /// Removes all sessions of an account.
    func removeAll(of account: String) async throws
    /// Removes the sessions whose token was made before `date`, and those that began before `begun`.
    func removeExpired(issuedBefore date: Date, begunBefore begun: Date) async throws
    /// Whether expired sessions are to be removed now. ``SessionTokens`` asks this after it has added a session, and
    /// removes them. False unless the store says otherwise: then a task has to call ``SessionTokens/removeExpired()``.
    func isRemovalDue() async throws -> Bool
}

extension SessionStore {
    /// False.
    public func isRemovalDue() async throws -> Bool { false }
}

/// Sessions in memory, which end with the program.
///
/// The store removes void sessions from time to time, when sessions are added. So it holds at most about twice as many
/// as it needs: the valid sessions, and the replaced ones that show whether a token was copied.
public actor MemorySessionStore: SessionStore {
    private var sessions: [Data: SignInSession] = [:]
    /// The number of sessions that were added since the last removal of void sessions.
    private var added = 0

    /// The number of sessions.
    var count: Int { sessions.count }

    /// Without sessions.
    public init() {}

    public func session(_ hash: Data) -> SignInSession? { sessions[hash] }

    public func insert(_ session: SignInSession) {
        sessions[session.hash] = session
        added += 1
    }

    public func noteShown(_ hash: Data) { sessions[hash]?.isShown = true }

    public func replace(_ old: Data, newest: Data, with new: SignInSession) -> Bool {
        guard let last = sessions[newest], last.replaced == nil else { return false }
        for hash in [old, newest] {
            sessions[hash]?.replaced = new.issued
            sessions[hash]?.successor = new.hash
        }
        sessions[new.hash] = new
        added += 1
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
        added = 0
    }

    /// Returns true when half of the sessions are new, and at least 500. So each session is checked about twice.
    public func isRemovalDue() -> Bool { added >= max(500, sessions.count / 2) }
}
