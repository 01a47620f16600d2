import Access
import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Brings a version of an item that another member made together with the one that is here: the greater version is in
/// force, and the other one stays in the item's history.
struct CircleMerge {
    private let making: CircleMaking
    private let scan: CircleScan

    private var session: CircleSession { making.session }
    private var tables: CircleWriter { making.tables }
    private var keybag: OpenedKeybag { making.keybag }

    init(_ making: CircleMaking, _ scan: CircleScan) { (self.making, self.scan) = (making, scan) }

    /// - Parameter record: It was checked, and opened as `body`.
    func take(
        _ record: CircleRecord, _ body: RecordBody, at place: CircleRecord.Place, _ held: CircleSession.HeldView,
        _ result: inout TakenObjects
    ) throws {
        guard var present = try scan.entry(named: place.name, body.primaryKey, held) else {
            if let deleted = try scan.forgotten(named: place.name, body.primaryKey, held), record.version < deleted {
                return try tellDeletionAgain(record, body, deleted, at: place, held)
            }
            try store(record, body, at: place, put(body.subject, over: nil))
            result.changed += 1
            return
        }
        let former = try session.open(CircleRecord(decoding: present.record), at: session.place(of: present))
        present = try renamed(present, former, to: place, record)
        let known = try CircleRecord(decoding: present.record)
        guard known.version != record.version, try !tables.reader.hasVersion(record.version.data, of: present) else {
            return
        }
        if record.version > known.version {
            let isConflict =
                !body.ancestors.contains(known.version) && !isSame(body.subject, former.subject, record, known)
            try store(record, body, at: place, put(body.subject, over: present, isFormerKept: isConflict))
            result.changed += 1
            if isConflict { try note(present.record, place, &result) }
            return
        }
        // It was seen, and forgotten.
        if former.ancestors.contains(record.version),
            record.version.time < HybridTime(making.now.addingTimeInterval(-ItemTombstone.kept))
        {
            return
        }
        // It comes late: it becomes a version before the present one.
        let isConflict =
            !former.ancestors.contains(record.version) && !isSame(body.subject, former.subject, record, known)
        try putBefore(body.subject, &present, isKept: isConflict)
        try tables.put(present)
        try tables.note(version: record.version.data, of: present)
        if isConflict { try note(record.encoded, place, &result) }
    }

    /// Moves what is known of an item from its name under an earlier generation of the view's keys to the present one.
    private func renamed(
        _ present: CircleRow, _ body: RecordBody, to place: CircleRecord.Place, _ record: CircleRecord
    ) throws -> CircleRow {
        guard present.name != place.name.bytes else { return present }
        var renamed = present
        (renamed.name, renamed.generation) = (place.name.bytes, record.generation)
        let version = try CircleRecord(decoding: present.record).version
        if version == record.version {
            renamed.record = record.encoded
        } else {
            renamed.record = try making.seal(body, version, at: place, record.generation).encoded
            try making.hand(.record, key: place.view.bytes + place.name.bytes, renamed.record)
        }
        try tables.rename(present, to: renamed)
        return renamed
    }

    /// A member that was away for long has an item that was deleted since, and nobody has its deletion any more: it is
    /// told again, with the version that it had.
    private func tellDeletionAgain(
        _ record: CircleRecord, _ body: RecordBody, _ deleted: RecordVersion, at place: CircleRecord.Place,
        _ held: CircleSession.HeldView
    ) throws {
        guard case .item(let item) = body.subject, session.member?.rights.contains(.write) == true else { return }
        let tombstone = ItemTombstone(
            itemClass: item.itemClass, identifier: item.identifier, deleted: making.now, primaryKey: body.primaryKey)
        var ancestors = body.ancestors
        ancestors.insert(record.version)
        let told = try making.seal(
            RecordBody(ancestors: ancestors, subject: .tombstone(tombstone)), deleted, at: place,
            held.entry.generation)
        try store(
            told, RecordBody(ancestors: ancestors, subject: .tombstone(tombstone)), at: place, Landing(row: 0))
        try making.hand(.record, key: place.view.bytes + place.name.bytes, told.encoded)
    }

    private func note(_ record: Data, _ place: CircleRecord.Place, _ result: inout TakenObjects) throws {
        try tables.note(conflict: record, view: place.view.bytes, name: place.name.bytes, found: making.now)
        result.conflicts += 1
    }

    private func store(
        _ record: CircleRecord, _ body: RecordBody, at place: CircleRecord.Place, _ landing: Landing
    ) throws {
        let identifier: UUID
        switch body.subject {
        case .item(let item): identifier = landing.binding?.identifier ?? item.identifier
        case .tombstone(let tombstone): identifier = tombstone.identifier
        }
        let entry = CircleRow(
            view: place.view.bytes, name: place.name.bytes, row: landing.row, identifier: identifier,
            local: landing.local, generation: record.generation, author: record.version.member, record: record.encoded)
        try tables.put(entry)
        try tables.note(version: record.version.data, of: entry)
    }

