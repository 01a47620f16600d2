import Bytes
import FoundationEssentials
import KeychainModel

/// The attributes of an item in the encoding that is sealed.
///
///     1 byte   version, 1; 2 if there are custom attributes or an expiry; 3 if the item says how many versions to keep
///     1 byte   1 if the access control has flags, else 0
///     8 bytes  access control flags
///     8 bytes  creation date, 8 bytes modification date: IEEE 754 seconds since 2001-01-01 UTC
///     2 bytes  length of the access group, then its UTF-8 bytes
///     2 bytes  number of attributes, then for each: name (4), type (1), length (4), bytes
///     from version 2 on:
///              1 byte, 1 if the item expires, then 8 bytes, when it does
///              2 bytes  number of custom attributes, then for each:
///              length (1), name, length (2), value, both UTF-8
///     version 3: 2 bytes  number of former versions to keep
///
/// Integers are big-endian; attributes ascend by name, custom ones by the bytes of their names. Types:
/// 1 string (UTF-8), 2 data, 3 number (64-bit two's complement), 4 real (IEEE 754), 5 date (as above).
package struct ItemMetadata: Sendable, Hashable {
    package var accessControlFlags: AccessControl.Flags?
    package var creationDate: Date
    package var modificationDate: Date
    package var accessGroup: String
    package var attributes: ItemAttributes
    package var customAttributes: CustomAttributes
    package var expiry: Expiry
    package var kept: KeptVersions

    package init(
        accessControlFlags: AccessControl.Flags?, creationDate: Date, modificationDate: Date, accessGroup: String,
        attributes: ItemAttributes, customAttributes: CustomAttributes = [:],
        expiry: Expiry = .never, kept: KeptVersions = .vaultDefault
    ) {
        self.accessControlFlags = accessControlFlags
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        self.accessGroup = accessGroup
        self.attributes = attributes
        self.customAttributes = customAttributes
        self.expiry = expiry
        self.kept = kept
    }

    /// The lowest version that can hold the attributes, so that older programs read what they can.
    private var version: UInt8 {
        if kept != .vaultDefault { return 3 }
        return customAttributes.isEmpty && expiry == .never ? 1 : 2
    }

    package func encoded() throws(SealingError) -> Data {
        guard accessGroup.utf8.count <= UInt16.max, attributes.count <= UInt16.max, customAttributes.problem == nil,
            kept.isValid
        else {
            throw .malformed("access group, attribute count, custom attributes or kept versions too large")
        }
        var out: [UInt8] = []
        out.reserveCapacity(64 + accessGroup.utf8.count + attributes.count * 32)
        out.append(version)
        out.append(accessControlFlags == nil ? 0 : 1)
        out.append(bigEndian: accessControlFlags?.rawValue ?? 0)
        out.append(bigEndian: creationDate.timeIntervalSinceReferenceDate.bitPattern)
        out.append(bigEndian: modificationDate.timeIntervalSinceReferenceDate.bitPattern)
        out.append(bigEndian: UInt16(truncatingIfNeeded: accessGroup.utf8.count))
        out.append(contentsOf: accessGroup.utf8)
        out.append(bigEndian: UInt16(truncatingIfNeeded: attributes.count))
        for (name, value) in attributes {
            out.append(bigEndian: name.code)
            switch value {
            case .string(let string): Self.append(type: 1, string.utf8, to: &out)
            case .data(let data): Self.append(type: 2, data, to: &out)
            case .number(let number): Self.append(type: 3, UInt64(bitPattern: number), to: &out)
            case .real(let real): Self.append(type: 4, real.bitPattern, to: &out)
            case .date(let date): Self.append(type: 5, date.timeIntervalSinceReferenceDate.bitPattern, to: &out)
            }
        }
        if version == 1 { return Data(out) }
        out.append(expiry == .never ? 0 : 1)
        if let date = expiry.date { out.append(bigEndian: date.timeIntervalSinceReferenceDate.bitPattern) }
        out.append(bigEndian: UInt16(truncatingIfNeeded: customAttributes.count))
        for (name, value) in customAttributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            out.append(UInt8(truncatingIfNeeded: name.utf8.count))
            out.append(contentsOf: name.utf8)
            out.append(bigEndian: UInt16(truncatingIfNeeded: value.utf8.count))
            out.append(contentsOf: value.utf8)
        }
        if let count = kept.count { out.append(bigEndian: UInt16(truncatingIfNeeded: count)) }
        return Data(out)
    }

    package init(decoding bytes: UnsafeRawBufferPointer) throws(SealingError) {
        var reader = Reader(bytes: bytes)
        let version = try reader.integer(UInt8.self)
        guard (1...3).contains(version) else { throw .malformed("attribute encoding version") }
        let hasFlags = try reader.integer(UInt8.self)
        let flags = try reader.integer(UInt64.self)
        guard hasFlags <= 1 else { throw .malformed("access control") }
        accessControlFlags = hasFlags == 1 ? AccessControl.Flags(rawValue: flags) : nil
        guard accessControlFlags?.isSubset(of: .known) ?? true else {
            throw .malformed("access control with flags of another version")
        }
        creationDate = try reader.date()
        modificationDate = try reader.date()
        accessGroup = try reader.string(count: Int(try reader.integer(UInt16.self)))
        let count = Int(try reader.integer(UInt16.self))
        attributes = ItemAttributes(minimumCapacity: min(count, 64))
        for _ in 0..<count {
            let name = AttributeName(code: try reader.integer(UInt32.self))
            let type = try reader.integer(UInt8.self)
            let length = Int(try reader.integer(UInt32.self))
            let value: AttributeValue
            switch (type, length) {
            case (1, _): value = .string(try reader.string(count: length))
            case (2, _): value = .data(try reader.data(count: length))
            case (3, 8): value = .number(try reader.integer(Int64.self))
            case (4, 8): value = .real(Double(bitPattern: try reader.integer(UInt64.self)))
            case (5, 8): value = .date(try reader.date())
            default: throw .malformed("attribute type \(type)")
            }
            guard attributes.updateValue(value, forKey: name) == nil else { throw .malformed("attribute twice") }
        }
        (customAttributes, expiry, kept) = ([:], .never, .vaultDefault)
        if version >= 2 {
            expiry = try Self.expiry(from: &reader)
            customAttributes = try Self.customAttributes(from: &reader)
        }
        if version == 3 {
            kept = .atMost(Int(try reader.integer(UInt16.self)))
            guard kept.isValid else { throw .malformed("kept versions") }
        }
        guard version == self.version else { throw .malformed("attribute encoding version") }
        guard reader.isAtEnd else { throw .malformed("bytes after the attributes") }
    }

    private static func expiry(from reader: inout Reader) throws(SealingError) -> Expiry {
        switch try reader.integer(UInt8.self) {
        case 0: return .never
        case 1: return .at(try reader.date())
        default: throw .malformed("expiry")
        }
    }

    private static func customAttributes(from reader: inout Reader) throws(SealingError) -> CustomAttributes {
        var attributes: CustomAttributes = [:]
        for _ in 0..<(try reader.integer(UInt16.self)) {
            let name = try reader.string(count: Int(try reader.integer(UInt8.self)))
            let value = try reader.string(count: Int(try reader.integer(UInt16.self)))
            guard attributes.updateValue(value, forKey: name) == nil else {
                throw .malformed("custom attribute twice")
            }
        }
        guard attributes.problem == nil else { throw .malformed("custom attributes") }
        return attributes
    }

    private static func append(type: UInt8, _ bytes: some Collection<UInt8>, to out: inout [UInt8]) {
        out.append(type)
        out.append(bigEndian: UInt32(truncatingIfNeeded: bytes.count))
        out.append(contentsOf: bytes)
    }

    private static func append(type: UInt8, _ bits: UInt64, to out: inout [UInt8]) {
        out.append(type)
        out.append(bigEndian: UInt32(8))
        out.append(bigEndian: bits)
    }
}

/// Reads big-endian fields from bytes that may end too early. The bytes must outlive the reader.
private struct Reader {
    let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    private mutating func take(_ count: Int) throws(SealingError) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - position else { throw .malformed("attributes end early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
    }

    mutating func data(count: Int) throws(SealingError) -> Data { Data(try take(count)) }

    mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        _: Integer.Type
    ) throws(SealingError) -> Integer {
        try take(MemoryLayout<Integer>.size).bigEndian()
    }

    mutating func string(count: Int) throws(SealingError) -> String {
        guard let string = String(utf8: try take(count)) else { throw .malformed("not UTF-8") }
        return string
    }

    /// Reads a stored date outside of the range as the nearest storable date, and NaN as 1 January 2001.
    mutating func date() throws(SealingError) -> Date {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: try integer(UInt64.self))).nearestStorable
    }
}
