import Crypto
import Foundation
import PasswordHashes
import Synchronization
import TestSupport
import Testing

@testable import Credentials

/// An account that does not exist takes as long as a wrong password.
///
/// What decides is counted: both are the same runs of the same hash function. A soak run measures as well. Both are
/// tried in turns, in a random order within each pair, by the processor's time of the thread. The test is Mann and
/// Whitney's: the sum of the ranks of one kind, in standard deviations from what it would be if both came from one
/// distribution. Of 25 million runs without a difference one is further off than 5.5. With 1,000 tries each, a
/// difference of a quarter of the standard deviation of a single try would show.
@Suite(.serialized) struct EqualTimeTests {
    private let cost = Argon2Cost(memoryKiB: 8, passes: 3)

    /// The runs of Argon2 that `body` takes, whether it fails or not.
    private func work(_ body: () throws -> Void) -> [HashedPassword.Work] {
        let noted = Collected<HashedPassword.Work>()
        HashedPassword.$noteWork.withValue(.init { noted.append($0) }) { try? body() }
        return noted.all
    }

    private func verification(_ hasher: PasswordHasher, _ password: String, _ hash: String?) -> [HashedPassword.Work] {
        work { _ = try hasher.verify(SignInPassword(password), against: hash, account: "ada") }
    }

    @Test func sameWorkForEverybody() throws {
        let first = PasswordPepper(key: SymmetricKey(size: .bits256))
        let older = SaltedSHA256Hash(salt: "salt")
        let digits = SHA256.hash(data: Data("right.ada.salt".utf8)).map { String(format: "%02x", $0) }.joined()
        for hasher in [
            PasswordHasher(cost: cost), PasswordHasher(cost: .init(memoryKiB: 64, passes: 1)),
            PasswordHasher(cost: cost, pepper: first), PasswordHasher(cost: cost, olderHashes: older),
            PasswordHasher(
                cost: cost, pepper: PasswordPepper(key: SymmetricKey(size: .bits256)), formerPeppers: [first]),
        ] {
            let hash = try hasher.hash(SignInPassword("right"))
            let wrong = verification(hasher, "wrong", hash)
            #expect(wrong.count == 1)
            #expect(
                wrong.first?.function.hasPrefix("argon2id m=\(hasher.cost.memoryKiB),t=\(hasher.cost.passes),p=1,")
                    == true)
            #expect(verification(hasher, "right", hash) == wrong)
            #expect(verification(hasher, "wrong", nil) == wrong)
            // Nor does it show that a hash is of no use, or of another pepper.
            #expect(verification(hasher, "wrong", "x") == wrong)
            let strange = try PasswordHasher(cost: cost, pepper: PasswordPepper(key: SymmetricKey(size: .bits256)))
                .hash(SignInPassword("right"))
            #expect(verification(hasher, "wrong", strange) == wrong)
            // Of older ones one of today is made, whatever the password.
            if hasher.olderHashes != nil {
                for password in ["wrong", "right"] { #expect(verification(hasher, password, digits) == wrong) }
            }
        }
    }

    /// What is counted tells costs, lengths and numbers of runs apart.
    @Test func otherWorkShows() throws {
        let hasher = PasswordHasher(cost: cost)
        let hash = try hasher.hash(SignInPassword("right"))
        let usual = verification(hasher, "wrong", nil)
        for other in [
            PasswordHasher(cost: .init(memoryKiB: 9, passes: 3)), PasswordHasher(cost: .init(memoryKiB: 8, passes: 4)),
        ] {
            #expect(verification(other, "wrong", nil) != usual)
            #expect(verification(other, "wrong", hash) == usual, "the hash decides, not who holds it")
            // The right one is hashed anew.
            #expect(verification(other, "right", hash).count == 2)
        }
        #expect(verification(hasher, "longer", nil) != usual)
    }

    // MARK: Measuring

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

    /// Neither takes half as long as the other, measured in pairs. A soak run, which is built for release, looks
    /// closer: what a debug build does around the hash function takes a time of its own.
    @Test func unknownAccounts() throws {
        let hasher = PasswordHasher(cost: .init(memoryKiB: 1_024, passes: 3))
        let (password, hash) = (try SignInPassword("wrong"), try hasher.hash(SignInPassword("right")))
        var (unknown, wrong): ([Int64], [Int64]) = ([], [])
        for round in 0..<TestScale.count(20, soak: 1_000) + 10 {
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
        let ratio = Double(unknown.sorted()[unknown.count / 2]) / Double(wrong.sorted()[wrong.count / 2])
        #expect((0.5...2).contains(ratio))
        if TestScale.isSoak { #expect(abs(deviation) < 5.5) }
    }

    /// The test tells samples apart that differ, and no others: with samples whose ranks are known, and with drawn ones
    /// that come again.
    @Test func differencesShow() {
        // Of three and three, all of one are before all of the other: their ranks are 1, 2 and 3, and 10.5 would be the
        // middle.
        let apart = -4.5 / (3.0 * 3 * 7 / 12).squareRoot()
        #expect(abs(Self.deviation([1, 2, 3], [4, 5, 6]) - apart) < 1e-12)
        #expect(abs(Self.deviation([4, 5, 6], [1, 2, 3]) + apart) < 1e-12)
        #expect(Self.deviation([1, 4], [2, 3]) == 0 && Self.deviation([7, 7, 7], [7, 7]) == 0)

        var random = SeededGenerator(seed: 1)
        // Times with a long tail, as loaded machines have them.
        func samples(_ count: Int, shifted: Double) -> [Int64] {
            (0..<count).map { _ in
                let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
                let pause = random.int(below: 20) == 0 ? Double.random(in: 0..<3_000_000, using: &random) : 0
                return Int64(3_000_000 + 60_000 * (noise + shifted) + pause)
            }
        }
        for _ in 0..<5 {
            #expect(abs(Self.deviation(samples(1_000, shifted: 0), samples(1_000, shifted: 0))) < 4)
            #expect(Self.deviation(samples(1_000, shifted: 0), samples(1_000, shifted: 0.4)) < -5.5)
            // An eighth of the time more, at 300 tries.
            #expect(Self.deviation(samples(300, shifted: 0), samples(300, shifted: 3_000_000 / 8 / 60_000)) < -5.5)
        }
    }
}
