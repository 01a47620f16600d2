/// A lock for one thread at a time. It takes a few nanoseconds.
///
/// Statements take and release it. What they enclose may throw typed errors and use values that cannot be sent, which
/// the closures of a `Mutex` may not.
// Safe to share between threads: any thread may call the functions of a mutex, and the pointer never changes.
package final class ThreadLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func lock() { pthread_mutex_lock(mutex) }

    /// Takes the lock unless another thread holds it. Returns whether it did.
    package func lockIfAvailable() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    package func unlock() { pthread_mutex_unlock(mutex) }
}
