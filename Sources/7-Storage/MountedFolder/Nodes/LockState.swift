import Synchronization

/// Whether the vault is locked, according to the last event.
final class LockState: Sendable {
    private let locked = Atomic<Bool>(false)

    var isLocked: Bool {
        get { locked.load(ordering: .acquiring) }
        set { locked.store(newValue, ordering: .releasing) }
    }
}
