import Dispatch
import Foundation
import Synchronization

/// A few threads for work that blocks, apart from those that Swift's tasks share.
///
/// A vault operation may wait for a disk, another process or a person. Tasks must not wait so on the
/// cooperative pool, and Dispatch's concurrent queues draw on the same threads as that pool on Linux.
/// A thread is started when there is work and none is idle, and ends when it had nothing to do for a
/// while.
package final class BlockingThreads: Sendable {
    /// Shared by all keychains. Eight operations at a time: the store is written by one at a time, and
    /// more than a few prompts at once help nobody.
    static let shared = BlockingThreads(limit: 8, idleTime: .seconds(10))

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var threads = 0
        var idle = 0
    }

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)
    private let limit: Int
    private let idleTime: DispatchTimeInterval

    /// - Parameters:
    ///   - limit: How many jobs run at a time.
    ///   - idleTime: How long a thread waits for the next one.
    package init(limit: Int, idleTime: DispatchTimeInterval) {
        self.limit = limit
        self.idleTime = idleTime
    }

    /// Runs `work` on one of the threads.
    ///
    /// - Throws: ``KeychainError/taskCanceled`` when the task was canceled before `work` began; work that
    ///   began is finished, since nobody could tell how far it got.
    func run<Result: Sendable>(
        _ work: @escaping @Sendable () throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        try await run(orThrow: .taskCanceled, work)
    }

    /// Runs `work` on one of the threads.
    ///
    /// - Throws: `canceled` when the task was canceled before `work` began; work that began is finished.
    package func run<Result: Sendable, Failure: Error>(
        orThrow canceled: Failure, _ work: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let ticket = Ticket<Result, Failure>(canceled: canceled)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard ticket.wait(continuation) else { return }
                submit {
                    guard let continuation = ticket.begin() else { return }
                    continuation.resume(returning: Self.result(of: work))
                }
            }
        } onCancel: {
            ticket.cancel()
        }
        return try outcome.get()
    }

    private static func result<Success, Failure: Error>(
        of work: () throws(Failure) -> Success
    ) -> Result<Success, Failure> {
        do {
            return .success(try work())
        } catch {
            return .failure(error)
        }
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        let startsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.idle < state.jobs.count, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        if startsThread {
            let thread = Thread { self.work() }
            thread.name = "keychain"
            thread.start()
        }
        arrivals.signal()
    }

    private func work() {
        while let job = next() { job() }
    }

    /// The next job, or nil when none came for the idle time.
    private func next() -> (@Sendable () -> Void)? {
        while true {
            state.withLock { $0.idle += 1 }
            let timedOut = arrivals.wait(timeout: .now() + idleTime) == .timedOut
            let (job, ends) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
                state.idle -= 1
                if !state.jobs.isEmpty { return (state.jobs.removeFirst(), false) }
                // A thread that timed out may have taken the job this signal was for.
                guard timedOut else { return (nil, false) }
                state.threads -= 1
                return (nil, true)
            }
            if let job { return job }
            if ends { return nil }
        }
    }
}

/// Whether a job still waits, has begun or was called off: decides who resumes the waiting task.
private final class Ticket<Success: Sendable, Failure: Error>: Sendable {
    typealias Continuation = CheckedContinuation<Result<Success, Failure>, Never>

    private enum State {
        case new, begun, canceled
        case waiting(Continuation)
    }

    private let state = Mutex(State.new)
    private let canceled: Failure

    init(canceled: Failure) { self.canceled = canceled }

    /// Notes who waits; false, having resumed it, if the job was called off already.
    func wait(_ continuation: Continuation) -> Bool {
        let waits = state.withLock { state in
            if case .canceled = state { return false }
            state = .waiting(continuation)
            return true
        }
        if !waits { continuation.resume(returning: .failure(canceled)) }
        return waits
    }

    /// Who waits for the job that begins now; nil if it was called off.
    func begin() -> Continuation? {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .begun
            return continuation
        }
    }

    func cancel() {
        let waiting = state.withLock { state -> Continuation? in
            switch state {
            case .new:
                state = .canceled
                return nil
            case .waiting(let continuation):
                state = .canceled
                return continuation
            case .begun, .canceled:
                return nil
            }
        }
        waiting?.resume(returning: .failure(canceled))
    }
}
