import FoundationEssentials
import Items
import Synchronization
import VaultInterface

/// Tells observers that the vault changed: at once for changes of this process, within half a second
/// for those of others.
final class ChangeNotifier: Sendable {
    private struct Observer {
        var audience: @Sendable () -> ChangeAudience
        var stream: AsyncStream<VaultChange>.Continuation
    }

    private struct State {
        var observers: [UUID: Observer] = [:]
        var isWatching = false
    }

    private let state = Mutex(State())

    /// Tells the observers of a change.
    ///
    /// - Parameter concerns: Returns whether an audience learns of it.
    func changed(_ origin: VaultChange.Origin, _ concerns: (ChangeAudience) -> Bool) {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers where concerns(observer.audience()) {
            observer.stream.yield(VaultChange(origin: origin))
        }
    }

    /// A stream that ends when its consumer stops.
    ///
    /// - Parameters:
    ///   - audience: Called for each change.
    ///   - store: Returns the present store, to which other processes may write; nil for a vault of this process alone.
    func stream(
        to audience: @escaping @Sendable () -> ChangeAudience, watching store: (@Sendable () -> ItemStore?)?
    ) -> AsyncStream<VaultChange> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let key = UUID()
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.observers[key] = nil }
            }
            let mustWatch = state.withLock { state in
                state.observers[key] = Observer(audience: audience, stream: continuation)
                defer { state.isWatching = state.isWatching || store != nil }
                return store != nil && !state.isWatching
            }
            if mustWatch, let store { watch(store) }
        }
    }

    /// Polls SQLite's data version, which changes when another connection commits, while anybody
    /// observes.
    private func watch(_ store: @escaping @Sendable () -> ItemStore?) {
        // Taken here and not in the task, which may begin only after somebody has committed.
        let first = StoreVersion(store())
        Task { [weak self] in
            var version = first
            while true {
                try? await Task.sleep(for: .milliseconds(250))
                guard let self, self.continuesWatching() else { return }
                let present = StoreVersion(store())
                if present != version {
                    version = present
                    self.changed(.anotherProcess) { $0.learnsOfUnknown }
                }
            }
        }
    }

    /// A store, and what changes with each commit of other connections to it.
    private struct StoreVersion: Equatable {
        private let store: ObjectIdentifier?
        private let data: Int64?

        init(_ store: ItemStore?) {
            self.store = store.map { ObjectIdentifier($0) }
            data = try? store?.dataVersion()
        }
    }

    private func continuesWatching() -> Bool {
        state.withLock { state in
            if state.observers.isEmpty { state.isWatching = false }
            return state.isWatching
        }
    }
}
