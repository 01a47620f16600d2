import Foundation

/// Issues, checks and rotates the tokens with which people stay signed in to a server.
///
/// ```swift
/// let tokens = SessionTokens(store: MemorySessionStore())
/// let token = try await tokens.issue(for: user.id)               // at sign-in: into a cookie
/// guard let visit = try await tokens.check(cookie) else { … }    // at each request
/// if let newer = visit.newToken { … }                            // into the cookie
/// ```
///
/// A token is replaced by a newer one after a while. The old one is good for some seconds more, for requests that are on their way, and
/// until a newer one was shown: that may have got lost. Whoever shows it later has copied it, or has been copied from: then the whole
/// sign-in ends.
public struct SessionTokens: Sendable {
    /// How long things are good.
    public struct Lifetimes: Sendable, Hashable {
        /// Who shows no token for so long, in seconds, signs in again; at the earliest after half of it.
        public var idle: TimeInterval
        /// So long after signing in, in seconds, a person signs in again.
        public var whole: TimeInterval
        /// A token is replaced when it is so old, in seconds, or half as old as ``idle``.
        public var rotation: TimeInterval
        /// A token that was replaced is good for so long, in seconds.
        public var grace: TimeInterval

        /// Lifetimes; see the properties.
        public init(idle: TimeInterval, whole: TimeInterval, rotation: TimeInterval, grace: TimeInterval) {
            (self.idle, self.whole, self.rotation, self.grace) = (idle, whole, rotation, grace)
        }

        /// Two weeks, ninety days, one hour, one minute.
        public static let standard = Lifetimes(idle: 14 * 86_400, whole: 90 * 86_400, rotation: 3_600, grace: 60)
    }

    /// What a token that was shown has brought.
    public struct Visit: Sendable, Hashable {
        /// Who is signed in.
        public let account: String
        /// When the person signed in.
        public let begun: Date
        /// What all tokens of this sign-in have in common.
        public let family: UUID
        /// A token to be shown from now on in the place of this one; nil if it is still fresh.
        public let newToken: SessionToken?
    }

    private let store: any SessionStore
    private let lifetimes: Lifetimes
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - store: Where the sessions are.
    ///   - lifetimes: How long they are good.
    public init(store: any SessionStore, lifetimes: Lifetimes = .standard) {
        self.init(store: store, lifetimes: lifetimes) { Date() }
    }

    init(store: any SessionStore, lifetimes: Lifetimes, now: @escaping @Sendable () -> Date) {
        (self.store, self.lifetimes, self.now) = (store, lifetimes, now)
    }

    /// A token for somebody who has signed in.
    public func issue(for account: String) async throws -> SessionToken {
        let (token, now) = (SessionToken(), now())
        try await store.insert(
            Session(hash: token.hash, family: UUID(), account: account, begun: now, issued: now))
        if try await store.isRemovalDue() { try await removeExpired() }
        return token
    }

    /// What a token stands for; nil for one that is not, or no longer, good.
    ///
    /// - Parameter text: As it was shown.
    public func check(_ text: String) async throws -> Visit? {
        guard let token = SessionToken(text), let session = try await store.session(token.hash) else { return nil }
        let now = now()
        guard now.timeIntervalSince(session.begun) < lifetimes.whole else { return try await end(session) }
        if let replaced = session.replaced {
            let age = now.timeIntervalSince(replaced)
            if age <= lifetimes.grace { return visit(session) }
            guard age < lifetimes.idle, let newest = try await newest(after: session) else {
                return try await end(session)
            }
            return try await renew(session, newest: newest.hash, now)
        }
        guard now.timeIntervalSince(session.issued) < lifetimes.idle else { return try await end(session) }
        if !session.isShown { try await store.noteShown(session.hash) }
        // In good time before it is void, so that who comes again is not signed out.
        let isDue = now.timeIntervalSince(session.issued) >= min(lifetimes.rotation, lifetimes.idle / 2)
        return isDue ? try await renew(session, newest: session.hash, now) : visit(session)
    }

    private func visit(_ session: Session, _ newToken: SessionToken? = nil) -> Visit {
        Visit(account: session.account, begun: session.begun, family: session.family, newToken: newToken)
    }

    private func end(_ session: Session) async throws -> Visit? {
        try await store.removeFamily(session.family)
        return nil
    }

    /// The newest of the sign-in; nil if somebody has one that is newer than `session`, and so has shown it.
    private func newest(after session: Session) async throws -> Session? {
        var newest = session
        while let hash = newest.successor {
            guard let successor = try await store.session(hash), !successor.isShown else { return nil }
            newest = successor
        }
        return newest
    }

    private func renew(_ session: Session, newest: Data, _ now: Date) async throws -> Visit? {
        let newer = SessionToken()
        let next = Session(
            hash: newer.hash, family: session.family, account: session.account, begun: session.begun, issued: now)
        if try await store.replace(session.hash, newest: newest, with: next) {
            if try await store.isRemovalDue() { try await removeExpired() }
            return visit(session, newer)
        }
        // Of two requests at once one gets the newer token; and somebody may have signed out meanwhile.
        return try await store.session(session.hash).map { visit($0) }
    }

    /// Ends the session of a token, as on sign-out.
    public func revoke(_ text: String) async throws {
        guard let token = SessionToken(text), let session = try await store.session(token.hash) else { return }
        try await store.removeFamily(session.family)
    }

    /// Ends all sessions of an account, as after a new password.
    public func revokeAll(of account: String) async throws {
        try await store.removeAll(of: account)
    }

    /// Removes what is void, which otherwise stays in the store until it is shown. For a task that runs now and then, where the
    /// store does not ask for it (``SessionStore/isRemovalDue()``).
    public func removeExpired() async throws {
        let now = now()
        try await store.removeExpired(
            issuedBefore: now.addingTimeInterval(-lifetimes.idle), begunBefore: now.addingTimeInterval(-lifetimes.whole)
        )
    }
}
