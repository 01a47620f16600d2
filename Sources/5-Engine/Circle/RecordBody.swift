import Bytes
import FoundationEssentials
import Frames
import KeychainModel
import Sealing

/// What a record holds.
///
///     length of what follows, without the zeros (4)
///     ancestors: the number (1), and for each member: number (4), time (8); the version itself is not among them
///     the item, or what is left of it
///     zeros
package struct RecordBody: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        case item(StoredItem)
        case tombstone(ItemTombstone)
    }

    package var ancestors: Ancestors
    package var subject: Subject

    package init(ancestors: Ancestors, subject: Subject) {
        (self.ancestors, self.subject) = (ancestors, subject)
    }

    package var content: CircleRecord.Content {
        if case .item = subject { .item } else { .tombstone }
    }

    /// What names the item; see ``ItemPayload/primaryKey(of:)``.
    package var primaryKey: [UInt8] {
        switch subject {
        case .item(let item): ItemPayload.primaryKey(of: item)
        case .tombstone(let tombstone): tombstone.primaryKey
        }
    }

    var padded: Data {
        get throws(CircleError) {
            let buffer = FrameBuffer()
            buffer.append(UInt32(0))
            ancestors.encode(to: buffer)
            switch subject {
            case .item(let item): try ItemPayload.encode(item, to: buffer)
            case .tombstone(let tombstone): tombstone.encode(to: buffer)
            }
            buffer.overwrite(UInt32(truncatingIfNeeded: buffer.count - 4), at: 0)
            buffer.appendRaw(Data(count: Self.paddedSize(buffer.count) - buffer.count))
            return .wipedWhenFreed(copying: buffer.bytes)
        }
    }

    init(decodingPadded text: Data, _ content: CircleRecord.Content) throws(CircleError) {
        self = try CircleForm.read(text, as: "body of a record") { reader in
            let count = try reader.count(limit: reader.remaining - 4)
            let padding = reader.remaining - count
            guard count + 4 + padding == Self.paddedSize(count + 4) else { throw FrameError("another padding") }
            let ancestors = try Ancestors(from: &reader)
            let subject: Subject
            switch content {
            case .item:
                subject = .item(try ItemPayload.decode(from: &reader, count: reader.remaining - padding))
            case .tombstone: subject = .tombstone(try ItemTombstone(from: &reader))
            }
            guard reader.remaining == padding, try reader.take(padding).allSatisfy({ $0 == 0 }) else {
                throw FrameError("bytes after the item")
            }
            return RecordBody(ancestors: ancestors, subject: subject)
        }
    }

    /// Up to 4 KiB a multiple of 128; above, at most 12 % more, in few different sizes (Padmé; Nikitin and others,
    /// "Reducing Metadata Leakage from Encrypted Files and Communication with PURBs", 2019).
    static func paddedSize(_ size: Int) -> Int {
        guard size > 4096 else { return (size + 127) / 128 * 128 }
        let exponent = Int.bitWidth - 1 - size.leadingZeroBitCount
        let kept = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - kept)) - 1
        return (size + mask) & ~mask
    }
}

/// What a record says of an item that was deleted, or that got another name.
///
///     class (1), identifier (16), when it was deleted (8), from when on members may forget it (8), length (4) and
///     bytes of what named it; dates are IEEE 754 doubles, seconds since 2001-01-01 00:00:00 UTC
package struct ItemTombstone: Sendable, Hashable {
    /// How long members remember that an item was deleted: a member that was away for so long may bring it back.
    package static let kept: TimeInterval = 90 * 24 * 3_600

    package var itemClass: ItemClass
    package var identifier: UUID
    package var deleted: Date
    package var deadline: Date
    /// ``ItemPayload/primaryKey(of:)`` of the item, so that it can be named anew under a later key of the view.
    package var primaryKey: [UInt8]

    package init(itemClass: ItemClass, identifier: UUID, deleted: Date, primaryKey: [UInt8]) {
        (self.itemClass, self.identifier, self.deleted) = (itemClass, identifier, deleted)
        self.primaryKey = primaryKey
        deadline = deleted.addingTimeInterval(Self.kept)
    }

    func encode(to buffer: FrameBuffer) {
        buffer.append(itemClass.storedCode)
        withUnsafeBytes(of: identifier.uuid) { buffer.appendRaw($0) }
        buffer.append(deleted.timeIntervalSinceReferenceDate.bitPattern)
        buffer.append(deadline.timeIntervalSinceReferenceDate.bitPattern)
        primaryKey.withUnsafeBytes { buffer.append(counted: $0) }
    }

    init(from reader: inout FrameReader) throws {
        itemClass = try ItemPayload.itemClass(from: &reader)
        identifier = try ItemPayload.identifier(from: &reader)
        deleted = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.integer())).nearestStorable
        deadline = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.integer())).nearestStorable
        primaryKey = [UInt8](try reader.counted(limit: ItemLimits.attributes))
    }
}

