import FoundationEssentials
import KeychainModel
import Sealing

/// A place between two rows of a search, at which another search goes on.
package struct SearchPosition: Sendable, Equatable {
    /// Before the first row.
    package static let start = SearchPosition(range: 0, group: .min, row: .min)

    /// Which of the ranges of the search.
    var range: Int
    /// The digest of the group of the last row, in a range that goes through all groups.
    var group: Int64
    /// The number of the last row.
    var row: Int64
}

/// A term and a group: what a row of that group is filed under.
package struct Filing: Sendable, Hashable {
    package var term: Int64
    /// The digest of the group.
    package var group: Int64

    package init(_ term: Int64, in group: Int64) {
        self.term = term
        self.group = group
    }
}

/// The terms of a search, under each of the keys that rows may have their digests under. The terms under the last
/// key are made only when the search comes to them, because most searches end before.
package struct SearchTerms: Sendable {
    /// The terms under one key.
    package struct List: Sendable {
        /// What a row is filed under.
        package var filed: [Int64]
        /// What the row itself must contain.
        package var required: [Int64]

        package init(filed: [Int64], required: [Int64] = []) { (self.filed, self.required) = (filed, required) }
    }

    private var lists: [List]
    private var makeLast: (@Sendable () -> List)?

    /// - Parameters:
    ///   - lists: The terms under each key but the last.
    ///   - makeLast: Makes the terms under the last key; nil if `lists` has all.
    package init(_ lists: [List], _ makeLast: (@Sendable () -> List)? = nil) {
        (self.lists, self.makeLast) = (lists, makeLast)
    }

    /// The number of keys.
    var count: Int { lists.count + (makeLast == nil ? 0 : 1) }

    /// - Parameter key: Below ``count``.
    mutating func list(_ key: Int) -> List {
        if key == lists.count, let make = makeLast { (lists, makeLast) = (lists + [make()], nil) }
        return lists[key]
    }
}

/// The conditions of a search that can be checked without a key.
package struct ItemSearch: Sendable {
    /// The starting point of the search.
    package enum Seek: Sendable {
        /// The rows that have one of these primary-key digests.
        case primaryKeys([Data])
        /// The rows that are filed under all the terms of the search, under one of the keys.
        case terms
        /// The rows that are filed under this term, such as an identifier. The row itself need not contain the term.
        case filed(Int64)
        /// The rows that are filed under one of these, such as the listings of groups.
        case listed([Filing])
        /// Every row.
        case everything
    }

    /// Nil for rows of all classes.
    package var itemClass: ItemClass?
    package var seek: Seek
    /// A row must have all the terms under one of the keys; none, if there is no key.
    package var terms: SearchTerms
    /// The digests of the allowed access groups, each once; nil for all. The search visits no row of another group.
    package var groups: [Int64]?
    package var isSynchronizable: Bool?
    package var protection: ProtectionClass?
    package var isTombstone: Bool?
    package var identifier: UUID?

    package init(
        itemClass: ItemClass?, seek: Seek, terms: SearchTerms = SearchTerms([]), groups: [Int64]? = nil,
        isSynchronizable: Bool? = nil, protection: ProtectionClass? = nil, isTombstone: Bool? = false,
        identifier: UUID? = nil
    ) {
        self.itemClass = itemClass
        self.seek = seek
        self.terms = terms
        self.groups = groups
        self.isSynchronizable = isSynchronizable
        self.protection = protection
        self.isTombstone = isTombstone
        self.identifier = identifier
    }

    /// The parts of the table of filings that a search visits one after the other.
    struct Range {
        enum Terms {
            case one(Int64)
            /// The number of the key under which the terms are made.
            case ofSearch(Int)
        }

        /// What the rows that are looked for are filed under.
        var terms: Terms
        /// The digest of the group of the rows; nil for the rows of all groups, in the order of their groups.
        var group: Int64?
    }

    /// Where the filings of the rows are; nil for a search that needs no filings.
    var ranges: [Range]? {
        switch seek {
        case .terms:
            (groups.map { $0.map(Optional.some) } ?? [nil]).flatMap { group in
                (0..<terms.count).map { Range(terms: .ofSearch($0), group: group) }
            }
        case .filed(let term): groups?.map { Range(terms: .one(term), group: $0) } ?? [Range(terms: .one(term))]
        case .listed(let filings): filings.map { Range(terms: .one($0.term), group: $0.group) }
        case .primaryKeys, .everything: nil
        }
    }

    /// - Parameter terms: Those of this search, which are made as needed.
    func accepts(_ row: RowBinding, _ terms: inout SearchTerms) -> Bool {
        guard itemClass.map({ $0 == row.itemClass }) ?? true,
            groups.map({ $0.contains(row.group) }) ?? true,
            isSynchronizable.map({ $0 == row.isSynchronizable }) ?? true,
            protection.map({ $0 == row.protection }) ?? true,
            isTombstone.map({ $0 == row.isTombstone }) ?? true,
            identifier.map({ $0 == row.identifier }) ?? true
        else { return false }
        return terms.count == 0
            || (0..<terms.count).contains { terms.list($0).required.allSatisfy { row.terms.contains($0) } }
    }
}
