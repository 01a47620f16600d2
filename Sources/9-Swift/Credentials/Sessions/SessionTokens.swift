import Bytes
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
/// A token is replaced by a newer one after a while. The old one stays good for some seconds, for requests that are on
/// their way, and until the newer one is shown, which may have got lost. If it is shown later, somebody has copied a
/// token: then the whole sign-in ends.
public struct SessionTokens: Sendable {
    /// How long things are good.
    public struct Lifetimes: Sendable, Hashable {
        /// The time without a request after which a person has to sign in again. The time counts from the creation of
        /// the token, so a person may have to sign in again after half of it.
        public var idle: Duration
        /// The time after sign-in until the person has to sign in again.
        public var whole: Duration
        /// The age at which a token is replaced. At half of ``idle`` it is replaced in any case.
        public var rotation: Duration
        /// How long a token is good after it was replaced.
        public var grace: Duration

        /// Lifetimes; see the properties.
        public init(idle: Duration, whole: Duration, rotation: Duration, grace: Duration) {
            (self.idle, self.whole, self.rotation, self.grace) = (idle, whole, rotation, grace)
        }

        /// Two weeks, ninety days, one hour, one minute.
        public static let standard = Lifetimes(
            idle: .seconds(14 * 86_400), whole: .seconds(90 * 86_400), rotation: .seconds(3_600), grace: .seconds(60))
    }

    /// What a token that was shown has brought.
    public struct Visit: Sendable, Hashable {
        /// The account that is signed in.
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

    /// Returns a new token for a person who has signed in.
    public func issue(for account: String) async throws -> SessionToken {
        let (token, now) = (SessionToken(), now())
        try await store.insert(
            SignInSession(hash: token.hash, family: UUID(), account: account, begun: now, issued: now))
        if try await store.isRemovalDue() { try await removeExpired() }
        return token
    }

    /// What a token stands for; nil for one that is not, or no longer, good.
    ///
    /// - Parameter text: As it was shown.
    public func check(_ text: String) async throws -> Visit? {
        guard let token = SessionToken(text), let session = try await store.session(token.hash) else { return nil }
        let now = now()
        guard session.begun.duration(to: now) < lifetimes.whole else { return try await end(session) }
        if let replaced = session.replaced {
            let age = replaced.duration(to: now)
            if age <= lifetimes.grace { return visit(session) }
            guard age < lifetimes.idle, let newest = try await newest(after: session) else {
                return try await end(session)
            }
            return try await renew(session, newest: newest.hash, now)
        }
        guard session.issued.duration(to: now) < lifetimes.idle else { return try await end(session) }
        if !session.isShown { try await store.noteShown(session.hash) }
        // Well before it is void, so that people who come back are not signed out.
        let isDue = session.issued.duration(to: now) >= min(lifetimes.rotation, lifetimes.idle / 2)
        return isDue ? try await renew(session, newest: session.hash, now) : visit(session)
    }

    private func visit(_ session: SignInSession, _ newToken: SessionToken? = nil) -> Visit {
        Visit(account: session.account, begun: session.begun, family: session.family, newToken: newToken)
    }

    private func end(_ session: SignInSession) async throws -> Visit? {
        try await store.removeFamily(session.family)
        return nil
    }

    /// Returns the newest session of the sign-in; nil if a client has already shown a token that is newer than
    /// `session`.
    private func newest(after session: SignInSession) async throws -> SignInSession? {
        var newest = session
        var passed: Set<Data> = [session.hash]
        while let hash = newest.successor {
            // A store whose sessions follow each other in a circle has no newest one.
            guard passed.insert(hash).inserted, let successor = try await store.session(hash), !successor.isShown else {
                return nil
            }
            newest = successor
        }
        return newest
    }

    private func renew(_ session: SignInSession, newest: Data, _ now: Date) async throws -> Visit? {
        let newer = SessionToken()
        let next = SignInSession(
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

    /// Removes what is void, which otherwise stays in the store until it is shown. For a task that runs now and then,
    /// where the store does not ask for it (``SessionStore/isRemovalDue()``).
    public func removeExpired() async throws {
        let now = now()
        try await store.removeExpired(
            issuedBefore: now.before(lifetimes.idle), begunBefore: now.before(lifetimes.whole)
        )
    }
}

extension Date {
    // A store returns what was written to it, which can be any date.
    fileprivate func duration(to later: Date) -> Duration { Duration(clampingSeconds: later.timeIntervalSince(self)) }

    /// The date that is this far in the past.
    fileprivate func before(_ duration: Duration) -> Date { addingTimeInterval(-(duration / .seconds(1))) }
}
