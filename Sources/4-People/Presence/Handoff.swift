import Dispatch
import Synchronization

/// Hands a value to waiting threads. Only the first value counts.
final class Handoff<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let arrival = DispatchSemaphore(value: 0)

    func put(_ new: Value) {
        let isFirst = value.withLock { value in
            guard value == nil else { return false }
            value = new
            return true
        }
        if isFirst { arrival.signal() }
    }

    /// - Returns: Nil if there is no value until `deadline`.
    func wait(until deadline: ContinuousClock.Instant) -> Value? {
        let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
        if arrival.wait(timeout: .now() + max(0, left)) == .success { arrival.signal() }
        return value.withLock { $0 }
    }
}
