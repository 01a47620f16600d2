import Access
import Bytes
import CLibrary

/// A limit for programs that ask more than their share: each has a budget that fills up over time, and so has each user
/// for all programs together, because a user can give a program many names.
///
/// A program that has spent its budget, or its user's, waits, if others are served at the same time. A refusal costs
/// much more than an answer, and its program waits in any case, so that guessing is slow.
final class RateLimiter: Sendable {
    private struct State {
        var programs = Budgets<ServedProgram>()
        var users = Budgets<UInt32>()
    }

    private let rate: BudgetRate
    private let state = UnfairMutex(State())
    /// The cost of a refused request, in requests. At the default rate a program gets 20 refusals a second over time.
    private static let refusalCost = 500.0
    private static let connectionCost = 50.0
    /// The part of a processor's time that a program's budget is worth.
    private static let share = 0.5
    /// How often the time counts for which a change of items keeps the writer for itself, after ``freeWriting``. There
    /// is one writer, and nobody takes it away from a transaction: each makes one call of others wait until its end.
    /// So long ones must be few.
    private static let writingCost = 8
    /// Some 50 items.
    private static let freeWriting = Duration.milliseconds(5)
    /// A request is put off again for as much debt. Less is a matter of chance, and to look again costs something.
    private static let longDebt = 0.1
    /// How many times as much as a program's a user's budget is worth.
    private static let programsOfUser = 2.0

    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - perSecond: The requests of one program; 0 for no limit.
    ///   - now: The clock.
    init(perSecond: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        rate = BudgetRate(perSecond: Double(perSecond))
        self.now = now
    }

    /// Counts a request.
    ///
    /// - Returns: How long it has to be put off, if the program, or its user, has used up the budget while others were
    ///   served.
    func admit(_ program: ServedProgram) -> Duration { Self.delay(spend(1, by: program, for: .request)) }

    /// The same for a new connection, which costs more than a request: a look at the process.
    func admitConnection(_ program: ServedProgram) -> Duration {
        Self.delay(spend(Self.connectionCost, by: program, for: .connection))
    }

    /// Takes the work of a request from the budget: one that kept a processor busy for longer than a request may counts
    /// as several. The program's next request waits for it.
    ///
    /// - Parameters:
    ///   - time: How long the request took, which is no less than its work.
    ///   - work: How long it kept a processor busy.
    ///   - writes: Whether that was a change of items.
    func charge(
        _ program: ServedProgram, within time: Duration, forWork work: @autoclosure () -> Duration,
        writes: Bool = false
    ) {
        guard requests(in: time) > 1 else { return }
        let work = work()
        let writing = writes ? max(.zero, work - Self.freeWriting) * (Self.writingCost - 1) : .zero
        let requests = requests(in: work + writing)
        if requests > 1 { _ = spend(requests - 1, by: program, for: .work) }
    }

    /// How long a request that was put off has to be put off again, because the program's other requests have spent
    /// what came in meanwhile. Otherwise a program with many connections would get more than its share.
    ///
    /// What other programs of its user spend does not count: they must not keep it waiting for ever.
    func remainingDelay(of program: ServedProgram) -> Duration {
        let now = now()
        let debt = state.withLock { $0.programs.debt(of: program, at: now, rate) }
        return debt > Self.longDebt ? Self.delay(debt) : .zero
    }

    private func requests(in time: Duration) -> Double { (time / .seconds(1)) * rate.perSecond / Self.share }

    /// The same for the answer to a request that was refused.
    func refused(_ program: ServedProgram) -> Duration {
        Self.delay(spend(Self.refusalCost, by: program, for: .refusal))
    }

    /// What a budget is spent on.
    enum Expense {
        case request, work, connection, refusal

        /// Whether it makes no debt while nobody else is served.
        var isFreeAlone: Bool { self == .request || self == .work }
    }

    /// - Returns: How many seconds the program, or its user, is in debt.
    func spend(_ cost: Double, by program: ServedProgram, for expense: Expense) -> Double {
        guard rate.perSecond > 0 else { return 0 }
        let now = now()
        return state.withLock { state in
            let debt = state.programs.spend(cost, by: program, for: expense, at: now, rate)
            // What one program guesses, and its connections, must not delay the others of its user.
            guard program.hasChosenName, expense.isFreeAlone else { return debt }
            return max(
                debt, state.users.spend(cost / Self.programsOfUser, by: program.user, for: expense, at: now, rate))
        }
    }

    /// Equal debts are put off for times of their own, so that those who have them do not all come back at once.
    private static func delay(_ seconds: Double) -> Duration {
        guard seconds > 0 else { return .zero }
        return Duration(clampingSeconds: min(seconds, BudgetRate.longestWait) * .random(in: 0.9...1.1))
    }
}

/// How fast budgets fill up.
private struct BudgetRate: Sendable {
    let perSecond: Double
    /// Two seconds' worth.
    var burst: Double { perSecond * 2 }
    /// Debt is bounded, so that a wait is; in seconds.
    static let longestWait = 1.0
}

/// The budgets of callers, and who was served last.
private struct Budgets<Caller: Hashable & Sendable>: Sendable {
    private struct Budget {
        var tokens: Double
        var filled: ContinuousClock.Instant
    }

    private var budgets: [Caller: Budget] = [:]
    /// The program that made the last request, and when it did.
    private var last: (caller: Caller, time: ContinuousClock.Instant)?
    /// When a caller other than the last one made its last request.
    private var other: ContinuousClock.Instant?

    /// How long a caller counts as one that is served, in seconds.
    private var attention: Double { 1 }

    /// - Returns: How many seconds the caller is in debt.
    mutating func spend(
        _ cost: Double, by caller: Caller, for expense: RateLimiter.Expense, at now: ContinuousClock.Instant,
        _ rate: BudgetRate
    ) -> Double {
        if expense == .request {
            if let last, last.caller != caller { other = last.time }
            last = (caller, now)
        }
        if budgets.count > 4096 { forgetFull(now, rate) }
        var budget = budgets[caller] ?? Budget(tokens: rate.burst, filled: now)
        let seconds = (now - budget.filled) / .seconds(1)
        let before = min(rate.burst, budget.tokens + seconds * rate.perSecond)
        budget.tokens = max(before - cost, -rate.perSecond * BudgetRate.longestWait)
        // A caller that is alone makes no debt, but keeps what refusals and connections made.
        // Requests of others may have come since the one that is paid for here.
        let served = last.map { $0.caller == caller ? other : $0.time } ?? nil
        let isAlone = served.map { (now - $0) / .seconds(1) > attention } ?? true
        if expense.isFreeAlone, isAlone { budget.tokens = max(budget.tokens, min(before, 0)) }
        budget.filled = now
        budgets[caller] = budget
        return max(0, -budget.tokens / rate.perSecond)
    }

    /// - Returns: How many seconds the caller is in debt.
    func debt(of caller: Caller, at now: ContinuousClock.Instant, _ rate: BudgetRate) -> Double {
        guard rate.perSecond > 0, let budget = budgets[caller] else { return 0 }
        return max(0, -budget.tokens / rate.perSecond - (now - budget.filled) / .seconds(1))
    }

    private mutating func forgetFull(_ now: ContinuousClock.Instant, _ rate: BudgetRate) {
        budgets = budgets.filter {
            (now - $0.value.filled) / .seconds(1) * rate.perSecond + $0.value.tokens < rate.burst
        }
    }
}
