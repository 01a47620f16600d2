import Testing

@testable import FriendvatarsKit

struct BoundedCacheTests {
    @Test func oldestGoesFirst() {
        var cache = BoundedCache<String, Int>(capacity: 10)
        // The third is an old one once more, which then is the newest.
        let gone = [(1, "a", 4), (2, "b", 4), (3, "a", 4), (4, "c", 4)].map { value, key, weight in
            cache.insert(value, for: key, weight: weight)
        }
        #expect(gone == [[], [], [], [2]])
        #expect(cache["a"] == 3 && cache["b"] == nil && cache["c"] == 4)
        let removed = [cache.remove("a"), cache.remove("a")]
        #expect(removed == [3, nil])
        #expect(cache.weight == 4)
        // What is larger than all of it stays nowhere.
        let all = cache.insert(5, for: "d", weight: 11)
        #expect(all == [4, 5])
        #expect(cache.weight == 0 && cache.keys.isEmpty)
    }

    /// The same as a list that is looked through from its beginning.
    @Test func likeAList() {
        var random = SystemRandomNumberGenerator()
        var cache = BoundedCache<Int, Int>(capacity: 50)
        var list: [(key: Int, value: Int, weight: Int)] = []
        for value in 0..<20_000 {
            let key = Int.random(in: 0..<40, using: &random)
            if Bool.random(using: &random) {
                let weight = Int.random(in: 0...9, using: &random)
                cache.insert(value, for: key, weight: weight)
                list.removeAll { $0.key == key }
                list.append((key, value, weight))
                while list.reduce(0, { $0 + $1.weight }) > 50 { list.removeFirst() }
            } else {
                let found = list.first { $0.key == key }?.value
                let removed = cache.remove(key)
                #expect(removed == found)
                list.removeAll { $0.key == key }
            }
            #expect(cache.weight == list.reduce(0) { $0 + $1.weight })
        }
        #expect(Set(cache.keys) == Set(list.map(\.key)))
        for entry in list { #expect(cache[entry.key] == entry.value) }
    }
}
