import Foundation

/// Bounds the memory that requests under way take: a long one waits for room.
final class RequestBudget: @unchecked Sendable {
    // `available` is only touched with `condition` locked.
    private let condition = NSCondition()
    private var available: Int

    init(bytes: Int) {
        available = bytes
    }

    /// - Returns: Whether there was room in time.
    func reserve(_ bytes: Int, within time: Duration) -> Bool {
        let deadline = Date(timeIntervalSinceNow: time / .seconds(1))
        condition.lock()
        defer { condition.unlock() }
        while available < bytes {
            guard condition.wait(until: deadline) else { return false }
        }
        available -= bytes
        return true
    }

    func release(_ bytes: Int) {
        guard bytes > 0 else { return }
        condition.lock()
        available += bytes
        condition.broadcast()
        condition.unlock()
    }
}
