import Bytes
import Foundation
import Synchronization
import VaultInterface
import VaultKeys

/// The part of an authentication context that the keychain works with: its name, its application password,
/// and the vaults that it was used with.
///
/// What a person has shown is not in here. The vault keeps it, under the name, so that a program cannot grant
/// itself anything.
public final class _SecAuthenticationState: Sendable {
    private struct State {
        var isInvalidated = false
        var applicationPassword: SecretBytes?
        var sessions: [VaultSession] = []
    }

    /// The most vaults and clients that are remembered; a program has one.
    private static let greatestSessionCount = 16

    package let identifier = UUID()
    private let state = Mutex(State())

    /// A context that was granted nothing.
    public init() {}

    package var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    package var applicationPassword: SecretBytes? {
        get { state.withLock { $0.applicationPassword } }
        set { state.withLock { $0.applicationPassword = newValue } }
    }

    /// Remembers where the context is used, so that it can be ended there.
    ///
    /// - Returns: False if the context was invalidated; the vault knows it then.
    @discardableResult
    package func use(in session: VaultSession) -> Bool {
        let isUsable = remember(session)
        if !isUsable { end(in: session) }
        return isUsable
    }

    private func remember(_ session: VaultSession) -> Bool {
        state.withLock { state in
            guard !state.isInvalidated else { return false }
            let isKnown = state.sessions.contains {
                $0.vault === session.vault && $0.client == session.client
            }
            if !isKnown { state.sessions.append(session) }
            if state.sessions.count > Self.greatestSessionCount { state.sessions.removeFirst() }
            return true
        }
    }

    /// Ends the context for good wherever it was used.
    package func invalidate() {
        let sessions = state.withLock { state in
            state.isInvalidated = true
            state.applicationPassword = nil
            defer { state.sessions = [] }
            return state.sessions
        }
        for session in sessions { end(in: session) }
    }

    private func end(in session: VaultSession) {
        // A daemon that is out of reach has forgotten the context.
        _ = try? session.perform(EndContext(identifier))
    }

    deinit {
        invalidate()
    }
}

extension _SecAuthenticationState: KeyUseContext {
    package func willUse(_ session: VaultSession) { use(in: session) }
}