    /// Whether two versions have the same contents. Two members that make the same change are in no conflict, unless
    /// etcd accepted one of the two: two increments of one number are two.
    private func isSame(
        _ one: RecordBody.Subject, _ other: RecordBody.Subject, _ record: CircleRecord, _ known: CircleRecord
    ) -> Bool {
        !record.version.time.isDecided && !known.version.time.isDecided && Self.haveSameContents(one, other)
    }

    static func haveSameContents(_ one: RecordBody.Subject, _ other: RecordBody.Subject) -> Bool {
        switch (one, other) {
        case (.item(let one), .item(let other)):
            one.attributes == other.attributes && one.customAttributes == other.customAttributes
                && one.accessControl == other.accessControl && one.expiry == other.expiry
                && isEqualInConstantTime(one.value ?? Data(), other.value ?? Data())
        case (.tombstone, .tombstone): true
        default: false
        }
    }

    // MARK: The item in the vault

    private var transaction: ItemTransaction {
        let now = making.now
        return ItemTransaction(making.writer, keybag, .waived) { now }
    }

    /// The live item of a row, with its value; nil if the item is deleted.
    private func live(_ present: CircleRow?) throws -> FoundItem? {
        guard let present, let row = try making.writer.reader.row(present.row, includingCiphertext: true),
            !row.binding.isTombstone
        else { return nil }
        var item = try keybag.openMetadata(of: row)
        item.value = try keybag.openValue(of: row, accessControl: item.accessControl, .waived)
        return FoundItem(row: row, item: item)
    }

    /// The row that a version became, or the last one that its item had; 0 if it had none.
    private struct Landing {
        var row: Int64
        /// What the row is bound to; nil if there is no row.
        var binding: RowBinding?
        var local: Int64 { binding?.itemVersion ?? 0 }
    }

    private func landing(inRow row: Int64) throws -> Landing {
        Landing(row: row, binding: try making.writer.reader.row(row)?.binding)
    }

    /// Changes the item in the vault.
    ///
    /// - Parameter isFormerKept: Whether the version that was in force stays one of the former ones, as overruled,
    ///   whatever the item says.
    private func put(
        _ subject: RecordBody.Subject, over present: CircleRow?, isFormerKept: Bool = false
    ) throws -> Landing {
        guard let found = try live(present) else {
            if case .item(let item) = subject { return try insert(item) }
            return try landing(inRow: present?.row ?? 0)
        }
        let row = found.row.binding.rowID
        // Its owner keeps the item on this device.
        guard ItemPayload.travels(found.item) else { return try landing(inRow: row) }
        switch subject {
        case .tombstone:
            try transaction.remove(found.row, opened: found.item, isFormerKept: isFormerKept)
        case .item(var item):
            item.identifier = found.item.identifier
            try transaction.replace(
                found, with: item, isFormerKept: isFormerKept, isFormerKept ? .overruled : .replaced)
        }
        return try landing(inRow: row)
    }

    /// Makes a version one of the former ones, and leaves the present one in force.
    ///
    /// - Parameter isKept: Whether it stays, as overruled, whatever the item says.
    private func putBefore(_ subject: RecordBody.Subject, _ present: inout CircleRow, isKept: Bool) throws {
        guard case .item(var item) = subject, let found = try live(present), ItemPayload.travels(found.item),
            try isKept || transaction.kept(found.item) > 0
        else { return }
        item.identifier = found.item.identifier
        try transaction.replace(found, with: item, isFormerKept: true)
        if let before = try live(present) {
            try transaction.replace(before, with: found.item, isFormerKept: true, isKept ? .overruled : .replaced)
        }
        let landing = try landing(inRow: found.row.binding.rowID)
        (present.row, present.local) = (landing.row, landing.local)
    }

    private func insert(_ received: StoredItem) throws -> Landing {
        var item = received
        item.version = 1
        do {
            try transaction.requireUnusedIdentifier(of: item)
        } catch VaultError.duplicateItem {
            item.identifier = UUID()
        }
        do {
            let binding = try transaction.insert(item)
            return Landing(row: binding.rowID, binding: binding)
        } catch VaultError.duplicateItem {
            // It may be a change of this vault that was not handed on before the lock, and takes part after it.
            guard keybag.keys.lockState == .unlocked else { throw KeybagError.locked(.whenUnlocked) }
            throw CircleError.notPermitted("an item whose name an item has that stays on this device")
        }
    }
}
