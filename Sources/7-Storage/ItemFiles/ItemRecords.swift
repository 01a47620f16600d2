import Bytes
import CLibrary
import FoundationEssentials
import Frames
import KeychainModel
import VaultInterface

/// The contents of a file of items: the number of items (4), and the items.
///
/// An item is the number of its fields (4), and the fields. A field is its number (1), the length of what follows (4),
/// and that. Fields ascend by their numbers, those of one number by names. A reader refuses what it does not know.
///
///     field  contents
///         1  class (1)
///         2  identifier (16)
///         3  protection class (1)
///         4  flags of the access control (8), if it has flags
///         5  1 if the item is synchronizable, else 0
///         6  creation date (8)      } IEEE 754 double, seconds since
///         7  modification date (8)  } 2001-01-01 00:00:00 UTC
///         8  expiry (8), the same, if there is one
///         9  access group
///        10  an attribute: name (4), type (1), value
///        11  a custom attribute: length of the name (1), name, value
///        12  value, if there is one
///        13  version of the item (8), from 1 on
///        14  how many former versions a vault keeps of it (2), if the item says so
enum ItemRecords {
    private enum Field: UInt8 {
        case itemClass = 1
        case identifier, protection, flags, synchronizable, creation, modification, expiry, group, attribute, custom
        case value, version, kept
    }

    // MARK: Writing

    static func encode(_ items: [StoredItem]) throws(ItemFileError) -> FrameBuffer {
        guard items.count <= ReceiveItems.most else { throw .tooLarge(limit: ItemFile.largestContents) }
        guard !items.isEmpty else { throw .bound(reason: "there is no item to send") }
        let buffer = FrameBuffer()
        buffer.append(UInt32(truncatingIfNeeded: items.count))
        for item in items {
            try encode(item, to: buffer)
            guard buffer.count <= ItemFile.largestContents else {
                throw .tooLarge(limit: ItemFile.largestContents)
            }
        }
        return buffer
    }

