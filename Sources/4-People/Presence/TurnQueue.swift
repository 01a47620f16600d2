import Access
import Synchronization

/// Lets one thread at a time use a shared resource, such as a terminal.
final class TurnQueue: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [Handoff<Bool>] = []
    }

    private let state = Mutex(State())

    /// Runs `body` when it is this thread's turn.
    ///
    /// - Returns: Nil if the turn did not come until `deadline`, or if the question was cancelled.
    func take<Result>(
        until deadline: ContinuousClock.Instant, _ cancellation: Cancellation, _ body: () -> Result
    ) -> Result? {
        let place = Handoff<Bool>()
        let isFree = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return true
            }
            state.waiting.append(place)
            return false
        }
        if !isFree {
            cancellation.withHandler({ place.put(false) }) { _ = place.wait(until: deadline) }
            // The queue decides whether the turn came, because the turn and the end of the waiting may come at the same
            // moment.
            let came = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0 === place }) else { return true }
                state.waiting.remove(at: index)
                return false
            }
            guard came else { return nil }
        }
        defer { pass() }
        return body()
    }

    private func pass() {
        let next = state.withLock { state -> Handoff<Bool>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.put(true)
    }
}
