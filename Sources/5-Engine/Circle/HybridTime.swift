import Bytes
import FoundationEssentials

/// A time of a hybrid logical clock (Kulkarni and others, "Logical Physical Clocks", 2014): milliseconds since 1970 in
/// the upper 48 bits, and a counter in the lower 16.
///
/// What is made after something else was seen has a later time, however wrong the clocks are.
package struct HybridTime: Sendable, Hashable, Comparable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter date: Clamped to 1970 and ``latest``.
    package init(_ date: Date) {
        let milliseconds = UInt64(clamping: (date.timeIntervalSince1970 * 1_000).rounded(.down))
        rawValue = min(milliseconds, Self.latest.rawValue >> 16) << 16
    }

    package static let zero = HybridTime(rawValue: 0)
    /// The year 6429. A later time is refused, so that a successor of a time that was taken always exists.
    package static let latest = HybridTime(rawValue: 1 << 63)

    /// Whether it is the time of a version about which the store decided.
    package var isDecided: Bool { rawValue & 1 == 1 }

    package var date: Date { Date(timeIntervalSince1970: Double(rawValue >> 16) / 1_000) }

    package static func < (one: HybridTime, other: HybridTime) -> Bool { one.rawValue < other.rawValue }
}

/// The hybrid logical clock of a member.
package struct CircleClock: Sendable, Equatable {
    /// The latest time that was given or seen.
    package private(set) var last: HybridTime

    package init(last: HybridTime) { self.last = last }

    /// How far another member's time may be ahead of this machine's clock and still move this clock, in seconds. A
    /// member whose clock is years ahead raises the times of what it changes, and not of all that others change.
    package static let tolerance: TimeInterval = 600

    /// Returns a time that comes after all that this clock has given, and after `base`.
    ///
    /// - Parameter now: When the change happened.
    package mutating func next(after base: HybridTime = .zero, now: Date) -> HybridTime {
        let own = max(last.rawValue + 1, HybridTime(now).rawValue)
        last = HybridTime(rawValue: own)
        guard base.rawValue >= own else { return last }
        let raised = HybridTime(rawValue: base.rawValue + 1)
        see(raised, now: now)
        return raised
    }

    /// Notes a time of another member.
    package mutating func see(_ time: HybridTime, now: Date) {
        guard time <= HybridTime(now.addingTimeInterval(Self.tolerance)) else { return }
        last = max(last, time)
    }
}
