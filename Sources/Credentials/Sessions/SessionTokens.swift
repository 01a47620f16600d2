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
/// A token is replaced by a newer one after a while. The old one is good for some seconds more, for requests that are on their way;
/// whoever shows it later has it from somewhere else, or its owner's successor has: then the whole sign-in ends.
public struct SessionTokens: Sendable {
    /// How long things are good.
    public struct Lifetimes: Sendable, Hashable {
        /// A token that is not shown for so long, in seconds, is void.
        public var idle: TimeInterval
        /// So long after signing in, in seconds, a person signs in again.
        public var whole: TimeInterval
        /// A token is replaced when it is so old, in seconds.
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
        return token
    }

    /// What a token stands for; nil for one that is not, or no longer, good.
    ///
    /// - Parameter text: As it was shown.
    public func check(_ text: String) async throws -> Visit? {
        guard let token = SessionToken(text), let session = try await store.session(token.hash) else { return nil }
        let now = now()
        guard now.timeIntervalSince(session.issued) < lifetimes.idle,
            now.timeIntervalSince(session.begun) < lifetimes.whole
        else {
            try await store.removeFamily(session.family)
            return nil
        }
        if let replaced = session.replaced {
            guard now.timeIntervalSince(replaced) <= lifetimes.grace else {
                try await store.removeFamily(session.family)
                return nil
            }
            return Visit(account: session.account, begun: session.begun, newToken: nil)
        }
        guard now.timeIntervalSince(session.issued) >= lifetimes.rotation else {
            return Visit(account: session.account, begun: session.begun, newToken: nil)
        }
        let newer = SessionToken()
        var next = session
        (next.hash, next.issued) = (newer.hash, now)
        // Of two requests at once one gets the newer token.
        let isReplaced = try await store.replace(session.hash, with: next)
        return Visit(account: session.account, begun: session.begun, newToken: isReplaced ? newer : nil)
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

    /// Removes what is void, which otherwise stays in the store until it is shown. For a task that runs now and then.
    public func removeExpired() async throws {
        let now = now()
        try await store.removeExpired(
            issuedBefore: now.addingTimeInterval(-lifetimes.idle), begunBefore: now.addingTimeInterval(-lifetimes.whole)
        )
    }
}
