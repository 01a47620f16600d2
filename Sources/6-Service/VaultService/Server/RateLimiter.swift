import CLibrary

/// A limit for callers that ask more than their share: each program has a budget that fills up over time, and waits
/// when it is spent. A refusal costs much more than an answer, so that guessing is slow.
final class RateLimiter: Sendable {
    private struct Budget {
        var tokens: Double
        var filled: ContinuousClock.Instant
    }

    private let perSecond: Double
    /// Two seconds' worth.
    private let burst: Double
    private let budgets = UnfairMutex<[String: Budget]>([:])
    /// What a refused request costs, in requests: 40 refusals a second at the default rate.
    private static let refusalCost = 500.0
    private static let longestWait = 1.0

    init(perSecond: Int) {
        self.perSecond = Double(perSecond)
        burst = Double(perSecond) * 2
    }

    /// Waits until `caller` may go on with a request, or the other end of its socket is gone.
    ///
    /// - Returns: Whether the caller had used up its budget.
    func admit(_ caller: String, on socket: Int32) -> Bool {
        let seconds = spend(1, by: caller)
        Self.wait(seconds, for: socket)
        return seconds > 0
    }

    /// The same for a new connection, which costs more than a request: a thread, and a look at the process.
    func admitConnection(_ caller: String, on socket: Int32) {
        Self.wait(spend(Self.connectionCost, by: caller), for: socket)
    }

    private static let connectionCost = 50.0

    /// Takes the work of a request from the caller's budget: one that kept a processor busy for as long as several may
    /// counts as several. The caller's next request waits for it.
    ///
    /// - Parameters:
    ///   - time: How long the request took, which is no less than its work.
    ///   - work: How long it kept a processor busy.
    func charge(_ caller: String, within time: Duration, forWork work: @autoclosure () -> Duration) {
        guard requests(in: time) > 1 else { return }
        let requests = requests(in: work())
        if requests > 1 { _ = spend(requests - 1, by: caller) }
    }

    private func requests(in time: Duration) -> Double { (time / .seconds(1)) * perSecond }

    func refused(_ caller: String, on socket: Int32) { Self.wait(spend(Self.refusalCost, by: caller), for: socket) }

    /// - Returns: How many seconds to wait.
    private func spend(_ cost: Double, by caller: String) -> Double {
        guard perSecond > 0 else { return 0 }
        let now = ContinuousClock.now
        return budgets.withLock { budgets in
            if budgets.count > 4096 { forgetFull(&budgets, now) }
            var budget = budgets[caller] ?? Budget(tokens: burst, filled: now)
            let seconds = (now - budget.filled) / .seconds(1)
            budget.tokens = min(burst, budget.tokens + seconds * perSecond) - cost
            // Debt is bounded, so that a wait is.
            budget.tokens = max(budget.tokens, -perSecond * Self.longestWait)
            budget.filled = now
            budgets[caller] = budget
            return budget.tokens >= 0 ? 0 : -budget.tokens / perSecond
        }
    }

    private func forgetFull(_ budgets: inout [String: Budget], _ now: ContinuousClock.Instant) {
        budgets = budgets.filter { (now - $0.value.filled) / .seconds(1) * perSecond + $0.value.tokens < burst }
    }

    private static func wait(_ seconds: Double, for socket: Int32) {
        guard seconds > 0 else { return }
        let seconds = min(seconds, longestWait)
        // poll(2) counts milliseconds.
        guard seconds > 0.002 else {
            usleep(useconds_t(seconds * 1e6))
            return
        }
        // Whoever hangs up meanwhile must not keep a thread.
        var polled = pollfd(fd: socket, events: 0, revents: 0)
        poll(&polled, 1, Int32(seconds * 1e3))
    }
}
