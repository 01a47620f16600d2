import Bytes
import FoundationEssentials
import Frames
import KeychainModel

// Items and their parts.

extension ItemClass: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(storedCode) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("class of item", ItemClass.init(storedCode:))
    }
}

extension ProtectionClass: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(storedCode) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("protection class", ProtectionClass.init(storedCode:))
    }
}

extension AccessControl: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(protection, flags?.rawValue) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let protection = try reader.read(ProtectionClass.self)
        self.init(protection: protection, flags: try reader.read(UInt64?.self).map(Flags.init(rawValue:)))
    }
}

/// The type (1), then the value. Types: 1 string, 2 data, 3 number, 4 real, 5 date.
extension AttributeValue: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .string(let string): buffer.write(code: 1, string)
        case .data(let data): buffer.write(code: 2, data)
        case .number(let number): buffer.write(code: 3, number)
        case .real(let real): buffer.write(code: 4, real)
        case .date(let date): buffer.write(code: 5, date)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 1: self = .string(try reader.read())
        case 2: self = .data(try reader.read())
        case 3: self = .number(try reader.read())
        case 4: self = .real(try reader.read())
        case 5: self = .date(try reader.read())
        default: throw FrameError("unknown type of attribute")
        }
    }
}

/// Attributes: a count, then for each the name (4) and the value.
extension ItemAttributes: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.append(UInt32(truncatingIfNeeded: count))
        for (name, value) in self { buffer.write(name.code, value) }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let count = try reader.count(limit: WireLimits.attributes)
        self.init(minimumCapacity: Swift.min(count, 32))
        for _ in 0..<count {
            let name = AttributeName(code: try reader.read())
            guard updateValue(try reader.read(), forKey: name) == nil else { throw FrameError("attribute twice") }
        }
    }
}

/// The count, then for each the name and the value.
struct WireCustomAttributes: WireValue {
    let attributes: CustomAttributes

    init(_ attributes: CustomAttributes) { self.attributes = attributes }

    func encode(to buffer: FrameBuffer) {
        buffer.append(UInt32(truncatingIfNeeded: attributes.count))
        for (name, value) in attributes { buffer.write(name, value) }
    }

    init(from reader: inout FrameReader) throws(FrameError) {
        let count = try reader.count(limit: CustomAttributes.most)
        var attributes = CustomAttributes(minimumCapacity: count)
        for _ in 0..<count {
            let name: String = try reader.read()
            guard attributes.updateValue(try reader.read(), forKey: name) == nil else {
                throw FrameError("custom attribute twice")
            }
        }
        self.attributes = attributes
    }
}

extension Expiry: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(date) }

    package init(from reader: inout FrameReader) throws(FrameError) { self.init(try reader.read(Date?.self)) }
}

/// The number of versions, absent for the vault's default.
extension KeptVersions: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(count.map(UInt32.init(clamping:))) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(try reader.read(UInt32?.self).map(Int.init))
    }
}

extension ChangedItem: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(itemClass, identifier, change, version, overruled) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            itemClass: try reader.read(), identifier: try reader.read(), change: try reader.read(),
            version: try reader.read(), overruled: try reader.read())
    }
}

extension KnownChanges: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(next, isComplete) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(next: try reader.read(), isComplete: try reader.read())
    }
}

extension ItemVersion: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(item, change, ended, isDeleted, isOverruled) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            item: try reader.read(), change: try reader.read(), ended: try reader.read(), isDeleted: try reader.read(),
            isOverruled: try reader.read())
    }
}

extension NewItem: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            itemClass, attributes, customAttributes.map(WireCustomAttributes.init), expiry, accessGroup, accessControl,
            isSynchronizable, value, authentication, kept)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let itemClass = try reader.read(ItemClass.self)
        let attributes = try reader.read(ItemAttributes.self)
        let custom = try reader.read(WireCustomAttributes?.self)?.attributes
        let expiry = try reader.read(Expiry?.self)
        self.init(
            itemClass: itemClass, attributes: attributes, accessGroup: try reader.read(),
            accessControl: try reader.read(AccessControl.self), isSynchronizable: try reader.read(),
            value: try reader.itemValue(), authentication: try reader.read())
        customAttributes = custom
        self.expiry = expiry
        kept = try reader.read()
    }
}

extension ItemChanges: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            attributes, customAttributes.map(WireCustomAttributes.init), expiry, accessGroup, accessControl,
            isSynchronizable, value, kept)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        let attributes = try reader.read(ItemAttributes.self)
        let custom = try reader.read(WireCustomAttributes?.self)?.attributes
        let expiry = try reader.read(Expiry?.self)
        self.init(
            attributes: attributes, accessGroup: try reader.read(), accessControl: try reader.read(),
            isSynchronizable: try reader.read(), value: try reader.itemValue())
        customAttributes = custom
        self.expiry = expiry
        kept = try reader.read()
    }
}

extension WithheldItem: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(itemClass, identifier, accessControl) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(itemClass: try reader.read(), identifier: try reader.read(), accessControl: try reader.read())
    }
}

extension StoredItem: WireValue {
    package func encode(to buffer: FrameBuffer) {
        buffer.write(
            itemClass, identifier, attributes, accessGroup, accessControl, isSynchronizable, isTombstone, creationDate,
            modificationDate, value, identityKey, WireCustomAttributes(customAttributes), expiry, kept, version)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(
            itemClass: try reader.read(), identifier: try reader.read(), attributes: try reader.read(),
            accessGroup: try reader.read(), accessControl: try reader.read(), isSynchronizable: try reader.read(),
            isTombstone: try reader.read(), creationDate: try reader.read(), modificationDate: try reader.read(),
            value: try reader.itemValue())
        identityKey = try reader.read()
        customAttributes = try reader.read(WireCustomAttributes.self).attributes
        expiry = try reader.read()
        kept = try reader.read()
        version = try reader.read()
    }
}

extension StoredItem.IdentityKey: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(identifier, attributes, value) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(identifier: try reader.read(), attributes: try reader.read(), value: try reader.itemValue())
    }
}
