import Bytes
import CLibrary

/// State that several threads change, and wait for others to change.
// Safe to share between threads: `state` is touched in `withLock`, `change` and `wait` alone, which hold the mutex
// while they do; the two pointers never change. What they point at lives as long as this object.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A clock that nobody can set.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` while no other thread sees the state.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Does the same as ``withLock(_:)``, and wakes the threads that wait.
    package func change(_ body: (inout State) -> Void) {
        withLock(body)
        pthread_cond_broadcast(changed)
    }

    /// Runs `body` now and after each ``change(_:)``, until it returns true.
    ///
    /// - Returns: Whether it did so before `deadline`.
    package func wait(until deadline: ContinuousClock.Instant, for body: (inout State) -> Bool) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !body(&state) {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return false }
            // The condition has a clock of another kind than the deadline.
            var end = timespec()
            clock_gettime(CLOCK_MONOTONIC, &end)
            let nanoseconds = Int(left.components.attoseconds / 1_000_000_000) + end.tv_nsec
            end.tv_sec += Int(left.components.seconds) + nanoseconds / 1_000_000_000
            end.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(changed, mutex, &end)
        }
        return true
    }
}
