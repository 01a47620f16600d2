/// Ends an observation when the last reference goes.
package final class LockObservation: Sendable {
    /// Whether who locks waits until it was told.
    package let isImmediate: Bool
    private let end: @Sendable () -> Void

    package init(isImmediate: Bool, end: @escaping @Sendable () -> Void) {
        self.isImmediate = isImmediate
        self.end = end
    }

    deinit { end() }
}

/// What happens to the keys of classes that are open only while the vault is unlocked.
package enum LockEvent: UInt8, Sendable, CaseIterable {
    /// They will be wiped soon: at once, or after the grace that was asked for. May be called off by ``unlocked``.
    case willLock = 1
    /// They are wiped. Whoever holds keys of such files has to give them up.
    case locked
    /// They can be used.
    case unlocked
}
