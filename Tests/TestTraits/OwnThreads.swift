import Foundation
import Synchronization

/// Runs tasks on threads of its own, as many as there is work at a time.
///
/// Work may block these threads. Those of Swift's pool, of which there are as many as processors, must not be blocked for
/// long: nothing else would go on.
final class OwnThreads: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var idle = 0
    }

    // Safe to share between threads: `state` is touched with the lock of `condition` held, and nothing else changes.
    private final class Queue: @unchecked Sendable {
        let condition = NSCondition()
        var state = State()
    }

    private let queue = Queue()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.condition.lock()
        queue.state.jobs.append(job)
        let needsThread = queue.state.idle < queue.state.jobs.count
        queue.condition.signal()
        queue.condition.unlock()
        guard needsThread else { return }
        let thread = Thread { [self] in work() }
        thread.stackSize = 8 << 20
        thread.start()
    }

    private func work() {
        while true {
            queue.condition.lock()
            queue.state.idle += 1
            while queue.state.jobs.isEmpty { queue.condition.wait() }
            queue.state.idle -= 1
            let job = queue.state.jobs.removeFirst()
            queue.condition.unlock()
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Lets so many tasks at a time through; the others wait without a thread.
final class Turnstile: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ width: Int) { state = Mutex(State(free: width)) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
