import CLibrary

/// A limit for callers that ask more than their share: each program has a budget that fills up over time.
///
/// A program that has spent its budget waits, if others are served at the same time. A refusal costs much more than an
/// answer, and its caller waits in any case, so that guessing is slow.
final class RateLimiter: Sendable {
    private struct Budget {
        var tokens: Double
        var filled: ContinuousClock.Instant
    }

    private struct State {
        var budgets: [String: Budget] = [:]
        /// Who made the last request, and when.
        var last: (caller: String, time: ContinuousClock.Instant)?
        /// When a caller other than the last one made its last request.
        var other: ContinuousClock.Instant?
    }

    private let perSecond: Double
    /// Two seconds' worth.
    private let burst: Double
    private let state = UnfairMutex(State())
    /// The cost of a refused request, in requests. At the default rate a program gets 20 refusals a second over time.
    private static let refusalCost = 500.0
    private static let longestWait = 1.0
    /// How long a caller counts as one that is served, in seconds.
    private static let attention = 1.0
    /// The part of a processor's time that a budget is worth.
    private static let share = 0.5

    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: The clock.
    init(perSecond: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.perSecond = Double(perSecond)
        burst = Double(perSecond) * 2
        self.now = now
    }

    /// Waits until `caller` may go on with a request, or the other end of its socket is gone.
    ///
    /// - Returns: Whether the caller had used up its budget while others were served.
    func admit(_ caller: String, on socket: Int32) -> Bool {
        let seconds = spend(1, by: caller, for: .request)
        guard seconds > 0 else { return false }
        Self.wait(seconds, for: socket)
        return true
    }

    /// The same for a new connection, which costs more than a request: a thread, and a look at the process.
    func admitConnection(_ caller: String, on socket: Int32) {
        Self.wait(spend(Self.connectionCost, by: caller, for: .connection), for: socket)
    }

    private static let connectionCost = 50.0

    /// Takes the work of a request from the caller's budget: one that kept a processor busy for longer than a request
    /// may counts as several. The caller's next request waits for it.
    ///
    /// - Parameters:
    ///   - time: How long the request took, which is no less than its work.
    ///   - work: How long it kept a processor busy.
    func charge(_ caller: String, within time: Duration, forWork work: @autoclosure () -> Duration) {
        guard requests(in: time) > 1 else { return }
        let requests = requests(in: work())
        if requests > 1 { _ = spend(requests - 1, by: caller, for: .work) }
    }

    private func requests(in time: Duration) -> Double { (time / .seconds(1)) * perSecond / Self.share }

    /// Waits for a request that was refused.
    func refused(_ caller: String, on socket: Int32) {
        Self.wait(spend(Self.refusalCost, by: caller, for: .refusal), for: socket)
    }

    /// What a budget is spent on.
    enum Expense {
        case request, work, connection, refusal

        /// Whether it makes no debt while no other program is served.
        var isFreeAlone: Bool { self == .request || self == .work }
    }

    /// - Returns: How many seconds the caller is in debt.
    func spend(_ cost: Double, by caller: String, for expense: Expense) -> Double {
        guard perSecond > 0 else { return 0 }
        let now = now()
        return state.withLock { state in
            if expense == .request {
                if let last = state.last, last.caller != caller { state.other = last.time }
                state.last = (caller, now)
            }
            if state.budgets.count > 4096 { forgetFull(&state.budgets, now) }
            var budget = state.budgets[caller] ?? Budget(tokens: burst, filled: now)
            let seconds = (now - budget.filled) / .seconds(1)
            let before = min(burst, budget.tokens + seconds * perSecond)
            // Debt is bounded, so that a wait is.
            budget.tokens = max(before - cost, -perSecond * Self.longestWait)
            // A caller that is alone makes no debt, but keeps what refusals and connections made.
            let isAlone = state.other.map { (now - $0) / .seconds(1) > Self.attention } ?? true
            if expense.isFreeAlone, isAlone { budget.tokens = max(budget.tokens, min(before, 0)) }
            budget.filled = now
            state.budgets[caller] = budget
            return max(0, -budget.tokens / perSecond)
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
