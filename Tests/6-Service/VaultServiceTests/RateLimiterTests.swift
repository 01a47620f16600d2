import Access
import Synchronization
import Testing

@testable import VaultService

/// A budget of requests for each program, on a clock that the test sets.
@Suite struct RateLimiterTests {
    private final class TestClock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }

        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    private let clock = TestClock()
    private let rates: RateLimiter

    init() {
        let clock = clock
        rates = RateLimiter(perSecond: 100) { clock.now }
    }

    private static let a = ServedProgram(user: 1, name: "a")
    private static let b = ServedProgram(user: 1, name: "b")
    private static let another = ServedProgram(user: 1, name: "another")

    /// The seconds that the last of several requests waits for.
    private func request(by caller: ServedProgram, times: Int = 1) -> Double {
        var seconds = 0.0
        for _ in 0..<times { seconds = rates.spend(1, by: caller, for: .request) }
        return seconds
    }

    @Test func twoSecondsOfRequestsAreFree() {
        _ = request(by: Self.another)
        #expect(request(by: Self.a, times: 200) == 0)
        #expect(request(by: Self.a) == 0.01)
        clock.advance(by: .milliseconds(20))
        #expect(request(by: Self.a) == 0)
    }

    @Test func whoIsAloneNeitherWaitsNorGetsIntoDebt() {
        #expect(request(by: Self.a, times: 1_000) == 0)
        // The other one has its own budget.
        #expect(request(by: Self.b, times: 200) == 0)
        #expect(request(by: Self.a) == 0.01)
        clock.advance(by: .seconds(2))
        #expect(request(by: Self.a, times: 1_000) == 0)
    }

    /// What is served meanwhile decides, and not who was served when the work began.
    @Test func workThatEndsLateIsPaidFor() {
        _ = request(by: Self.a)
        _ = request(by: Self.b)
        clock.advance(by: .seconds(2))
        _ = request(by: Self.b)
        rates.charge(Self.a, within: .seconds(2), forWork: .seconds(2))
        #expect(request(by: Self.a) > 0)
    }

    @Test func debtIsBounded() {
        _ = request(by: Self.another)
        #expect(request(by: Self.a, times: 10_000) == 1)
    }

    @Test func whoIsRefusedWaitsEvenIfAlone() {
        _ = request(by: Self.a, times: 200)
        #expect(rates.spend(50, by: Self.a, for: .refusal) == 0.5)
    }

    /// Otherwise many connections could be refused much more often than one.
    @Test func requestsOfACallerThatIsAloneDoNotForgiveTheDebtOfRefusals() {
        _ = request(by: Self.a, times: 200)
        #expect(rates.spend(50, by: Self.a, for: .refusal) == 0.5)
        #expect(request(by: Self.a, times: 10) == 0.5)
        #expect(rates.spend(50, by: Self.a, for: .refusal) == 1)
        clock.advance(by: .seconds(1))
        #expect(request(by: Self.a, times: 10) == 0)
    }

    /// At 100 requests a second, half of a processor's time is 5 ms for each.
    @Test func workCountsAsRequests() {
        _ = request(by: Self.another)
        rates.charge(Self.a, within: .milliseconds(4), forWork: .milliseconds(4))
        #expect(request(by: Self.a, times: 200) == 0)
        // 500 ms are 100 requests, one of which is the request itself.
        rates.charge(Self.a, within: .seconds(1), forWork: .milliseconds(500))
        #expect(abs(request(by: Self.a) - 1) < 1e-9)
        // A call that waits does not work.
        rates.charge(Self.b, within: .seconds(60), forWork: .zero)
        #expect(request(by: Self.b, times: 200) == 0)
    }

    /// Nobody takes the writer away from a transaction.
    @Test func longChangesCountEightTimes() {
        _ = request(by: Self.another)
        rates.charge(Self.a, within: .milliseconds(5), forWork: .milliseconds(5), writes: true)
        #expect(request(by: Self.a, times: 200) == 0)
        // 125 ms after the first five are a second: 200 requests.
        let writer = ServedProgram(user: 2, name: "writer")
        rates.charge(writer, within: .seconds(1), forWork: .milliseconds(130), writes: true)
        #expect(request(by: writer) > 0)
        let reader = ServedProgram(user: 3, name: "reader")
        rates.charge(reader, within: .seconds(1), forWork: .milliseconds(130))
        #expect(request(by: reader, times: 150) == 0)
    }

    /// With many connections, the calls of a program that has no budget left come in one after the other.
    @Test func requestsArePutOffAgainWhileTheirProgramIsInDebt() {
        _ = request(by: Self.another)
        #expect(rates.remainingDelay(of: Self.a) == .zero)
        #expect(request(by: Self.a, times: 300) == 1)
        clock.advance(by: .milliseconds(800))
        #expect((.milliseconds(180)...(.milliseconds(220))).contains(rates.remainingDelay(of: Self.a)))
        clock.advance(by: .milliseconds(150))
        #expect(rates.remainingDelay(of: Self.a) == .zero)
        rates.charge(Self.a, within: .seconds(1), forWork: .milliseconds(500))
        #expect(rates.remainingDelay(of: Self.a) > .milliseconds(900))
    }

    /// Else one program could keep those of its user waiting for ever.
    @Test func requestsAreNotPutOffAgainForTheDebtOfOthers() {
        _ = request(by: ServedProgram(user: 2, name: "another"))
        for copy in 0..<8 { _ = request(by: ServedProgram(user: 1, name: "copy \(copy)"), times: 200) }
        #expect(request(by: Self.a) > 0)
        #expect(rates.remainingDelay(of: Self.a) == .zero)
    }

    /// A user can run copies of a program, and give each a name of its own.
    @Test func theNamesThatOneUserTakesShareABudgetOfTwoPrograms() {
        let copies = (0..<8).map { ServedProgram(user: 7, name: "copy \($0)") }
        // While only one user is served, each name has a budget.
        for copy in copies { #expect(request(by: copy, times: 100) == 0) }
        clock.advance(by: .seconds(2))
        _ = request(by: Self.a)
        for copy in copies { #expect(request(by: copy, times: 50) == 0) }
        #expect(request(by: copies[0]) > 0)
        #expect(request(by: ServedProgram(user: 7, name: "new")) > 0)
        #expect(request(by: Self.b, times: 199) == 0)
        clock.advance(by: .seconds(2))
        #expect(request(by: copies[1], times: 50) == 0)
    }

    @Test(arguments: [RateLimiter.Expense.refusal, .connection])
    func guessesAndConnectionsOfOneProgramDoNotDelayTheOthersOfItsUser(_ expense: RateLimiter.Expense) {
        _ = request(by: ServedProgram(user: 2, name: "another"))
        for _ in 0..<10 { _ = rates.spend(500, by: Self.a, for: expense) }
        #expect(request(by: Self.a) > 0)
        #expect(request(by: Self.b, times: 100) == 0)
    }

    /// No program can take the name of a unit.
    @Test func unitsOfOneUserHaveTheirOwnBudgetsAlone() {
        let unit = ServedProgram(user: 7, name: "unit:mail.service", hasChosenName: false)
        _ = request(by: Self.a)
        for copy in 0..<8 { _ = request(by: ServedProgram(user: 7, name: "copy \(copy)"), times: 200) }
        #expect(request(by: ServedProgram(user: 7, name: "new")) > 0)
        #expect(request(by: unit, times: 200) == 0)
    }

    @Test func withoutALimitNobodyWaits() {
        let free = RateLimiter(perSecond: 0)
        for _ in 0..<1_000 { #expect(free.spend(500, by: Self.a, for: .refusal) == 0) }
    }
}
