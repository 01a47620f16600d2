/// A value for one thread at a time. A thread that runs may take it before those that wait for it.
///
/// `Mutex` of the standard library hands itself to the thread that waits (`FUTEX_LOCK_PI` of futex(2)). Once two
/// threads have met there on a busy machine, each further use sleeps and is woken, as long as others come. This one
/// does not, and is for what each lookup uses.
// Safe to share between threads: the value is touched in `withLock` alone, which holds the lock meanwhile, and in
// `deinit`, which runs when no other use is left. The pointer never changes.
package struct UnfairMutex<Value>: ~Copyable, @unchecked Sendable {
    @usableFromInline let lock = ThreadLock()
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` while no other thread has the value.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
