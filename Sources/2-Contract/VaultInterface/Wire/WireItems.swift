import FoundationEssentials
import Frames
import KeychainModel

// Items and their parts. Each type reads what it writes.

extension WireBuffer {
    /// A count, then for each attribute: name (4), type (1), value. Types: 1 string, 2 data, 3 number, 4 real, 5 date.
    package func append(_ attributes: [AttributeName: AttributeValue]) {
        append(UInt32(truncatingIfNeeded: attributes.count))
        for (name, value) in attributes {
            append(name.code)
            switch value {
            case .string(let string):
                append(UInt8(1))
                append(string)
            case .data(let data):
                append(UInt8(2))
                append(data)
            case .number(let number):
                append(UInt8(3))
                append(number)
            case .real(let real):
                append(UInt8(4))
                append(real)
            case .date(let date):
                append(UInt8(5))
                append(date)
            }
        }
    }

    package func append(_ control: AccessControl) {
        append(control.protection.storedCode)
        append(optional: control.flags) { append($0.rawValue) }
    }

    package func append(_ item: NewItem) {
        append(item.itemClass.storedCode)
        append(item.attributes)
        append(optional: item.accessGroup) { append($0) }
        append(item.accessControl)
        append(item.isSynchronizable)
        append(optional: item.value) { append($0) }
        append(item.authentication)
    }

    package func append(_ changes: ItemChanges) {
        append(changes.attributes)
        append(optional: changes.accessGroup) { append($0) }
        append(optional: changes.accessControl) { append($0) }
        append(optional: changes.isSynchronizable) { append($0) }
        append(optional: changes.value) { append($0) }
    }

    package func append(_ item: WithheldItem) {
        append(item.itemClass.storedCode)
        append(item.identifier)
        append(item.accessControl)
    }

    package func append(_ item: StoredItem) {
        append(item.itemClass.storedCode)
        append(item.identifier)
        append(item.attributes)
        append(item.accessGroup)
        append(item.accessControl)
        append(item.isSynchronizable)
        append(item.isTombstone)
        append(item.creationDate)
        append(item.modificationDate)
        append(optional: item.value) { append($0) }
        append(optional: item.identityKey) { key in
            append(key.identifier)
            append(key.attributes)
            append(optional: key.value) { append($0) }
        }
    }
}

extension WireReader {
    package mutating func attributes() throws(WireError) -> [AttributeName: AttributeValue] {
        let count = try count(limit: WireLimits.attributes)
        var attributes: [AttributeName: AttributeValue] = Dictionary(minimumCapacity: min(count, 32))
        for _ in 0..<count {
            let name = AttributeName(code: try integer(UInt32.self))
            let value: AttributeValue
            switch try integer(UInt8.self) {
            case 1: value = .string(try string())
            case 2: value = .data(try data())
            case 3: value = .number(try integer(Int64.self))
            case 4: value = .real(try real())
            case 5: value = .date(try date())
            default: throw WireError("unknown type of attribute")
            }
            guard attributes.updateValue(value, forKey: name) == nil else { throw WireError("attribute twice") }
        }
        return attributes
    }

    package mutating func itemClass() throws(WireError) -> ItemClass {
        guard let itemClass = ItemClass(storedCode: try integer(UInt8.self)) else {
            throw WireError("unknown class of item")
        }
        return itemClass
    }

    package mutating func protection() throws(WireError) -> ProtectionClass {
        guard let protection = ProtectionClass(storedCode: try integer(UInt8.self)) else {
            throw WireError("unknown protection class")
        }
        return protection
    }

    package mutating func accessControl() throws(WireError) -> AccessControl {
        let protection = try protection()
        let flags = try optional { reader throws(WireError) in try reader.integer(UInt64.self) }
        return AccessControl(protection: protection, flags: flags.map(AccessControl.Flags.init(rawValue:)))
    }

    package mutating func optionalString() throws(WireError) -> String? {
        try optional { reader throws(WireError) in try reader.string() }
    }

    package mutating func optionalValue() throws(WireError) -> Data? {
        try optional { reader throws(WireError) in try reader.value() }
    }

    package mutating func newItem() throws(WireError) -> NewItem {
        NewItem(
            itemClass: try itemClass(), attributes: try attributes(), accessGroup: try optionalString(),
            accessControl: try accessControl(), isSynchronizable: try bool(), value: try optionalValue(),
            authentication: try authenticationOptions())
    }

    package mutating func itemChanges() throws(WireError) -> ItemChanges {
        ItemChanges(
            attributes: try attributes(), accessGroup: try optionalString(),
            accessControl: try optional { reader throws(WireError) in try reader.accessControl() },
            isSynchronizable: try optional { reader throws(WireError) in try reader.bool() },
            value: try optionalValue())
    }

    package mutating func withheldItem() throws(WireError) -> WithheldItem {
        WithheldItem(itemClass: try itemClass(), identifier: try uuid(), accessControl: try accessControl())
    }

    package mutating func storedItem() throws(WireError) -> StoredItem {
        var item = StoredItem(
            itemClass: try itemClass(), identifier: try uuid(), attributes: try attributes(),
            accessGroup: try string(), accessControl: try accessControl(), isSynchronizable: try bool(),
            isTombstone: try bool(), creationDate: try date(), modificationDate: try date(),
            value: try optionalValue())
        item.identityKey = try optional { reader throws(WireError) in
            StoredItem.IdentityKey(
                identifier: try reader.uuid(), attributes: try reader.attributes(), value: try reader.optionalValue())
        }
        return item
    }
}
