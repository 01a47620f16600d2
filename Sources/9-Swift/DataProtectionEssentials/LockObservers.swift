import Dispatch
import Synchronization
import VaultInterface

/// Tells the holders of keys of class `complete` when their vault is locked. Each vault in use has one observer.
final class LockObservers: Sendable {
    static let shared = LockObservers()

    private struct Holder {
        weak var value: LockGuard?
    }

    /// Tells whether a vault is still the one it was: another may have its address later.
    private struct Presence: Sendable {
        weak let vault: (any Vault)?
    }

    private struct Observer {
        let presence: Presence
        let number: UInt64
        var holders: [ObjectIdentifier: Holder] = [:]
        var observation: LockObservation?
    }

    private struct State {
        var observers: [ObjectIdentifier: Observer] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Adds a holder that is about to get its key.
    func add(_ holder: LockGuard, of session: VaultSession) {
        let key = ObjectIdentifier(session.vault)
        let presence = Presence(vault: session.vault)
        let started = state.withLock { state -> UInt64? in
            state.observers = state.observers.filter { $0.value.presence.vault != nil }
            let isObserved = state.observers[key] != nil
            if !isObserved {
                state.last += 1
                state.observers[key] = Observer(presence: presence, number: state.last)
            }
            state.observers[key]?.holders[ObjectIdentifier(holder)] = Holder(value: holder)
            return isObserved ? nil : state.last
        }
        if let started { observe(session, key, started) }
    }

    /// - Parameter holder: One that was added, and may be about to go.
    func remove(_ holder: ObjectIdentifier, of session: VaultSession) {
        let key = ObjectIdentifier(session.vault)
        state.withLock { _ = $0.observers[key]?.holders.removeValue(forKey: holder) }
    }

    private func observe(_ session: VaultSession, _ key: ObjectIdentifier, _ number: UInt64) {
        let client = session.client
        let presence = Presence(vault: session.vault)
        let isImmediate = Mutex(false)
        let observation = session.vault.observeLocking {
            // The notice may arrive late. A guard that is added after this point gets its key after that lock. If the
            // vault is unlocked again, files that were opened since must stay open.
            let holders = self.holders(key, number)
            if !isImmediate.withLock({ $0 }) {
                let status = try? presence.vault?.perform(ReadStatus(), as: client)
                if status?.lockState == .unlocked { return }
            }
            for holder in holders { holder.lock() }
        }
        isImmediate.withLock { $0 = observation.isImmediate }
        state.withLock { if $0.observers[key]?.number == number { $0.observers[key]?.observation = observation } }
    }

    private func holders(_ key: ObjectIdentifier, _ number: UInt64) -> [LockGuard] {
        state.withLock { state in
            guard let observer = state.observers[key], observer.number == number else { return [] }
            return observer.holders.values.compactMap(\.value)
        }
    }
}

/// Whether the vault was locked since somebody got a key of class `complete` from it.
package final class LockGuard: Sendable {
    private struct State {
        var isLocked = false
        var discard: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let session: VaultSession

    /// Starts to watch. A caller that asks for the key after this misses no lock.
    package init(_ session: VaultSession) {
        self.session = session
        LockObservers.shared.add(self, of: session)
    }

    deinit { LockObservers.shared.remove(ObjectIdentifier(self), of: session) }

    package var isLocked: Bool { state.withLock { $0.isLocked } }

    /// - Parameter discard: Wipes the key, once the vault is locked.
    package func onLock(_ discard: @escaping @Sendable () -> Void) {
        let isLocked = state.withLock { state in
            if !state.isLocked { state.discard = discard }
            return state.isLocked
        }
        if isLocked { discard() }
    }

    func lock() {
        let discard = state.withLock { state in
            defer { state.discard = nil }
            state.isLocked = true
            return state.discard
        }
        // On another thread: the caller that learns of the lock may be in the middle of an operation on the file.
        if let discard { DispatchQueue.global().async(execute: discard) }
    }
}
