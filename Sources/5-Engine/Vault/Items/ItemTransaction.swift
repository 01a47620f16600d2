import Access
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// The steps of writes, in one transaction.
struct ItemTransaction {
    private let writer: ItemStore.Writer
    private let keybag: OpenedKeybag
    private let presence: PresenceCheck
    private let now: @Sendable () -> Date

    init(
        _ writer: ItemStore.Writer, _ keybag: OpenedKeybag, _ presence: PresenceCheck,
        _ now: @escaping @Sendable () -> Date
    ) {
        self.writer = writer
        self.keybag = keybag
        self.presence = presence
        self.now = now
    }

    /// Stores a new item.
    ///
    /// - Throws: ``VaultError/duplicateItem`` if a live item has its primary key.
    func insert(_ item: StoredItem) throws {
        try requireNoDuplicate(of: keybag.primaryKey(of: item), of: item.itemClass)
        let (row, filing) = try keybag.seal(item, presence, rowID: writer.nextRowID())
        writer.touched.note(item.accessGroup, of: row.binding.group)
        try writer.insert(row, filedUnder: filing)
    }

    /// The live item that has the primary key of `item`, opened with its value; an operation that leaves out
    /// items that need a person finds none.
    func liveItem(withPrimaryKeyOf item: StoredItem) throws -> LiveItem {
        guard let row = try liveRow(withPrimaryKeyOf: item) else { return .none }
        var found = try keybag.openMetadata(of: row)
        guard try keybag.permits(found, in: row, presence) else { return .withheld }
        found.value = try keybag.openValue(of: row, accessControl: found.accessControl, presence)
        return .found(FoundItem(row: row, item: found))
    }

    /// The result of a search for a primary key.
    enum LiveItem {
        case none
        /// An item that needs a person, and the operation asks nobody.
        case withheld
        case found(FoundItem)
    }

    /// The row of the live item that has the primary key of `item`.
    func liveRow(withPrimaryKeyOf item: StoredItem) throws -> ItemRow? {
        let search = ItemSearch(itemClass: item.itemClass, seek: .primaryKey(keybag.primaryKey(of: item)))
        return try writer.reader.rows(search, includingCiphertext: true).first
    }

    /// Makes sure that no live item has this primary key, and removes a tombstone that has it.
    ///
    /// - Throws: ``VaultError/duplicateItem``.
    private func requireNoDuplicate(of primaryKey: Data, of itemClass: ItemClass) throws {
        let search = ItemSearch(itemClass: itemClass, seek: .primaryKey(primaryKey), isTombstone: nil)
        for row in try writer.reader.rows(search, includingCiphertext: false) {
            guard row.binding.isTombstone else { throw VaultError.duplicateItem }
            // A live row that was made to look like a tombstone is damage and not room.
            _ = try keybag.openMetadata(of: row)
            try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row))
        }
    }

    /// Replaces a found item by `item`, which keeps the row and the identifier.
    func replace(_ found: FoundItem, with item: StoredItem) throws {
        let old = found.row
        let primaryKey = keybag.primaryKey(of: item)
        let oldTerms = keybag.filedTerms(of: old)
        let movesAway = primaryKey != old.binding.primaryKey
        if movesAway { try requireNoDuplicate(of: primaryKey, of: item.itemClass) }

        if isBoundAlike(found.item, item), found.item.value == item.value {
            let (row, filing) = try keybag.resealMetadata(of: old, as: item)
            writer.touched.note(item.accessGroup, of: row.binding.group)
            try writer.replaceMetadata(row, filedUnder: filing, insteadOf: oldTerms)
        } else {
            let isGuardedAlike = found.item.accessControl == item.accessControl
            let (row, filing) = try keybag.seal(
                item, insteadOf: isGuardedAlike ? old : nil, presence, rowID: old.binding.rowID)
            writer.touched.note(item.accessGroup, of: row.binding.group)
            try writer.replace(row, filedUnder: filing, insteadOf: oldTerms)
        }
        if movesAway, old.binding.isSynchronizable {
            let (tombstone, filing) = try keybag.sealTombstone(
                for: old, identifier: UUID(), rowID: writer.nextRowID(), item: found.item, now: now())
            writer.touched.note(found.item.accessGroup, of: tombstone.binding.group)
            try writer.insert(tombstone, filedUnder: filing)
        }
    }

    /// Whether the values of both items are sealed to the same properties.
    private func isBoundAlike(_ first: StoredItem, _ second: StoredItem) -> Bool {
        first.accessControl == second.accessControl && first.accessGroup.isSameGroup(as: second.accessGroup)
            && first.isSynchronizable == second.isSynchronizable
    }

    /// Removes a row; a synchronizable one leaves a tombstone.
    ///
    /// - Parameter item: The opened item where that was possible; deleting needs no key.
    func remove(_ row: ItemRow, opened item: StoredItem?) throws {
        let terms = keybag.filedTerms(of: row)
        guard row.binding.isSynchronizable, !row.binding.isTombstone else {
            return try writer.delete(row.binding.rowID, filedUnder: terms)
        }
        let (tombstone, filing) = try keybag.sealTombstone(
            for: row, identifier: row.binding.identifier, rowID: row.binding.rowID, item: item, now: now())
        try writer.replace(tombstone, filedUnder: filing, insteadOf: terms)
    }
}
