import Access
import FoundationEssentials
import KeychainModel
import Synchronization
import VaultInterface

/// What persons have shown on behalf of authentication contexts.
///
/// Kept here and not by the program: it names a context, and cannot say what the context was granted. A
/// context belongs to the client that first used it.
final class AuthenticationContexts: Sendable {
    /// A context of a client; another client's context of the same name is another.
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

    /// How long a person's showing counts. A forgotten context must not open items for as long as the vault
    /// runs; afterwards the person is asked again.
    static let lifetime = Duration.seconds(3600)
    /// The most contexts with a grant. The one that would expire first makes room.
    static let greatestCount = 1024
    /// The most ended contexts that are remembered. A program that uses one again is refused by its own
    /// `LAContext` too.
    private static let greatestEndedCount = 4096

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// What `context` was granted so far.
    ///
    /// - Throws: ``VaultError/presence(_:)`` when it was ended.
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

    /// Remembers that a person has shown `proofs`.
    ///
    /// - Throws: ``VaultError/presence(_:)`` when the context was ended while the person was asked.
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

    /// Forgets every grant: what was shown before a vault was locked says nothing about who unlocks it.
    func forgetGrants() {
        state.withLock { $0.grants.removeAll() }
    }
}
