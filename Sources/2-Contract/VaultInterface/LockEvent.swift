/// Ends an observation when the last reference goes.
package final class LockObservation: Sendable {
    /// Whether the operation that locks waits until the observer was called.
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
    /// The keys will be wiped: at once, or after the grace of the lock operation. ``unlocked`` cancels that.
    case willLock = 1
    /// The keys are wiped. A program that holds keys of such files must discard them.
    case locked
    /// The keys can be used.
    case unlocked
}
