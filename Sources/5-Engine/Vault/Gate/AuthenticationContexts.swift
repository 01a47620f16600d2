import Access
import FoundationEssentials
import KeychainModel
import Synchronization
import VaultInterface

/// The proofs of presence that authentication contexts were granted.
///
/// The vault keeps them: a program names a context, and cannot say what the context was granted. A context belongs to
/// the client that first used it.
final class AuthenticationContexts: Sendable {
    /// A context of one client. Contexts of different clients are different, also if they have the same identifier.
    private struct Key: Hashable {
        let client: String
        let context: UUID
    }

    private struct Grant {
        var proofs: PresenceProofs
        let expiry: ContinuousClock.Instant
    }

    private struct State {
        var grants: [Key: Grant] = [:]
        var ended: Set<Key> = []
        /// The ended ones in the order of their ends.
        var endings: [Key] = []
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// How long a grant counts. Afterwards the person is asked again, so that a forgotten context does not open items
    /// for as long as the vault runs.
    static let lifetime = Duration.seconds(3600)
    /// The most contexts with a grant. The one that would expire first makes room.
    static let greatestCount = 1024
    /// The most ended contexts that are remembered. A program that uses one again is refused by its own
    /// `LAContext` too.
    private static let greatestEndedCount = 4096

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// Returns the proofs that `context` was granted.
    ///
    /// - Throws: ``VaultError/presence(_:)`` if the context was ended.
    func proofs(of context: UUID?, _ client: Client) throws(VaultError) -> PresenceProofs {
        guard let context else { return PresenceProofs() }
        let key = Key(client: client.identifier, context: context)
        let now = now()
        let found: PresenceProofs? = state.withLock { state in
            if state.ended.contains(key) { return nil }
            guard let grant = state.grants[key] else { return PresenceProofs() }
            if grant.expiry > now { return grant.proofs }
            state.grants[key] = nil
            return PresenceProofs()
        }
        guard let found else { throw .presence(.invalidContext) }
        return found
    }

    /// Grants `proofs` to a context.
    ///
    /// - Throws: ``VaultError/presence(_:)`` if the context was ended while the person was asked.
    func grant(_ proofs: PresenceProofs, to context: UUID?, _ client: Client) throws(VaultError) {
        guard let context else { return }
        let key = Key(client: client.identifier, context: context)
        let now = now()
        let isEnded = state.withLock { state in
            if state.ended.contains(key) { return true }
            let known = state.grants[key].flatMap { $0.expiry > now ? $0.proofs : nil } ?? []
            if state.grants[key] == nil, state.grants.count >= Self.greatestCount,
                let oldest = state.grants.min(by: { $0.value.expiry < $1.value.expiry })
            {
                state.grants[oldest.key] = nil
            }
            state.grants[key] = Grant(proofs: known.union(proofs), expiry: now + Self.lifetime)
            return false
        }
        if isEnded { throw .presence(.appCancel) }
    }

    /// Forgets what `context` was granted, and refuses it from now on.
    func end(_ context: UUID, _ client: Client) {
        let key = Key(client: client.identifier, context: context)
        state.withLock { state in
            state.grants[key] = nil
            guard state.ended.insert(key).inserted else { return }
            state.endings.append(key)
            if state.endings.count >= 2 * Self.greatestEndedCount {
                state.ended.subtract(state.endings.prefix(Self.greatestEndedCount))
                state.endings.removeFirst(Self.greatestEndedCount)
            }
        }
    }

    /// Removes every grant: a proof from before a lock says nothing about the person who unlocks the vault.
    func forgetGrants() {
        state.withLock { $0.grants.removeAll() }
    }
}
