import Synchronization

/// How many connections there are.
final class OpenConnections: Sendable {
    private let count = Mutex(0)

    func add(_ number: Int) -> Int {
        count.withLock {
            $0 += number
            return $0
        }
    }
}
