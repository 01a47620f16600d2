import Access
import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Finds what changed in the vault since the circle was told last, and makes records of it.
struct CircleScan {
    let making: CircleMaking
    /// The most rows to look at in one transaction.
    static let slice = 500

    private var session: CircleSession { making.session }
    private var writer: ItemStore.Writer { making.writer }
    private var tables: CircleWriter { making.tables }
    private var keybag: OpenedKeybag { making.keybag }

    init(_ making: CircleMaking) { self.making = making }

    /// Looks at the rows of all views.
    ///
    /// - Returns: Whether there are more.
    func run(limit: Int = CircleScan.slice) throws -> Bool {
        guard session.standing == .member, session.member?.rights.contains(.write) == true else { return false }
        var left = limit
        for held in try session.heldViews().values.sorted(by: { $0.identifier < $1.identifier }) {
            try run(held, &left)
            guard left > 0 else { return true }
        }
        return false
    }

    private func run(_ held: CircleSession.HeldView, _ left: inout Int) throws {
        let name = CircleSession.State.scanned + held.identifier.description
        let before = try tables.reader.state(name) ?? Data(count: 16)
        var place = (change: Int64(bigEndianBytes: before.prefix(8)), row: Int64(bigEndianBytes: before.suffix(8)))
        let start = place
        let group = keybag.groupDigest(held.body.name)
        // What is locked is looked at again after the unlocking. Until then, what comes later is looked at each time.
        var isStuck = false
        do {
            left -= try making.sealOwnAnew(held, limit: left)
        } catch KeybagError.locked {
            isStuck = true
        }
        try noteItemsThatLeft(held, group, since: start.change)
        for (change, row, version) in try tables.reader.changedRows(
            inGroup: group, after: place.change, row: place.row, limit: left)
        {
            left -= 1
            do {
                try look(atRow: row, version, held)
            } catch KeybagError.locked {
                isStuck = true
            }
            if !isStuck { place = (change, row) }
        }
        guard place != start else { return }
        try tables.set(name, Data(place.change.bigEndianBytes + place.row.bigEndianBytes))
    }

    /// An item that got another access group leaves its view.
    private func noteItemsThatLeft(_ held: CircleSession.HeldView, _ group: Int64, since change: Int64) throws {
        let known = try writer.reader.knownChanges(since: change, in: [group])
        _ = try writer.reader.forEachChange(since: change, through: known.next, in: [group]) { item in
            guard item.isDeleted else { return true }
            for entry in try tables.reader.items(with: item.identifier) where entry.view == held.identifier.bytes {
                let row = try writer.reader.row(entry.row)
                guard row.map({ $0.binding.group != group }) ?? true else { continue }
                try bury(entry, held, at: making.now, local: entry.local)
            }
            return true
        }
    }

    private func look(atRow number: Int64, _ version: Int64, _ held: CircleSession.HeldView) throws {
        let known = try tables.reader.items(ofRow: number).filter { $0.view == held.identifier.bytes }
        // Most rows that changed are those that were taken from others.
        if known.contains(where: { $0.local == version }) { return }
        try tables.set(CircleSession.State.large + Data(number.bigEndianBytes).hexadecimal(), nil)
        guard let row = try writer.reader.row(number, includingCiphertext: true) else { return }
        if row.binding.isTombstone {
            for entry in known where entry.local != row.binding.itemVersion {
                try bury(entry, held, at: making.now, local: row.binding.itemVersion)
            }
            return
        }
        var item = try keybag.openMetadata(of: row)
        guard ItemPayload.travels(item) else {
            for entry in known { try bury(entry, held, at: item.modificationDate, local: row.binding.itemVersion) }
            return
        }
        item.value = try keybag.openValue(of: row, accessControl: item.accessControl, .waived)
        guard let key = try session.viewKey(held.identifier, held.entry.generation, .afterFirstUnlock) else { return }
        let primaryKey = ItemPayload.primaryKey(of: item)
        let name = key.name(ofPrimaryKey: primaryKey)
        let present = try entry(named: name, primaryKey, held)
        for entry in known where entry.name != present?.name && entry.name != name.bytes {
            // It got another name.
            try bury(entry, held, at: item.modificationDate, local: row.binding.itemVersion)
        }
        let base = try present.map { try CircleRecord(decoding: $0.record) }
        let version = RecordVersion(
            time: making.time(ofChangeAt: item.modificationDate, after: base?.version.time ?? .zero),
            member: session.number ?? 0)
        let body = RecordBody(
            ancestors: try present.map { try ancestors(of: $0) } ?? Ancestors(), subject: .item(item))
        let place = try session.place(of: name, in: held.identifier)
        let record: CircleRecord
        do {
            record = try making.seal(body, version, at: place, held.entry.generation)
        } catch CircleError.notPermitted {
            // It is too large, and stays here.
            return try tables.set(CircleSession.State.large + Data(number.bigEndianBytes).hexadecimal(), Data())
        }
        let entry = CircleRow(
            view: held.identifier.bytes, name: name.bytes, row: number, identifier: item.identifier,
            local: row.binding.itemVersion, generation: record.generation, author: version.member,
            record: record.encoded)
        try put(entry, insteadOf: present, version)
    }

