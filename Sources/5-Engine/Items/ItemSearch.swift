import FoundationEssentials
import KeychainModel
import Sealing

/// A place between two rows of a search, at which another search goes on.
package struct SearchPosition: Sendable, Equatable {
    /// Before the first row.
    package static let start = SearchPosition(term: 0, row: .min)

    /// Which of the terms of the search.
    var term: Int
    /// The number of the last row under it.
    var row: Int64
}

/// The conditions of a search that can be checked without a key.
package struct ItemSearch: Sendable {
    /// The starting point of the search.
    package enum Seek: Sendable {
        /// The row with this primary-key digest; at most one.
        case primaryKey(Data)
        /// The rows that have all of these terms. The list must not be empty.
        case terms([Int64])
        /// The rows that are filed under one of these terms, such as a listing or an identifier. The row itself need
        /// not contain the term.
        case filed([Int64])
        /// Every row.
        case everything

        fileprivate func accepts(_ row: RowBinding) -> Bool {
            guard case .terms(let terms) = self else { return true }
            return terms.allSatisfy { row.terms.contains($0) }
        }
    }

    package var itemClass: ItemClass
    package var seek: Seek
    /// The further terms that a row must have.
    package var requiredTerms: [Int64]
    /// The digests of the allowed access groups; nil for all.
    package var groups: [Int64]?
    package var isSynchronizable: Bool?
    package var protection: ProtectionClass?
    package var isTombstone: Bool?
    package var identifier: UUID?

    package init(
        itemClass: ItemClass, seek: Seek, requiredTerms: [Int64] = [], groups: [Int64]? = nil,
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

    func accepts(_ row: RowBinding) -> Bool {
        row.itemClass == itemClass
            && (groups.map { $0.contains(row.group) } ?? true)
            && (isSynchronizable.map { $0 == row.isSynchronizable } ?? true)
            && (protection.map { $0 == row.protection } ?? true)
            && (isTombstone.map { $0 == row.isTombstone } ?? true)
            && (identifier.map { $0 == row.identifier } ?? true)
            && requiredTerms.allSatisfy { row.terms.contains($0) }
            && seek.accepts(row)
    }
}
