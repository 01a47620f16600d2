import FoundationEssentials

/// How many former versions of an item the vault keeps.
package enum KeptVersions: Sendable, Hashable {
    /// As many as the vault's default says.
    case vaultDefault
    /// This many, at most ``largest``. Zero keeps none.
    case atMost(Int)

    /// The most former versions of one item that a vault keeps.
    package static let largest = 1_000

    package init(_ count: Int?) { self = count.map(KeptVersions.atMost) ?? .vaultDefault }

    /// Nil for the vault's default.
    package var count: Int? {
        if case .atMost(let count) = self { count } else { nil }
    }

    /// Whether a vault can keep so many.
    package var isValid: Bool { count.map { (0...Self.largest).contains($0) } ?? true }
}

/// The last change of an item. A program gets it when it asks for the changes since a number.
package struct ChangedItem: Sendable, Hashable {
    package var itemClass: ItemClass
    package var identifier: UUID
    /// The number of the vault's change that did it.
    package var change: Int64
    /// The version that the item has since; 0 for one that is gone.
    package var version: Int64
    /// The number of a version that was overruled since the change that the program knew; 0 for none.
    package var overruled: Int64

    package init(itemClass: ItemClass, identifier: UUID, change: Int64, version: Int64, overruled: Int64 = 0) {
        self.itemClass = itemClass
        self.identifier = identifier
        self.change = change
        self.version = version
        self.overruled = overruled
    }

    /// Whether the item is gone: deleted, or moved to another access group.
    package var isDeleted: Bool { version == 0 }
}

/// What a program knows of a vault's changes after it has read them.
package struct KnownChanges: Sendable, Hashable {
    /// The number to ask from the next time.
    package var next: Int64
    /// False if the vault does not know any more which items were deleted since the number that was asked from. Then
    /// the changes are not all, and the items have to be read again.
    package var isComplete: Bool

    package init(next: Int64, isComplete: Bool) {
        self.next = next
        self.isComplete = isComplete
    }
}

/// A version of an item, present or former.
package struct ItemVersion: Sendable, Hashable {
    /// The item as it was, with the number of the version. Without its value.
    package var item: StoredItem
    /// The number of the change that made the version.
    package var change: Int64
    /// The number of the change that ended the version; nil for the present one.
    package var ended: Int64?
    /// Whether the version ended because the item was deleted.
    package var isDeleted: Bool
    /// Whether another machine made a later version without knowledge of this one, which took its place.
    package var isOverruled: Bool

    package init(item: StoredItem, change: Int64, ended: Int64?, isDeleted: Bool, isOverruled: Bool = false) {
        self.item = item
        self.change = change
        self.ended = ended
        self.isDeleted = isDeleted
        self.isOverruled = isOverruled
    }
}