    /// What is known of an item, under its present name or one of an earlier generation of the view's keys.
    func entry(
        named name: Identifier16, _ primaryKey: [UInt8], _ held: CircleSession.HeldView
    ) throws -> CircleRow? {
        try firstOfNames(of: name, primaryKey, held) { try tables.reader.item($0.bytes, in: held.identifier.bytes) }
    }

    /// The version with which an item was deleted that is forgotten but for that; nil if there is none.
    func forgotten(
        named name: Identifier16, _ primaryKey: [UInt8], _ held: CircleSession.HeldView
    ) throws -> RecordVersion? {
        try firstOfNames(of: name, primaryKey, held) { name in
            try tables.reader.lastVersion(of: name.bytes, in: held.identifier.bytes).map(RecordVersion.init(decoding:))
        }
    }

    /// What `find` finds first under the names that an item had: the present one, and those of earlier generations.
    private func firstOfNames<Found>(
        of name: Identifier16, _ primaryKey: [UInt8], _ held: CircleSession.HeldView,
        _ find: (Identifier16) throws -> Found?
    ) throws -> Found? {
        let view = held.identifier
        if let found = try find(name) { return found }
        for generation in try session.generations(of: view).reversed()
        where generation != held.entry.generation {
            guard let key = try session.viewKey(view, generation, .afterFirstUnlock) else { continue }
            if let found = try find(key.name(ofPrimaryKey: primaryKey)) { return found }
        }
        return nil
    }

    /// What a change of an item comes from.
    func ancestors(of entry: CircleRow) throws -> Ancestors {
        let record = try CircleRecord(decoding: entry.record)
        var ancestors = try session.open(record, at: session.place(of: entry)).ancestors
        ancestors.insert(record.version)
        return ancestors
    }

    private func put(_ entry: CircleRow, insteadOf former: CircleRow?, _ version: RecordVersion) throws {
        if let former { try tables.rename(former, to: entry) } else { try tables.put(entry) }
        try tables.note(version: version.data, of: entry)
        try making.hand(.record, key: entry.view + entry.name, entry.record)
    }

    /// Tells that an item is gone.
    private func bury(_ entry: CircleRow, _ held: CircleSession.HeldView, at date: Date, local: Int64) throws {
        let former = try CircleRecord(decoding: entry.record)
        var renewed = entry
        renewed.local = local
        guard former.content == .item,
            let key = try session.viewKey(held.identifier, held.entry.generation, .afterFirstUnlock)
        else { return try tables.put(renewed) }
        let body = try session.open(former, at: session.place(of: entry))
        guard case .item(let item) = body.subject else { return }
        let name = key.name(ofPrimaryKey: body.primaryKey)
        let version = RecordVersion(
            time: making.time(ofChangeAt: date, after: former.version.time), member: session.number ?? 0)
        let tombstone = ItemTombstone(
            itemClass: item.itemClass, identifier: item.identifier, deleted: making.now, primaryKey: body.primaryKey)
        var ancestors = body.ancestors
        ancestors.insert(former.version)
        (renewed.name, renewed.generation, renewed.author) = (name.bytes, held.entry.generation, version.member)
        renewed.record = try making.seal(
            RecordBody(ancestors: ancestors, subject: .tombstone(tombstone)), version,
            at: session.place(of: name, in: held.identifier), held.entry.generation
        ).encoded
        try put(renewed, insteadOf: entry, version)
    }
}
