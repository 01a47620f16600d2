/// Keeps what was put in last, up to a total weight: what was put in first goes first.
struct BoundedCache<Key: Hashable, Value> {
    private struct Entry {
        var value: Value
        var weight: Int
        var turn: Int
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    /// In the order in which they were put in; also some that are gone, or were put in again.
    private var queue: ArraySlice<(key: Key, turn: Int)> = []
    private var turn = 0
    private(set) var weight = 0

    /// - Parameter capacity: The largest total weight.
    init(capacity: Int) {
        self.capacity = capacity
    }

    var keys: some Collection<Key> { entries.keys }

    subscript(key: Key) -> Value? { entries[key]?.value }

    /// Puts a value in, in the place of another that has the key.
    ///
    /// - Returns: What had to go for it.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key, weight: Int = 1) -> [Value] {
        remove(key)
        turn += 1
        entries[key] = Entry(value: value, weight: weight, turn: turn)
        queue.append((key, turn))
        self.weight += weight
        var gone: [Value] = []
        while self.weight > capacity, let oldest = queue.popFirst() {
            if entries[oldest.key]?.turn == oldest.turn, let value = remove(oldest.key) { gone.append(value) }
        }
        return gone
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        weight -= entry.weight
        // Now and then, so that a removal costs no more than an insertion.
        if queue.count > 2 * entries.count + 64 {
            queue = ArraySlice(queue.filter { entries[$0.key]?.turn == $0.turn })
        }
        return entry.value
    }
}
