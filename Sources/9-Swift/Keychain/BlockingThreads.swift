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

    /// How many jobs may wait, and what is thrown for further ones.
    package struct WaitingLimit: Sendable {
        let count: Int
        let failure: any Error

        /// - Parameters:
        ///   - count: How many jobs may wait for a thread. One for which a thread is free does not wait.
        ///   - failure: What is thrown in the place of waiting.
        package init(_ count: Int, orThrow failure: any Error) { (self.count, self.failure) = (count, failure) }
    }

    private struct State {
        var jobs = JobQueue()
        var threads = 0
        /// Those that have no job, or are about to begin.
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

    /// How many jobs have not begun.
    package var waitingCount: Int { state.withLock { $0.jobs.count } }

    /// Runs `work` on one of the threads.
    ///
    /// - Throws: ``KeychainError/taskCanceled`` when the task was canceled before `work` began; work that
    ///   began is finished, since nobody could tell how far it got.
    func run<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await run(orThrow: KeychainError.taskCanceled, work)
    }

    /// Runs `work` on one of the threads.
    ///
    /// - Parameter waitingLimit: How many may wait, this one included; nil for any number.
    /// - Throws: `canceled` when the task was canceled before `work` began, at once: its job leaves the queue,
    ///   with all that it holds. Work that began is finished. And what `waitingLimit` says, when too many wait.
    package func run<Result: Sendable>(
        orThrow canceled: any Error, waitingLimit: WaitingLimit? = nil,
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let ticket = Ticket<Result>(canceled: canceled)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard ticket.wait(continuation) else { return }
                let place = submit(waitingLimit?.count) {
                    guard let continuation = ticket.begin() else { return }
                    continuation.resume(returning: Swift.Result { try work() })
                }
                if let place {
                    if ticket.isVoid(at: place) { leave(place) }
                } else if let waitingLimit {
                    ticket.begin()?.resume(returning: .failure(waitingLimit.failure))
                }
            }
        } onCancel: {
            if let place = ticket.cancel() { leave(place) }
        }
        return try outcome.get()
    }

    /// - Returns: The job's place; nil if more than `waitingLimit` would wait, and the job was not taken.
    private func submit(_ waitingLimit: Int?, _ job: @escaping JobQueue.Job) -> JobQueue.Place? {
        let (place, startsThread) = state.withLock { state -> (JobQueue.Place?, Bool) in
            let free = state.idle + limit - state.threads
            if let waitingLimit, state.jobs.count + 1 - free > waitingLimit { return (nil, false) }
            let place = state.jobs.append(job)
            guard state.idle < state.jobs.count, state.threads < limit else { return (place, false) }
            state.threads += 1
            state.idle += 1
            return (place, true)
        }
        guard place != nil else { return nil }
        if startsThread {
            let thread = Thread { self.work() }
            thread.name = "keychain"
            thread.start()
        }
        arrivals.signal()
        return place
    }

    /// Takes a job that was called off out of the queue.
    private func leave(_ place: JobQueue.Place) {
        // Let go of outside of the lock: what the job holds may do anything when it goes.
        let job = state.withLock { $0.jobs.remove(place) }
        guard job != nil else { return }
        // Its signal goes with it. If a thread has that already, it finds one job less than signals, and waits on; for
        // the other jobs there are as many signals as before.
        _ = arrivals.wait(timeout: .now())
    }

    private func work() {
        while let job = next() {
            job()
            state.withLock { $0.idle += 1 }
        }
    }

    /// The next job, or nil when none came for the idle time.
    private func next() -> JobQueue.Job? {
        while true {
            let timedOut = arrivals.wait(timeout: .now() + idleTime) == .timedOut
            let (job, ends) = state.withLock { state -> (JobQueue.Job?, Bool) in
                if let job = state.jobs.removeFirst() {
                    state.idle -= 1
                    return (job, false)
                }
                // A thread that timed out may have taken the job this signal was for.
                guard timedOut else { return (nil, false) }
                state.idle -= 1
                state.threads -= 1
                return (nil, true)
            }
            if let job { return job }
            if ends { return nil }
        }
    }
}

/// Jobs in the order in which they came, any of which may leave.
private struct JobQueue: Sendable {
    typealias Job = @Sendable () -> Void
    typealias Place = UInt64

    private var jobs: [Place: Job] = [:]
    /// None before it is there.
    private var first: Place = 0
    private var end: Place = 0

    var count: Int { jobs.count }

    mutating func append(_ job: @escaping Job) -> Place {
        defer { end += 1 }
        jobs[end] = job
        return end
    }

    mutating func removeFirst() -> Job? {
        guard !jobs.isEmpty else {
            first = end
            return nil
        }
        // Passes each place once.
        while first < end {
            defer { first += 1 }
            if let job = jobs.removeValue(forKey: first) { return job }
        }
        return nil
    }

    mutating func remove(_ place: Place) -> Job? { jobs.removeValue(forKey: place) }
}

/// Whether a job still waits, has begun or was called off: decides who resumes the waiting task.
private final class Ticket<Success: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Result<Success, any Error>, Never>

    private enum State {
        case new, begun, canceled
        case waiting(Continuation, JobQueue.Place?)
    }

    private let state = Mutex(State.new)
    private let canceled: any Error

    init(canceled: any Error) { self.canceled = canceled }

    /// Stores the waiting task's continuation. If the job was called off already, resumes the task and returns false.
    func wait(_ continuation: Continuation) -> Bool {
        let waits = state.withLock { state in
            if case .canceled = state { return false }
            state = .waiting(continuation, nil)
            return true
        }
        if !waits { continuation.resume(returning: .failure(canceled)) }
        return waits
    }

    /// Notes where the job waits; true if it was called off meanwhile, and has to leave.
    func isVoid(at place: JobQueue.Place) -> Bool {
        state.withLock { state in
            switch state {
            case .waiting(let continuation, _):
                state = .waiting(continuation, place)
                return false
            case .canceled: return true
            case .new, .begun: return false
            }
        }
    }

    /// The task that waits for the job that begins now; nil if the job was called off.
    func begin() -> Continuation? {
        state.withLock { state in
            guard case .waiting(let continuation, _) = state else { return nil }
            state = .begun
            return continuation
        }
    }

    /// Resumes the waiting task.
    ///
    /// - Returns: Where the job waits; nil if it does not, or not yet.
    func cancel() -> JobQueue.Place? {
        let (waiting, place) = state.withLock { state -> (Continuation?, JobQueue.Place?) in
            switch state {
            case .new:
                state = .canceled
                return (nil, nil)
            case .waiting(let continuation, let place):
                state = .canceled
                return (continuation, place)
            case .begun, .canceled:
                return (nil, nil)
            }
        }
        waiting?.resume(returning: .failure(canceled))
        return place
    }
}
