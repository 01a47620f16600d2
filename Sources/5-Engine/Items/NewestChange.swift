import Synchronization

/// The highest number of a durable change that this process has seen in a store. The numbers only go up. If a later
/// read finds a lower number, somebody has put back an older copy of the store.
final class NewestChange: Sendable {
    private let number = Atomic<Int64>(0)

    var value: Int64 { number.load(ordering: .acquiring) }

    func raise(to seen: Int64) { number.max(seen, ordering: .acquiringAndReleasing) }
}
