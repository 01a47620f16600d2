import Access
import CLibrary
import FoundationEssentials
import KeychainModel
import VaultInterface

/// The proofs of presence that authentication contexts were granted.
///
/// The vault keeps them: a program names a context, and cannot say what the context was granted. A context belongs to
/// the client that first used it.
final class AuthenticationContexts: Sendable {
    private struct Grant {
        var proofs: PresenceProofs
        let expiry: ContinuousClock.Instant
    }

    private struct State {
        var grants: [ClientContext: Grant] = [:]
        var ended = EndedContexts()
    }

    private let state = UnfairMutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// How long a grant counts. Afterwards the person is asked again, so that a forgotten context does not open items
    /// for as long as the vault runs.
    static let lifetime = Duration.seconds(3600)
    /// The most contexts with a grant. The one that would expire first makes room.
    static let greatestCount = 1024
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Returns the proofs that `context` was granted.
    ///
    /// - Throws: ``VaultError/presence(_:)`` if the context was ended.
    func proofs(of context: UUID?, _ client: Client) throws(VaultError) -> PresenceProofs {
        guard let context else { return PresenceProofs() }
        let key = ClientContext(context, of: client)
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
        let key = ClientContext(context, of: client)
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
        let key = ClientContext(context, of: client)
        state.withLock { state in
            state.grants[key] = nil
            state.ended.insert(key)
        }
    }

    /// Removes every grant: a proof from before a lock says nothing about the person who unlocks the vault.
    func forgetGrants() {
        state.withLock { $0.grants.removeAll() }
    }
}

/// The authentication contexts that were ended last. A program that uses one again is refused by its own `LAContext`
/// too, so that the oldest can be forgotten.
struct EndedContexts {
    private struct Endings {
        /// In the order of their ends.
        var contexts: [UUID] = []
        var known: Set<UUID> = []
        /// When the last one ended, as a number that grows.
        var last = 0
    }

    private var endings: [String: Endings] = [:]
    private var nameBytes = 0
    private var count = 0

    /// The number of contexts that are remembered of one client at least; twice as many at most.
    static let keptOfClient = 256
    /// The most clients, and the most bytes of their names together. The client whose last end is the longest ago makes
    /// room.
    static let mostClients = 256
    static let mostNameBytes = 1 << 18

    func contains(_ context: ClientContext) -> Bool {
        endings[context.client]?.known.contains(context.context) == true
    }

    mutating func insert(_ context: ClientContext) {
        guard !contains(context) else { return }
        if endings[context.client] == nil { makeRoom(for: context.client) }
        count += 1
        var own = endings.removeValue(forKey: context.client) ?? Endings()
        if own.contexts.count >= 2 * Self.keptOfClient {
            own.known.subtract(own.contexts.prefix(Self.keptOfClient))
            own.contexts.removeFirst(Self.keptOfClient)
        }
        own.contexts.append(context.context)
        own.known.insert(context.context)
        own.last = count
        endings[context.client] = own
    }

    private mutating func makeRoom(for client: String) {
        nameBytes += client.utf8.count
        while endings.count >= Self.mostClients || nameBytes > Self.mostNameBytes,
            let oldest = endings.min(by: { $0.value.last < $1.value.last })?.key
        {
            endings[oldest] = nil
            nameBytes -= oldest.utf8.count
        }
    }

    /// How many contexts are remembered, and how many bytes the names of their clients have.
    var size: (contexts: Int, nameBytes: Int) { (endings.values.reduce(0) { $0 + $1.contexts.count }, nameBytes) }
}