/// An item in a record.
///
///     class (1), protection class (1), identifier (16), length of the attributes (4), attributes in the form in which
///     the item store seals them, 1 if there is a value, else 0, and the value
package enum ItemPayload {
    static func encode(_ item: StoredItem, to buffer: FrameBuffer) throws(CircleError) {
        guard travels(item) else { throw .notPermitted("an item that stays on its device") }
        let metadata = ItemMetadata(
            accessControlFlags: nil, creationDate: item.creationDate, modificationDate: item.modificationDate,
            accessGroup: item.accessGroup, attributes: item.attributes, customAttributes: item.customAttributes,
            expiry: item.expiry, kept: item.kept)
        guard let attributes = try? metadata.encoded() else { throw .malformed("item") }
        buffer.append(item.itemClass.storedCode)
        buffer.append(item.accessControl.protection.storedCode)
        withUnsafeBytes(of: item.identifier.uuid) { buffer.appendRaw($0) }
        attributes.withUnsafeBytes { buffer.append(counted: $0) }
        buffer.append(item.value != nil)
        item.value?.withUnsafeBytes { buffer.appendRaw($0) }
    }

    static func decode(from reader: inout FrameReader, count: Int) throws -> StoredItem {
        let end = reader.remaining - count
        let itemClass = try itemClass(from: &reader)
        guard let protection = ProtectionClass(storedCode: try reader.integer()), !protection.isThisDeviceOnly else {
            throw FrameError("a class that stays on its device")
        }
        let identifier = try identifier(from: &reader)
        let attributes = try ItemMetadata(decoding: try reader.counted(limit: ItemLimits.attributes))
        guard attributes.accessControlFlags == nil else { throw FrameError("an access control") }
        var item = StoredItem(
            itemClass: itemClass, identifier: identifier, attributes: attributes.attributes,
            customAttributes: attributes.customAttributes, accessGroup: attributes.accessGroup,
            accessControl: AccessControl(protection: protection), isSynchronizable: true,
            creationDate: attributes.creationDate, modificationDate: attributes.modificationDate)
        (item.expiry, item.kept) = (attributes.expiry, attributes.kept)
        let hasValue = try reader.bool()
        guard reader.remaining >= end, hasValue || reader.remaining == end else { throw FrameError("ends early") }
        if hasValue { item.value = .wipedWhenFreed(copying: try reader.take(reader.remaining - end)) }
        return item
    }

    /// Whether an item may leave its device: its class permits it, and nothing but the class guards it.
    package static func travels(_ item: StoredItem) -> Bool {
        item.isSynchronizable && !item.isTombstone && ItemClass.stored.contains(item.itemClass)
            && !item.accessControl.protection.isThisDeviceOnly && item.accessControl.flags == nil
            && item.attributes[.tokenID]?.isEmpty ?? true
    }

    /// Which key of a view seals an item.
    package static func keyClass(of item: StoredItem) -> KeyClass {
        item.accessControl.protection.availability == .whileUnlocked ? .whileUnlocked : .afterFirstUnlock
    }

    /// What names an item in its view: the class, and the attributes of its primary key without access group and
    /// synchronizability, as name (4), length (4) and canonical bytes.
    package static func primaryKey(of item: StoredItem) -> [UInt8] {
        var message: [UInt8] = [item.itemClass.storedCode]
        for definition in item.itemClass.schema.primaryKey {
            guard definition.name != .accessGroup, definition.name != .synchronizable,
                let value = item.attributes[definition.name] ?? definition.defaultValue
            else { continue }
            var bytes: [UInt8] = []
            value.appendCanonicalBytes(as: definition.kind, to: &bytes)
            message.append(bigEndian: definition.name.code)
            message.append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
            message += bytes
        }
        return message
    }

    static func itemClass(from reader: inout FrameReader) throws -> ItemClass {
        guard let itemClass = ItemClass(storedCode: try reader.integer()), itemClass != .identity else {
            throw FrameError("a class that no item has")
        }
        return itemClass
    }

    static func identifier(from reader: inout FrameReader) throws -> UUID {
        UUID(uuid: try reader.take(16).loadUnaligned(as: uuid_t.self))
    }
}
