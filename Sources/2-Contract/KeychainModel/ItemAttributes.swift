/// The attributes of an item, each once, by name.
///
/// An item has a handful of attributes. So a sorted list takes half of the memory of a dictionary, and finds a name in
/// less time than a hash takes. Names ascend.
package struct ItemAttributes: Sendable, Hashable {
    package typealias Element = (key: AttributeName, value: AttributeValue)

    private struct Entry: Sendable, Hashable {
        var key: AttributeName
        var value: AttributeValue
    }

    private var entries: [Entry]

    package init() { entries = [] }

    /// - Parameter minimumCapacity: For how many there is room at once.
    package init(minimumCapacity: Int) {
        self.init()
        entries.reserveCapacity(minimumCapacity)
    }

    /// - Precondition: No name comes twice.
    package init(uniqueKeysWithValues pairs: some Sequence<(AttributeName, AttributeValue)>) {
        self.init()
        for (name, value) in pairs {
            let before = updateValue(value, forKey: name)
            precondition(before == nil, "an attribute comes twice")
        }
    }

    /// The place of a name, or where it would be.
    private func place(of name: AttributeName) -> (index: Int, isThere: Bool) {
        // Most are appended in order, or there are a few: a search from the end is the fastest.
        var index = entries.count
        while index > 0, entries[index - 1].key.code >= name.code { index -= 1 }
        return (index, index < entries.count && entries[index].key == name)
    }

    package subscript(name: AttributeName) -> AttributeValue? {
        get {
            for entry in entries where entry.key == name { return entry.value }
            return nil
        }
        set {
            if let newValue { updateValue(newValue, forKey: name) } else { removeValue(forKey: name) }
        }
    }

    /// - Returns: The value before; nil if there was none.
    @discardableResult
    package mutating func updateValue(_ value: AttributeValue, forKey name: AttributeName) -> AttributeValue? {
        let (index, isThere) = place(of: name)
        guard isThere else {
            entries.insert(Entry(key: name, value: value), at: index)
            return nil
        }
        defer { entries[index].value = value }
        return entries[index].value
    }

    @discardableResult
    package mutating func removeValue(forKey name: AttributeName) -> AttributeValue? {
        let (index, isThere) = place(of: name)
        return isThere ? entries.remove(at: index).value : nil
    }

    package var names: [AttributeName] { entries.map(\.key) }
    package var values: [AttributeValue] { entries.map(\.value) }

    /// Takes over `others`. `choose` decides between the value that is here and the other one.
    package mutating func merge(
        _ others: ItemAttributes, uniquingKeysWith choose: (AttributeValue, AttributeValue) -> AttributeValue
    ) {
        for (name, value) in others { self[name] = self[name].map { choose($0, value) } ?? value }
    }

    package func merging(
        _ others: ItemAttributes, uniquingKeysWith choose: (AttributeValue, AttributeValue) -> AttributeValue
    ) -> ItemAttributes {
        var merged = self
        merged.merge(others, uniquingKeysWith: choose)
        return merged
    }

    package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> ItemAttributes {
        var filtered = ItemAttributes()
        filtered.entries = try entries.filter { try isIncluded(($0.key, $0.value)) }
        return filtered
    }
}

extension ItemAttributes: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { entries.count }
    package subscript(position: Int) -> Element { (entries[position].key, entries[position].value) }
}

extension ItemAttributes: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (AttributeName, AttributeValue)...) {
        self.init(uniqueKeysWithValues: elements)
    }
}
