import Synchronization

/// Whether the vault is locked, as far as it was told.
final class LockState: Sendable {
    private let locked = Atomic<Bool>(false)

    var isLocked: Bool {
        get { locked.load(ordering: .acquiring) }
        set { locked.store(newValue, ordering: .releasing) }
    }
}