    private static func encode(_ item: StoredItem, to buffer: FrameBuffer) throws(ItemFileError) {
        try checkTravels(item)
        // An overlong value is not copied first.
        guard item.value?.count ?? 0 <= ItemFile.largestContents else {
            throw .tooLarge(limit: ItemFile.largestContents)
        }
        let place = buffer.count
        buffer.append(UInt32(0))
        var fields = 0
        func add(_ field: Field, _ write: () -> Void) {
            fields += 1
            buffer.append(field.rawValue)
            let place = buffer.count
            buffer.append(UInt32(0))
            write()
            buffer.overwrite(UInt32(truncatingIfNeeded: buffer.count - place - 4), at: place)
        }
        add(.itemClass) { buffer.append(item.itemClass.storedCode) }
        add(.identifier) { withUnsafeBytes(of: item.identifier.uuid) { buffer.appendRaw($0) } }
        add(.protection) { buffer.append(item.accessControl.protection.storedCode) }
        if let flags = item.accessControl.flags { add(.flags) { buffer.append(flags.rawValue) } }
        add(.synchronizable) { buffer.append(item.isSynchronizable) }
        add(.creation) { append(item.creationDate, to: buffer) }
        add(.modification) { append(item.modificationDate, to: buffer) }
        if let end = item.expiry.date { add(.expiry) { append(end, to: buffer) } }
        add(.group) { buffer.appendRaw(item.accessGroup.utf8) }
        for (name, value) in item.attributes {
            add(.attribute) {
                buffer.append(name.code)
                append(value, to: buffer)
            }
        }
        for (name, value) in item.customAttributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            add(.custom) {
                buffer.append(UInt8(truncatingIfNeeded: name.utf8.count))
                buffer.appendRaw(name.utf8)
                buffer.appendRaw(value.utf8)
            }
        }
        if let value = item.value { add(.value) { value.withUnsafeBytes { buffer.appendRaw($0) } } }
        add(.version) { buffer.append(item.version) }
        if let kept = item.kept.count { add(.kept) { buffer.append(UInt16(truncatingIfNeeded: kept)) } }
        buffer.overwrite(UInt32(truncatingIfNeeded: fields), at: place)
    }

    /// - Throws: ``ItemFileError/bound(reason:)`` for an item that stays on its device, or is none of a vault.
    private static func checkTravels(_ item: StoredItem) throws(ItemFileError) {
        guard ItemClass.stored.contains(item.itemClass), item.identityKey == nil, !item.isTombstone else {
            throw .bound(reason: "an identity is sent as its certificate and its key")
        }
        guard item.attributes[.tokenID]?.isEmpty ?? true else {
            throw .bound(reason: "a key of the enclave cannot leave it; make a new one where it is needed")
        }
        guard !item.accessControl.protection.isThisDeviceOnly else {
            throw .bound(
                reason: "an item of the class '\(item.accessControl.protection.rawValue)' is for this device only; "
                    + "give it another class first if it may leave the device")
        }
        guard StoredItem.versions.contains(item.version), item.kept.isValid else {
            throw .bound(reason: "an item with a version that no vault gives")
        }
        guard item.customAttributes.problem == nil else { throw .bound(reason: item.customAttributes.problem ?? "") }
    }

    private static func append(_ date: Date, to buffer: FrameBuffer) {
        buffer.append(date.timeIntervalSinceReferenceDate.bitPattern)
    }

    private static func append(_ value: AttributeValue, to buffer: FrameBuffer) {
        switch value {
        case .string(let string):
            buffer.append(UInt8(1))
            buffer.appendRaw(string.utf8)
        case .data(let data):
            buffer.append(UInt8(2))
            data.withUnsafeBytes { buffer.appendRaw($0) }
        case .number(let number):
            buffer.append(UInt8(3))
            buffer.append(number)
        case .real(let real):
            buffer.append(UInt8(4))
            buffer.append(real.bitPattern)
        case .date(let date):
            buffer.append(UInt8(5))
            append(date, to: buffer)
        }
    }

    // MARK: Reading

    static func decode(_ buffer: FrameBuffer) throws(ItemFileError) -> [StoredItem] {
        do throws(FrameError) {
            var reader = FrameReader(buffer)
            let count = try reader.count(limit: ReceiveItems.most)
            guard count > 0 else { throw FrameError("it has no item") }
            var items: [StoredItem] = []
            for _ in 0..<count { items.append(try item(&reader)) }
            try reader.finish()
            return items
        } catch {
            throw .damaged(reason: error.description)
        }
    }

    private static func item(_ reader: inout FrameReader) throws(FrameError) -> StoredItem {
        let count = try reader.integer(UInt32.self)
        var parts = Parts()
        var last: (field: Field, name: [UInt8])?
        for _ in 0..<count {
            guard let field = Field(rawValue: try reader.integer()) else {
                throw FrameError("an item has a part that this version does not know")
            }
            let length = Int(try reader.integer(UInt32.self))
            guard length <= reader.remaining else { throw FrameError("a part of an item ends early") }
            let before = reader.remaining
            let name = try parts.read(field, length, &reader)
            guard before - reader.remaining == length else { throw FrameError("a part of an item has another length") }
            if let last {
                // What comes once has no name.
                let isInOrder =
                    last.field == field
                    ? last.name.lexicographicallyPrecedes(name) : last.field.rawValue < field.rawValue
                guard isInOrder else { throw FrameError("the parts of an item are not in order") }
            }
            last = (field, name)
        }
        return try parts.item()
    }

    /// The fields of an item that have been read.
    private struct Parts {
        private var itemClass: ItemClass?
        private var identifier: UUID?
        private var protection: ProtectionClass?
        private var flags: AccessControl.Flags?
        private var isSynchronizable: Bool?
        private var creation: Date?
        private var modification: Date?
        private var expiry: Date?
        private var group: String?
        private var attributes: ItemAttributes = [:]
        private var custom: CustomAttributes = [:]
        private var value: Data?
        private var version: Int64?
        private var kept = KeptVersions.vaultDefault

        /// Reads a field.
        ///
        /// - Returns: The name by which fields of this number are in order; empty for a field that comes once.
        mutating func read(
            _ field: Field, _ length: Int, _ reader: inout FrameReader
        ) throws(FrameError) -> [UInt8] {
            switch field {
            case .itemClass:
                itemClass = ItemClass(storedCode: try reader.integer())
                guard let itemClass, ItemClass.stored.contains(itemClass) else {
                    throw FrameError("an item has an unknown class")
                }
            case .identifier: identifier = UUID(uuid: try reader.take(16).loadUnaligned(as: uuid_t.self))
            case .protection:
                protection = ProtectionClass(storedCode: try reader.integer())
                guard protection?.isThisDeviceOnly == false else {
                    throw FrameError("an item has a protection class that does not travel")
                }
            case .flags:
                let read = AccessControl.Flags(rawValue: try reader.integer())
                guard AccessControl.isValid(read) else {
                    throw FrameError("an item has flags that are not known or exclude each other")
                }
                flags = read
            case .synchronizable: isSynchronizable = try reader.bool()
            case .creation: creation = try date(&reader)
            case .modification: modification = try date(&reader)
            case .expiry: expiry = try date(&reader)
            case .group:
                group = try text(try reader.take(length))
                guard group != "*" else { throw FrameError("an item has no access group") }
            case .attribute: return try attribute(length, &reader)
            case .custom: return try customAttribute(length, &reader)
            case .value: value = try copy(try reader.take(length))
            case .version:
                version = try reader.integer()
                guard let version, StoredItem.versions.contains(version) else {
                    throw FrameError("an item has a version that no vault gives")
                }
            case .kept:
                kept = .atMost(Int(try reader.integer(UInt16.self)))
                guard kept.isValid else { throw FrameError("an item asks for more former versions than a vault keeps") }
            }
            return []
        }

        private func date(_ reader: inout FrameReader) throws(FrameError) -> Date {
            let seconds = Double(bitPattern: try reader.integer())
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            guard date.isStorable else { throw FrameError(Date.notStorable) }
            return date
        }

        private func text(_ bytes: UnsafeRawBufferPointer) throws(FrameError) -> String {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw FrameError("an item has a text that is not UTF-8")
            }
            return text
        }

        /// Returns a copy that is wiped when the last reference to it goes: values are secrets.
        private func copy(_ bytes: UnsafeRawBufferPointer) throws(FrameError) -> Data {
            guard let source = bytes.baseAddress, bytes.count > 0 else { return Data() }
            guard let copy = malloc(bytes.count) else { throw FrameError("no memory for a value") }
            memcpy(copy, source, bytes.count)
            return .wipedWhenFreed(adopting: copy, count: bytes.count)
        }

        private mutating func attribute(
            _ length: Int, _ reader: inout FrameReader
        ) throws(FrameError) -> [UInt8] {
            let name = AttributeName(code: try reader.integer())
            let type = try reader.integer(UInt8.self)
            guard length >= 5 else { throw FrameError("an attribute ends early") }
            let value: AttributeValue
            switch type {
            case 1: value = .string(try text(try reader.take(length - 5)))
            case 2: value = .data(Data(try reader.take(length - 5)))
            case 3: value = .number(try reader.integer())
            case 4: value = .real(Double(bitPattern: try reader.integer()))
            case 5: value = .date(try date(&reader))
            default: throw FrameError("an attribute has an unknown type")
            }
            attributes[name] = value
            return name.code.bigEndianBytes
        }

        private mutating func customAttribute(
            _ length: Int, _ reader: inout FrameReader
        ) throws(FrameError) -> [UInt8] {
            let size = Int(try reader.integer(UInt8.self))
            guard size + 1 <= length else { throw FrameError("a custom attribute ends early") }
            let bytes = try reader.take(size)
            let name = try text(bytes)
            let value = try text(try reader.take(length - size - 1))
            guard custom.updateValue(value, forKey: name) == nil else { throw FrameError("custom attribute twice") }
            return [UInt8](bytes)
        }

        func item() throws(FrameError) -> StoredItem {
            guard let itemClass, let identifier, let protection, let isSynchronizable, let creation, let modification,
                let group, let version
            else { throw FrameError("a part of an item is missing") }
            if let problem = custom.problem { throw FrameError(problem) }
            var item = StoredItem(
                itemClass: itemClass, identifier: identifier, attributes: attributes, customAttributes: custom,
                accessGroup: group, accessControl: AccessControl(protection: protection, flags: flags),
                isSynchronizable: isSynchronizable, creationDate: creation, modificationDate: modification,
                value: value)
            item.expiry = Expiry(expiry)
            item.version = version
            item.kept = kept
            return item
        }
    }
}
