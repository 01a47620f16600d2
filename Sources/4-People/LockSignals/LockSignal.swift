/// Something the system says that bears on the lock of a vault.
package enum LockSignal: Sendable, Equatable {
    /// A session of the user is to be locked, or was.
    case lock
    /// It was unlocked. This is no proof of anything: a vault stays locked until its passcode is given.
    case unlock
    /// The machine is about to sleep, and waits for ``LockSignals/readyToSleep()`` for a few seconds.
    case sleep
    /// It woke up.
    case wake
    /// A session of the user ended; so many are left.
    case sessionEnded(left: Int)
}
