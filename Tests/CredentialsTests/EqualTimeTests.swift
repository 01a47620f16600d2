import Foundation
import TestSupport
import Testing

@testable import Credentials

/// An account that does not exist takes as long as a wrong password.
///
/// Both are tried in turns, in a random order within each pair, by the processor's time of the thread. The test is Mann and
/// Whitney's: the sum of the ranks of one kind, in standard deviations from what it would be if both came from one distribution.
/// Of 15,000 runs without a difference one is further off than 4. With 1,000 tries each, a difference of a fifth of the standard
/// deviation of a single try would show.
@Suite(.serialized) struct EqualTimeTests {
    private func time(_ body: () throws -> Void) rethrows -> Int64 {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let start = now()
        try body()
        return now() - start
    }

    /// How many standard deviations the ranks of `first` are from the middle.
    static func deviation(_ first: [Int64], _ second: [Int64]) -> Double {
        let all = (first.map { ($0, true) } + second.map { ($0, false) }).sorted { $0.0 < $1.0 }
        var (sum, place) = (0.0, 0)
        while place < all.count {
            var end = place
            while end < all.count, all[end].0 == all[place].0 { end += 1 }
            // Equal ones share their ranks.
            let rank = Double(place + end + 1) / 2
            sum += rank * Double(all[place..<end].count { $0.1 })
            place = end
        }
        let (n, m) = (Double(first.count), Double(second.count))
        return (sum - n * (n + m + 1) / 2) / (n * m * (n + m + 1) / 12).squareRoot()
    }

    @Test func unknownAccounts() throws {
        let hasher = PasswordHasher(cost: .init(memoryKiB: 1_024, passes: 3))
        let (password, hash) = (try Password("wrong"), try hasher.hash(Password("right")))
        var (unknown, wrong): ([Int64], [Int64]) = ([], [])
        for round in 0..<TestScale.count(300, soak: 1_000) + 10 {
            let isFirst = Bool.random()
            for turn in 0..<2 {
                if isFirst == (turn == 0) {
                    let taken = try time { _ = try hasher.verify(password, against: nil) }
                    if round >= 10 { unknown.append(taken) }
                } else {
                    let taken = try time { _ = try hasher.verify(password, against: hash) }
                    if round >= 10 { wrong.append(taken) }
                }
            }
        }
        let deviation = Self.deviation(unknown, wrong)
        print("unknown against wrong: \(unknown.count) tries each, \(deviation) standard deviations")
        #expect(abs(deviation) < 4)
    }

    /// The test tells a difference of an eighth.
    @Test func differencesShow() throws {
        let (cheap, dear) = (
            PasswordHasher(cost: .init(memoryKiB: 1_024, passes: 3)),
            PasswordHasher(cost: .init(memoryKiB: 1_152, passes: 3))
        )
        let password = try Password("wrong")
        var (first, second): ([Int64], [Int64]) = ([], [])
        for _ in 0..<300 {
            first.append(try time { _ = try cheap.verify(password, against: nil) })
            second.append(try time { _ = try dear.verify(password, against: nil) })
        }
        #expect(Self.deviation(first, second) < -4)
    }
}
