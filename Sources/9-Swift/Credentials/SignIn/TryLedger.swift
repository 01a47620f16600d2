import Bytes
import Crypto
import Foundation

/// Tries of accounts, addresses or devices.
///
/// Past its capacity a quarter is forgotten at a time, so that a flood of names is not sorted for each of them. First
/// those go that have made few tries and need not wait: what a flood leaves. Then those whose wait is over. Within
/// each, the one with the longest silence is first. One that has to wait now stays: a flood does not help an attacker.
/// While too few others are there, the ledger grows, up to twice its capacity; only then, or when nobody else is there,
/// the quietest of them go.
struct TryLedger {
    typealias Instant = ContinuousClock.Instant

    /// What a name is known by: its SHA-256. Names may be as long as a request.
    struct Key: Hashable {
        private let (first, second, third, fourth): (UInt64, UInt64, UInt64, UInt64)

        init(_ name: String) {
            (first, second, third, fourth) = SHA256.hash(data: Data(name.utf8)).withUnsafeBytes {
                $0.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
            }
        }
    }

    private struct Tries {
        var count = 0
        var last: Instant
        var next: Instant
    }

    private let limits: SignInThrottle.Limits
    private let capacity: Int
    private var all: [Key: Tries] = [:]
    /// Room is made when there are more.
    private var fullCount: Int
    /// How often room was made.
    private(set) var sweeps = 0

    init(_ limits: SignInThrottle.Limits, capacity: Int) {
        (self.limits, self.capacity) = (limits, max(2, capacity))
        fullCount = self.capacity
    }

    var count: Int { all.count }

    /// How long until the next try; nothing or less for none.
    func wait(_ key: Key, _ now: Instant) -> Duration {
        guard let tries = all[key], now - tries.last < limits.memory else { return .zero }
        return tries.next - now
    }

    /// Counts a try.
    mutating func note(_ key: Key, _ now: Instant) {
        var tries = all[key] ?? Tries(last: now, next: now)
        tries.count = remembered(tries, now) + 1
        tries.last = now
        var delay = tries.count < limits.freeTries ? Duration.zero : min(limits.firstDelay, limits.longestDelay)
        var over = tries.count - limits.freeTries
        while over > 0, delay > .zero, delay < limits.longestDelay {
            delay = min(delay * 2, limits.longestDelay)
            over -= 1
        }
        tries.next = now + delay
        all[key] = tries
        if all.count > fullCount { makeRoom(sparing: key, now) }
    }

    /// Forgets all tries.
    mutating func forget(_ key: Key) { all[key] = nil }

    /// Takes one try back.
    mutating func takeBack(_ key: Key, _ now: Instant) {
        guard var tries = all[key] else { return }
        tries.count = max(0, tries.count - 1)
        tries.next = min(tries.next, now)
        all[key] = tries
    }

    /// How many tries count still.
    private func remembered(_ tries: Tries, _ now: Instant) -> Int {
        let quiet = now - tries.last
        guard quiet < limits.memory else { return 0 }
        let forgotten = quiet / (limits.memory / max(1, limits.freeTries))
        return max(0, tries.count - Int(clamping: min(1e6, forgotten)))
    }

    private enum Harm: Int {
        case none, isOver, waits
    }

    private func harm(_ tries: Tries, _ now: Instant) -> Harm {
        if tries.next > now, now - tries.last < limits.memory { return .waits }
        return remembered(tries, now) < max(1, limits.freeTries) ? .none : .isOver
    }

    /// - Parameter newest: The one whose try was just counted.
    private mutating func makeRoom(sparing newest: Key, _ now: Instant) {
        sweeps += 1
        let portion = max(1, capacity / 4)
        let known = all.filter { $0.key != newest }.map {
            (key: $0.key, harm: harm($0.value, now), last: $0.value.last)
        }
        var victims = known.filter { $0.harm != .waits }
        if victims.isEmpty || all.count > 2 * capacity { victims = known }
        victims.sort { ($0.harm.rawValue, $0.last) < ($1.harm.rawValue, $1.last) }
        for victim in victims.prefix(portion) { all[victim.key] = nil }
        // As many more come before the next time.
        fullCount = max(capacity, min(all.count + portion - 1, 2 * capacity))
    }
}
