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

    /// The seconds that the last of several requests waits for.
    private func request(by caller: String, times: Int = 1) -> Double {
        var seconds = 0.0
        for _ in 0..<times { seconds = rates.spend(1, by: caller, for: .request) }
        return seconds
    }

    @Test func twoSecondsOfRequestsAreFree() {
        _ = request(by: "another")
        #expect(request(by: "a", times: 200) == 0)
        #expect(request(by: "a") == 0.01)
        clock.advance(by: .milliseconds(20))
        #expect(request(by: "a") == 0)
    }

    @Test func whoIsAloneNeitherWaitsNorGetsIntoDebt() {
        #expect(request(by: "a", times: 1_000) == 0)
        // The other one has its own budget.
        #expect(request(by: "b", times: 200) == 0)
        #expect(request(by: "a") == 0.01)
        clock.advance(by: .seconds(2))
        #expect(request(by: "a", times: 1_000) == 0)
    }

    @Test func debtIsBounded() {
        _ = request(by: "another")
        #expect(request(by: "a", times: 10_000) == 1)
    }

    @Test func whoIsRefusedWaitsEvenIfAlone() {
        _ = request(by: "a", times: 200)
        #expect(rates.spend(50, by: "a", for: .refusal) == 0.5)
    }

    /// Otherwise many connections could be refused much more often than one.
    @Test func requestsOfACallerThatIsAloneDoNotForgiveTheDebtOfRefusals() {
        _ = request(by: "a", times: 200)
        #expect(rates.spend(50, by: "a", for: .refusal) == 0.5)
        #expect(request(by: "a", times: 10) == 0.5)
        #expect(rates.spend(50, by: "a", for: .refusal) == 1)
        clock.advance(by: .seconds(1))
        #expect(request(by: "a", times: 10) == 0)
    }

    /// At 100 requests a second, half of a processor's time is 5 ms for each.
    @Test func workCountsAsRequests() {
        _ = request(by: "another")
        rates.charge("a", within: .milliseconds(4), forWork: .milliseconds(4))
        #expect(request(by: "a", times: 200) == 0)
        // 500 ms are 100 requests, one of which is the request itself.
        rates.charge("a", within: .seconds(1), forWork: .milliseconds(500))
        #expect(abs(request(by: "a") - 1) < 1e-9)
        // A call that waits does not work.
        rates.charge("b", within: .seconds(60), forWork: .zero)
        #expect(request(by: "b", times: 200) == 0)
    }

    @Test func withoutALimitNobodyWaits() {
        let free = RateLimiter(perSecond: 0)
        for _ in 0..<1_000 { #expect(free.spend(500, by: "a", for: .refusal) == 0) }
    }
}
