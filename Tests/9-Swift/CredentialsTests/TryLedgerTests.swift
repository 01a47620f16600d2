import Testing

@testable import Credentials

@Suite struct TryLedgerTests {
    private let start = ContinuousClock.now
    private let limits = SignInThrottle.Limits(
        freeTries: 3, firstDelay: .seconds(60), longestDelay: .seconds(60), memory: .seconds(3_600))

    private func key(_ name: String) -> TryLedger.Key { TryLedger.Key(name) }

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// Tries until there is a wait.
    private func exhaust(_ ledger: inout TryLedger, _ name: String, _ seconds: Int) {
        for _ in 0..<3 { ledger.note(key(name), at(seconds)) }
    }

    private func mustWait(_ ledger: TryLedger, _ name: String, _ seconds: Int) -> Bool {
        ledger.wait(key(name), at(seconds)) > .zero
    }

    /// The harmless go, those who were quiet longest first; who has tried often and has waited goes after them, and who
    /// has to wait not at all.
    @Test func theHarmlessGoFirst() {
        var ledger = TryLedger(limits, capacity: 100)
        exhaust(&ledger, "over", 0)
        exhaust(&ledger, "waits", 59)
        for number in 0..<98 { ledger.note(key("\(number)"), at(60 + number / 50)) }
        #expect(ledger.count == 100)
        // One more: of the harmless, the 25 that were quiet longest.
        ledger.note(key("new"), at(62))
        #expect(ledger.count == 76)
        #expect(mustWait(ledger, "waits", 62))
        // Who waited has still used up the free tries.
        ledger.note(key("over"), at(62))
        #expect(mustWait(ledger, "over", 62))
        // Who is known has two more tries, who was forgotten three. The first fifty came at one moment, and 25 of them
        // went.
        let known = (0..<98).filter { number in
            var copy = ledger
            for _ in 0..<2 { copy.note(key("\(number)"), at(62)) }
            return mustWait(copy, "\(number)", 62)
        }
        #expect(known.count { $0 < 50 } == 25 && known.count { $0 >= 50 } == 48)
    }

    /// A flood of names gets nobody off their wait.
    @Test func aFloodHelpsNobody() {
        var ledger = TryLedger(limits, capacity: 100)
        exhaust(&ledger, "ada", 0)
        exhaust(&ledger, "bob", 1)
        for number in 0..<20_000 {
            ledger.note(key("\(number)"), at(2))
            if number % 1_000 == 0 { #expect(mustWait(ledger, "ada", 2) && mustWait(ledger, "bob", 2)) }
        }
        #expect(ledger.count <= 100)
        #expect(mustWait(ledger, "ada", 2) && mustWait(ledger, "bob", 2))
        #expect(!mustWait(ledger, "ada", 60))
        ledger.note(key("ada"), at(60))
        #expect(mustWait(ledger, "ada", 60))
    }

    /// Where all have to wait, the quietest go; there are never more than twice as many as may be, and room is made
    /// seldom.
    @Test func aFloodOfThoseWhoWait() {
        var ledger = TryLedger(limits, capacity: 1_000)
        exhaust(&ledger, "ada", 0)
        for number in 0..<999 { exhaust(&ledger, "\(number)", 1) }
        #expect(ledger.count == 1_000 && ledger.sweeps == 0)
        // There is nobody but such.
        ledger.note(key("new"), at(2))
        #expect(ledger.count == 751)
        #expect(!mustWait(ledger, "ada", 2))
        var largest = 0
        let sweeps = ledger.sweeps
        for number in 0..<10_000 {
            exhaust(&ledger, "next \(number)", 3)
            // Who came last is there.
            #expect(mustWait(ledger, "next \(number)", 3))
            largest = max(largest, ledger.count)
        }
        #expect(largest <= 2_000)
        #expect(ledger.sweeps - sweeps <= 10_000 / 249 + 1)
        // One harmless newcomer after the other goes, and nobody of those who wait.
        var mixed = TryLedger(limits, capacity: 1_000)
        for number in 0..<999 { exhaust(&mixed, "\(number)", 1) }
        for number in 0..<10_000 { mixed.note(key("new \(number)"), at(2)) }
        #expect((0..<999).allSatisfy { mustWait(mixed, "\($0)", 2) })
        #expect(mixed.count <= 2_000 && mixed.sweeps <= 10_000 / 249 + 1)
    }
}
