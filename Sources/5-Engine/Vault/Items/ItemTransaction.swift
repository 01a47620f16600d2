import Access
import FoundationEssentials
import Items
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
    /// - Returns: What its row is bound to.
    /// - Throws: ``VaultError/duplicateItem`` if a live item has its primary key.
    @discardableResult
    func insert(_ item: StoredItem) throws -> RowBinding {
        try requireNoDuplicate(of: item)
        let (row, filing) = try keybag.seal(item, presence, rowID: writer.nextRowID(), version: item.version)
        writer.touched.note(item.accessGroup, of: row.binding.group)
        try writer.insert(row, filedUnder: filing)
        return row.binding
    }

    /// Stores a new item that had other values before, the oldest first: each was a version, which ended when the next
    /// one took its place.
    func insert(_ item: StoredItem, after former: [ReceiveItems.FormerValue]) throws {
        guard let oldest = former.first else {
            try insert(item)
            return
        }
        var version = item
        (version.value, version.modificationDate) = (oldest.value, item.creationDate)
        try insert(version)
        let later = former.dropFirst().map { $0.value as Data? } + [item.value]
        for (value, began) in zip(later, former.map(\.ended)) {
            guard case .found(let found) = try liveItem(withPrimaryKeyOf: item) else { throw VaultError.itemNotFound }
            version = item
            version.value = value
            version.version = found.row.binding.nextVersion
            version.modificationDate = max(began, found.item.modificationDate.addingTimeInterval(0.001)).nearestStorable
            try replace(found, with: version)
        }
    }

    /// Makes sure that no live item, of any class and group, has the identifier of `item`, and removes what a deleted
    /// item of the same group left behind under it.
    ///
    /// - Throws: ``VaultError/duplicateItem``.
    func requireUnusedIdentifier(of item: StoredItem) throws {
        let search = ItemSearch(
            itemClass: nil, seek: .filed(item.identifier.term), isTombstone: nil, identifier: item.identifier)
        for row in try writer.reader.rows(search, includingCiphertext: false) {
            guard row.binding.isTombstone else { throw VaultError.duplicateItem }
            guard row.binding.group == keybag.groupDigest(item.accessGroup) else { continue }
            _ = try keybag.openMetadata(of: row)
            try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row))
        }
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
        let closed = keybag.closedIndex
        let search = ItemSearch(itemClass: item.itemClass, seek: .primaryKeys(keybag.primaryKeys(of: item, closed)))
        if let row = try writer.reader.rows(search, includingCiphertext: true).first { return row }
        if closed == nil { try checkSearchable(for: item) }
        return nil
    }

    private func checkSearchable(for item: StoredItem) throws {
        try keybag.checkSearchable(item.itemClass, in: [keybag.groupDigest(item.accessGroup)], writer.reader)
    }

    /// Makes sure that no live item has the primary key of `item`, and removes a tombstone that has it.
    ///
    /// - Throws: ``VaultError/duplicateItem``, and ``KeybagError/locked(_:)`` where that cannot be known before the
    ///   first unlocking.
    private func requireNoDuplicate(of item: StoredItem) throws {
        let closed = keybag.closedIndex
        let search = ItemSearch(
            itemClass: item.itemClass, seek: .primaryKeys(keybag.primaryKeys(of: item, closed)), isTombstone: nil)
        if closed == nil { try checkSearchable(for: item) }
        for row in try writer.reader.rows(search, includingCiphertext: false) {
            guard row.binding.isTombstone else { throw VaultError.duplicateItem }
            // A live row that was made to look like a tombstone is damage and not room.
            _ = try keybag.openMetadata(of: row)
            try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row))
        }
    }

    /// Replaces a found item by `item`, which keeps the row and the identifier.
    ///
    /// - Parameters:
    ///   - isFormerKept: Whether the version that was in force stays, however many versions the item keeps, until the
    ///     next change.
    ///   - end: How that version ends.
    func replace(
        _ found: FoundItem, with item: StoredItem, isFormerKept: Bool = false, _ end: VersionEnd = .replaced
    ) throws {
        let old = found.row
        let oldTerms = keybag.filedTerms(of: old)
        // The digest alone also changes when the item gets another class.
        let movesAway =
            !hasSamePrimaryKey(found.item, item) && !keybag.primaryKeys(of: item).contains(old.binding.primaryKey)
        if movesAway { try requireNoDuplicate(of: item) }

        let version = old.binding.nextVersion
        let hasNewValue = found.item.value != item.value
        let kept = try kept(item)
        if hasNewValue && kept > 0 || isFormerKept { try writer.keepFormer(old, end) }
        if !isFormerKept, hasNewValue || item.kept != found.item.kept {
            try writer.dropFormer(of: old.binding.rowID, keeping: kept)
        }
        if isBoundAlike(found.item, item), !hasNewValue {
            let (row, filing) = try keybag.resealMetadata(of: old, as: item, version: version)
            writer.touched.note(item.accessGroup, of: row.binding.group)
            try writer.replaceMetadata(row, filedUnder: filing, insteadOf: oldTerms)
        } else {
            let isGuardedAlike = found.item.accessControl == item.accessControl
            let (row, filing) = try keybag.seal(
                item, insteadOf: isGuardedAlike ? old : nil, presence, rowID: old.binding.rowID, version: version)
            writer.touched.note(item.accessGroup, of: row.binding.group)
            try writer.replace(row, filedUnder: filing, insteadOf: oldTerms)
        }
        if movesAway, old.binding.isSynchronizable {
            let (tombstone, filing) = try keybag.sealTombstone(
                for: old, identifier: UUID(), rowID: writer.nextRowID(), version: 1, item: found.item, now: now())
            writer.touched.note(found.item.accessGroup, of: tombstone.binding.group)
            try writer.insert(tombstone, filedUnder: filing)
        }
    }

    /// Whether two items of a class have the same primary key. Without digests, which cost more.
    private func hasSamePrimaryKey(_ first: StoredItem, _ second: StoredItem) -> Bool {
        first.accessGroup == second.accessGroup && first.isSynchronizable == second.isSynchronizable
            && first.itemClass.schema.primaryKey.allSatisfy { first.attributes[$0.name] == second.attributes[$0.name] }
    }

    /// Whether the values of both items are sealed to the same properties.
    private func isBoundAlike(_ first: StoredItem, _ second: StoredItem) -> Bool {
        first.accessControl == second.accessControl && first.accessGroup.isSameGroup(as: second.accessGroup)
            && first.isSynchronizable == second.isSynchronizable
    }

    /// How many former versions of an item are kept.
    func kept(_ item: StoredItem) throws -> Int { try item.kept.count ?? writer.reader.defaultKept() }

    /// Removes a row; a synchronizable one leaves a tombstone. If former versions of the item are kept, the row becomes
    /// one of them.
    ///
    /// - Parameters:
    ///   - item: The opened item where that was possible; deleting needs no key.
    ///   - isFormerKept: Whether the version that was in force stays, however many versions the item keeps.
    func remove(_ row: ItemRow, opened item: StoredItem?, isFormerKept: Bool = false) throws {
        let terms = keybag.filedTerms(of: row)
        if isFormerKept {
            try writer.keepFormer(row, .deleted)
        } else if !row.binding.isTombstone {
            try keepDeleted(row, item)
        }
        guard row.binding.isSynchronizable, !row.binding.isTombstone else {
            return try writer.delete(row.binding.rowID, filedUnder: terms)
        }
        let (tombstone, filing) = try keybag.sealTombstone(
            for: row, identifier: row.binding.identifier, rowID: row.binding.rowID,
            version: row.binding.nextVersion, item: item, now: now())
        try writer.replace(tombstone, filedUnder: filing, insteadOf: terms)
    }

    private func keepDeleted(_ row: ItemRow, _ item: StoredItem?) throws {
        guard let item else {
            // A locked item does not tell how many versions it keeps. If it has some, or all items do, this one stays.
            let isKept = try writer.reader.hasFormerRows(row.binding.rowID) || writer.reader.defaultKept() > 0
            if isKept { try writer.keepFormer(row, .deleted) }
            return
        }
        let kept = try kept(item)
        if kept > 0 {
            try writer.keepFormer(row, .deleted)
            try writer.dropFormer(ofPrimaryKey: row.binding.primaryKey, keeping: kept)
        }
        try writer.dropFormer(of: row.binding.rowID, keeping: kept)
    }

    /// Gives a row that earlier software wrote the digests under the key that its class asks for. It becomes the first
    /// version of its item.
    ///
    /// - Parameter number: The number of the row, which may be gone.
    func renewDigests(ofRow number: Int64) throws {
        guard let row = try writer.reader.row(number), row.binding.version == 0, !row.binding.isTombstone else {
            return
        }
        let (renewed, filing) = try keybag.resealMetadata(of: row, as: keybag.openMetadata(of: row), version: 1)
        try writer.replaceMetadata(renewed, filedUnder: filing, insteadOf: keybag.filedTerms(of: row))
    }

    /// Gives a found item the value and attributes that it had in a former version, as a new version.
    ///
    /// - Returns: The item as it is now.
    func restore(_ former: StoredItem, insteadOf found: FoundItem) throws -> StoredItem {
        var item = former
        // It says how the item is treated, and not what is in it.
        item.kept = found.item.kept
        item.version = found.row.binding.nextVersion
        item.modificationDate = max(now(), found.item.modificationDate.addingTimeInterval(0.001)).nearestStorable
        try replace(found, with: item)
        return item
    }

    /// Brings back a deleted item, with its identifier.
    ///
    /// - Parameters:
    ///   - former: The item as it was in the version that comes back.
    ///   - last: The last version of the item.
    /// - Throws: ``VaultError/duplicateItem`` if a live item has its primary key.
    func bringBack(_ former: StoredItem, last: RowBinding) throws -> StoredItem {
        var item = former
        item.modificationDate = max(now(), former.modificationDate.addingTimeInterval(0.001)).nearestStorable
        // A tombstone was a version, too.
        let search = ItemSearch(
            itemClass: item.itemClass, seek: .filed(item.identifier.term), isTombstone: nil, identifier: item.identifier
        )
        let present = try writer.reader.rows(search, includingCiphertext: false)
        item.version = present.map(\.binding.nextVersion).reduce(last.nextVersion, max)
        let primaryKeys = keybag.primaryKeys(of: item)
        try requireNoDuplicate(of: item)
        for row in present where !primaryKeys.contains(row.binding.primaryKey) {
            guard row.binding.isTombstone else { throw VaultError.duplicateItem }
            try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row))
        }
        let (row, filing) = try keybag.seal(item, presence, rowID: last.rowID, version: item.version)
        writer.touched.note(item.accessGroup, of: row.binding.group)
        try writer.insert(row, filedUnder: filing)
        try writer.dropFormer(of: last.rowID, keeping: max(1, kept(item)))
        return item
    }
}
