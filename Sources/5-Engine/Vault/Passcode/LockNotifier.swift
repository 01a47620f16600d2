import FoundationEssentials
import KeychainModel
import Synchronization
import VaultInterface

/// Tells observers of a vault's lock.
final class LockNotifier: Sendable {
    private struct State {
        var observers: [UUID: AsyncStream<LockEvent>.Continuation] = [:]
        var listeners: [UUID: @Sendable () -> Void] = [:]
        var last: LockEvent

        /// - Returns: Who has to be told now, without the lock.
        mutating func tell(_ event: LockEvent) -> [@Sendable () -> Void] {
            guard event != last else { return [] }
            last = event
            for observer in observers.values { observer.yield(event) }
            return event == .locked ? Array(listeners.values) : []
        }
    }

    private let state: Mutex<State>

    init(_ lockState: LockState) {
        state = Mutex(State(last: LockEvent(lockState)))
    }

    /// Tells how it is now, unless that was told last.
    ///
    /// - Parameter lockState: Asked while nobody else tells, so that of a locking and an unlocking at the same time the
    ///   one that came out last is told last.
    func tell(_ lockState: () -> LockState) {
        for listener in state.withLock({ $0.tell(LockEvent(lockState())) }) { listener() }
    }

    /// Tells that all keys are gone, whatever state those have that took their places.
    func tellOfErasing() {
        tellOfLocking()
        for listener in state.withLock({ $0.tell(.locked) }) { listener() }
    }

    /// Tells that the vault is about to be locked, unless it is.
    func tellOfLocking() {
        state.withLock { if $0.last == .unlocked { _ = $0.tell(.willLock) } }
    }

    /// Has `tell` called for each locking.
    func observe(_ tell: @escaping @Sendable () -> Void) -> LockObservation {
        let key = UUID()
        state.withLock { $0.listeners[key] = tell }
        return LockObservation(isImmediate: true) { [weak self] in
            self?.state.withLock { $0.listeners[key] = nil }
        }
    }

    /// A stream that begins with how it is now, and ends when its consumer stops.
    ///
    /// A consumer that falls behind misses older events, never the last ones.
    func stream() -> AsyncStream<LockEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(8)) { continuation in
            let key = UUID()
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.observers[key] = nil }
            }
            state.withLock { state in
                state.observers[key] = continuation
                if state.last == .willLock { continuation.yield(.unlocked) }
                continuation.yield(state.last)
            }
        }
    }
}

extension LockEvent {
    fileprivate init(_ state: LockState) {
        self = state == .unlocked ? .unlocked : .locked
    }
}
