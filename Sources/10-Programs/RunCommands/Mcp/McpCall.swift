import CommandKit
import StatusCodes
import Synchronization
import SystemLibraries

/// A call of a tool, from its request to its answer.
final class McpCall: Sendable {
    private struct State {
        var isCancelled = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Ends the call. Nobody waits for its answer.
    func cancel() {
        let end = state.withLock { state in
            state.isCancelled = true
            return state.end
        }
        end?()
    }

    /// Has `end` called when the call is cancelled, or now if it is already.
    func whenCancelled(_ end: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.end = end
            return state.isCancelled
        }
        if isCancelled { end() }
    }
}

/// Runs calls on threads, so many at a time.
final class McpCalls: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
    }

    private let state = Mutex(State())
    private static let mostRunning = 16
    private static let mostWaiting = 256

    /// - Returns: False if there are too many.
    func start(_ work: @escaping Work) -> Bool {
        let isNew: Bool? = state.withLock { state in
            if state.running < Self.mostRunning {
                state.running += 1
                return true
            }
            guard state.waiting.count < Self.mostWaiting else { return nil }
            state.waiting.append(work)
            return false
        }
        guard let isNew else { return false }
        guard isNew else { return true }
        let isStarted = DetachedThread.start("call") { [self] in
            var next: Work? = work
            while let work = next {
                work()
                next = state.withLock { state in
                    if state.waiting.isEmpty {
                        state.running -= 1
                        return nil
                    }
                    return state.waiting.removeFirst()
                }
            }
        }
        if !isStarted { state.withLock { $0.running -= 1 } }
        return isStarted
    }
}
