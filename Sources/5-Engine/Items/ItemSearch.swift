import FoundationEssentials
import KeychainModel
import Sealing

/// Which rows an operation has to look at, in terms that can be decided without a key.
package struct ItemSearch {
    /// Where to start.
    package enum Seek: Sendable {
        /// The row with this primary-key digest; at most one.
        case primaryKey(Data)
        /// Rows that have every one of these terms; none of them may be empty.
        case terms([Int64])
        /// Rows filed under one of these terms, which need not be among the row's own: a listing or an
        /// identifier.
        case filed([Int64])
        /// Every row.
        case everything
    }

    package var itemClass: ItemClass
    package var seek: Seek
    /// Terms a row must have besides those it was found by.
    package var requiredTerms: [Int64]
    /// The digests of the groups a row may be in; nil for all.
    package var groups: [Int64]?
    package var isSynchronizable: Bool?
    package var protection: ProtectionClass?
    package var isTombstone: Bool?
    package var identifier: UUID?
    /// Where rows that cannot be what this software wrote are reported, which are then left out; nil to fail
    /// on the first.
    package var reportMalformed: ((StoreError) -> Void)?

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
    }
}
