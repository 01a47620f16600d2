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

/// The conditions of a search that can be checked without a key.
package struct ItemSearch: Sendable {
    /// The starting point of the search.
    package enum Seek: Sendable {
        /// The rows that have one of these primary-key digests.
        case primaryKeys([Data])
        /// The rows that are filed under all the terms of one of these lists, of which none is empty.
        case terms([[Int64]])
        /// The rows that are filed under this term, such as an identifier. The row itself need not contain the term.
        case filed(Int64)
        /// The rows that are filed under one of these, such as the listings of groups.
        case listed([Filing])
        /// Every row.
        case everything
    }

    package var itemClass: ItemClass
    package var seek: Seek
    /// A row must have all the terms of one of these lists; of none, if there is no list.
    package var requiredTerms: [[Int64]]
    /// The digests of the allowed access groups, each once; nil for all. The search visits no row of another group.
    package var groups: [Int64]?
    package var isSynchronizable: Bool?
    package var protection: ProtectionClass?
    package var isTombstone: Bool?
    package var identifier: UUID?

    package init(
        itemClass: ItemClass, seek: Seek, requiredTerms: [[Int64]] = [], groups: [Int64]? = nil,
        isSynchronizable: Bool? = nil, protection: ProtectionClass? = nil, isTombstone: Bool? = false,
        identifier: UUID? = nil
    ) {
        self.itemClass = itemClass
        self.seek = seek
        self.requiredTerms = requiredTerms
        self.groups = groups
        self.isSynchronizable = isSynchronizable
        self.protection = protection
        self.isTombstone = isTombstone
        self.identifier = identifier
    }

    /// The parts of the table of filings that a search visits one after the other.
    struct Range {
        /// The rows that are looked for are filed under each of these terms.
        var terms: [Int64]
        /// The digest of the group of the rows; nil for the rows of all groups, in the order of their groups.
        var group: Int64?
    }

    /// Where the filings of the rows are; nil for a search that needs no filings.
    var ranges: [Range]? {
        switch seek {
        case .terms(let lists):
            groups?.flatMap { group in lists.map { Range(terms: $0, group: group) } } ?? lists.map { Range(terms: $0) }
        case .filed(let term): groups?.map { Range(terms: [term], group: $0) } ?? [Range(terms: [term])]
        case .listed(let filings): filings.map { Range(terms: [$0.term], group: $0.group) }
        case .primaryKeys, .everything: nil
        }
    }

    func accepts(_ row: RowBinding) -> Bool {
        row.itemClass == itemClass
            && (groups.map { $0.contains(row.group) } ?? true)
            && (isSynchronizable.map { $0 == row.isSynchronizable } ?? true)
            && (protection.map { $0 == row.protection } ?? true)
            && (isTombstone.map { $0 == row.isTombstone } ?? true)
            && (identifier.map { $0 == row.identifier } ?? true)
            && (requiredTerms.isEmpty
                || requiredTerms.contains { $0.allSatisfy { row.terms.contains($0) } })
    }
}
