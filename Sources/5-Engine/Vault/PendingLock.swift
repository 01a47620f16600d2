/// A locking that was put off, and whether it still holds.
struct PendingLock {
    /// Counts what was put off and called off.
    private var number = 0
    private var deadline: ContinuousClock.Instant?

    /// - Returns: What names the locking; nil if one is due before `end` already.
    mutating func start(until end: ContinuousClock.Instant) -> Int? {
        if let deadline, deadline <= end { return nil }
        deadline = end
        number += 1
        return number
    }

    /// An unlocking came in between, or the vault is locked already.
    mutating func callOff() {
        deadline = nil
        number += 1
    }

    func isCurrent(_ number: Int) -> Bool { deadline != nil && self.number == number }
}
