/// A signal of the system that concerns the lock of a vault.
package enum LockSignal: Sendable, Equatable {
    /// A session of the user was locked, or is about to be.
    case lock
    /// A session of the user was unlocked. This proves nothing: a vault stays locked until its passcode is given.
    case unlock
    /// The machine is about to sleep. It waits a few seconds for ``LockSignals/readyToSleep()``.
    case sleep
    /// The machine woke up.
    case wake
    /// A session of the user ended. `left` is the number of the remaining ones.
    case sessionEnded(left: Int)
}
