import Synchronization

/// The highest number of a change that this process has seen in a store, once it was durable. The numbers only go up,
/// so whoever begins to read later and finds a lower one has an older copy of the store.
final class NewestChange: Sendable {
    private let number = Atomic<Int64>(0)

    var value: Int64 { number.load(ordering: .acquiring) }

    func raise(to seen: Int64) { number.max(seen, ordering: .acquiringAndReleasing) }
}
