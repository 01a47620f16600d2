import Bytes
import Foundation
import KeychainModel

/// The form in which a value is sealed: one byte for its kind, then the value.
///
/// The most common kinds are written directly, and all other values as JSON.
/// Documentation/Specify/Formats/SealedFields.md lists the kinds.
enum FieldCoding {
    enum Kind: UInt8 {
        case absent = 0
        /// The optional has a value, which follows in encoded form.
        case present = 1
        case string = 2
        case data = 3
        case signed = 4
        case unsigned = 5
        case double = 6
        case float = 7
        case bool = 8
        case date = 9
        case uuid = 10
        case json = 11
    }

    /// Gives `body` the encoded value, in memory that is wiped afterwards.
    static func withEncoded<Value: Encodable, Result>(
        _ value: Value, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        if Value.self == String.self {
            var text = unsafeBitCast(value, to: String.self)
            // A string in another form than UTF-8 is copied here; its own memory cannot be wiped either.
            text.makeContiguousUTF8()
            return try text.utf8.withRoom(.string, body)
        }
        if Value.self == Data.self {
            return try unsafeBitCast(value, to: Data.self).withRoom(.data, body)
        }
        if let (kind, bits) = word(value) { return try withWord(kind, bits, body) }
        if let value = value as? any AnyOptional { return try value.withEncodedOptional(body) }
        if Value.self == UUID.self {
            return try withUnsafeBytes(of: unsafeBitCast(value, to: UUID.self).uuid, throwing: body, kind: .uuid)
        }
        var json: Data
        do {
            json = try encoder().encode(value)
        } catch {
            // The encoder's own error may quote the value, so this code does not pass it on.
            throw SealedFieldsError.unencodable(Value.self)
        }
        defer { json.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        return try json.withRoom(.json, body)
    }

    /// The value that was encoded.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        guard let first = bytes.first, let kind = Kind(rawValue: first) else {
            throw SealedFieldsError.undecodable(type)
        }
        let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        if Value.self == String.self {
            guard kind == .string, let text = String(validating: content, as: UTF8.self) else {
                throw SealedFieldsError.undecodable(type)
            }
            return unsafeBitCast(text, to: Value.self)
        }
        if Value.self == Data.self {
            guard kind == .data else { throw SealedFieldsError.undecodable(type) }
            return unsafeBitCast(copied(content), to: Value.self)
        }
        if let value = try fromWord(type, kind, content) { return value }
        if let optional = type as? any AnyOptional.Type {
            guard let value = try optional.decodeOptional(kind, bytes) as? Value else {
                throw SealedFieldsError.undecodable(type)
            }
            return value
        }
        if Value.self == UUID.self {
            guard kind == .uuid, content.count == 16 else { throw SealedFieldsError.undecodable(type) }
            return unsafeBitCast(UUID(uuid: content.loadUnaligned(as: uuid_t.self)), to: Value.self)
        }
        guard kind == .json else { throw SealedFieldsError.undecodable(type) }
        var json = copied(content)
        defer { json.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        do {
            return try decoder().decode(type, from: json)
        } catch {
            throw SealedFieldsError.undecodable(type)
        }
    }

    /// Foundation keeps up to 14 bytes in the value itself.
    private static func copied(_ bytes: UnsafeRawBufferPointer) -> Data {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return Data() }
        return Data(bytes: base, count: bytes.count)
    }

    // Coders keep state while they work, so each value has its own.
    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return encoder
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return decoder
    }
}

extension FieldCoding {
    /// The kind and the bits of a value that is a number of some kind.
    private static func word<Value>(_ value: Value) -> (Kind, UInt64)? {
        func cast<Number>(_: Number.Type) -> Number { unsafeBitCast(value, to: Number.self) }
        func signed(_ number: some SignedInteger) -> (Kind, UInt64) {
            (.signed, UInt64(bitPattern: Int64(truncatingIfNeeded: number)))
        }
        let type: Any.Type = Value.self
        if type == Int.self { return signed(cast(Int.self)) }
        if type == Int64.self { return signed(cast(Int64.self)) }
        if type == Bool.self { return (.bool, cast(Bool.self) ? 1 : 0) }
        if type == Double.self { return (.double, cast(Double.self).bitPattern) }
        if type == Date.self { return (.date, cast(Date.self).timeIntervalSinceReferenceDate.bitPattern) }
        if type == Int32.self { return signed(cast(Int32.self)) }
        if type == Int16.self { return signed(cast(Int16.self)) }
        if type == Int8.self { return signed(cast(Int8.self)) }
        if type == UInt.self { return (.unsigned, UInt64(cast(UInt.self))) }
        if type == UInt64.self { return (.unsigned, cast(UInt64.self)) }
        if type == UInt32.self { return (.unsigned, UInt64(cast(UInt32.self))) }
        if type == UInt16.self { return (.unsigned, UInt64(cast(UInt16.self))) }
        if type == UInt8.self { return (.unsigned, UInt64(cast(UInt8.self))) }
        if type == Float.self { return (.float, UInt64(cast(Float.self).bitPattern)) }
        return nil
    }

    /// The value of a type that is a number of some kind; nil for other types.
    private static func fromWord<Value>(
        _ wanted: Value.Type, _ kind: Kind, _ content: UnsafeRawBufferPointer
    ) throws -> Value? {
        func bits(_ expected: Kind) -> UInt64? {
            guard kind == expected, content.count == 8 else { return nil }
            return content.bigEndian()
        }
        func signed<Number: FixedWidthInteger>(_: Number.Type) -> Any? {
            bits(.signed).flatMap { Number(exactly: Int64(bitPattern: $0)) }
        }
        func unsigned<Number: FixedWidthInteger>(_: Number.Type) -> Any? {
            bits(.unsigned).flatMap { Number(exactly: $0) }
        }
        let type: Any.Type = wanted
        let value: Any?
        switch ObjectIdentifier(type) {
        case ObjectIdentifier(Int.self): value = signed(Int.self)
        case ObjectIdentifier(Int64.self): value = signed(Int64.self)
        case ObjectIdentifier(Int32.self): value = signed(Int32.self)
        case ObjectIdentifier(Int16.self): value = signed(Int16.self)
        case ObjectIdentifier(Int8.self): value = signed(Int8.self)
        case ObjectIdentifier(UInt.self): value = unsigned(UInt.self)
        case ObjectIdentifier(UInt64.self): value = unsigned(UInt64.self)
        case ObjectIdentifier(UInt32.self): value = unsigned(UInt32.self)
        case ObjectIdentifier(UInt16.self): value = unsigned(UInt16.self)
        case ObjectIdentifier(UInt8.self): value = unsigned(UInt8.self)
        case ObjectIdentifier(Bool.self): value = bits(.bool).flatMap { $0 > 1 ? nil : $0 == 1 }
        case ObjectIdentifier(Double.self): value = bits(.double).map { Double(bitPattern: $0) }
        case ObjectIdentifier(Date.self):
            value = bits(.date).map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
        case ObjectIdentifier(Float.self):
            value = bits(.float).flatMap { UInt32(exactly: $0) }.map { Float(bitPattern: $0) }
        default: return nil
        }
        guard let value = value as? Value else { throw SealedFieldsError.undecodable(wanted) }
        return value
    }

    private static func withWord<Result>(
        _ kind: Kind, _ bits: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try withUnsafeBytes(of: bits.bigEndian, throwing: body, kind: kind)
    }

    private static func withUnsafeBytes<Result>(
        of value: some BitwiseCopyable,
        throwing body: (UnsafeRawBufferPointer) throws -> Result, kind: Kind
    ) throws -> Result {
        try Swift.withUnsafeBytes(of: value) { bytes in
            try withRoom(kind, bytes, body)
        }
    }

    /// Gives `body` the kind and the content, one after the other.
    fileprivate static func withRoom<Result>(
        _ kind: Kind, _ content: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try withUnsafeTemporaryAllocation(byteCount: 1 + content.count, alignment: 1) { room in
            defer { SecretBytes.wipe(room) }
            room[0] = kind.rawValue
            UnsafeMutableRawBufferPointer(rebasing: room[1...]).copyMemory(from: content)
            return try body(UnsafeRawBufferPointer(room))
        }
    }
}

extension Sequence<UInt8> {
    /// Gives `body` the kind and these bytes, which are contiguous.
    fileprivate func withRoom<Result>(
        _ kind: FieldCoding.Kind, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let result = try withContiguousStorageIfAvailable { bytes in
            try FieldCoding.withRoom(kind, UnsafeRawBufferPointer(bytes), body)
        }
        guard let result else {
            let copy = Array(self)
            return try copy.withRoom(kind, body)
        }
        return result
    }
}

/// Any optional. For an optional of an optional, nil outside and nil inside are different values.
private protocol AnyOptional {
    func withEncodedOptional<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result
    static func decodeOptional(_ kind: FieldCoding.Kind, _ bytes: UnsafeRawBufferPointer) throws
        -> Any
}

extension Optional: AnyOptional {
    fileprivate func withEncodedOptional<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        guard let value = self else { return try EmptyCollection<UInt8>().withRoom(.absent, body) }
        guard let value = value as? any Encodable else { throw SealedFieldsError.unencodable(Wrapped.self) }
        func encode(_ value: some Encodable) throws -> Result {
            try FieldCoding.withEncoded(value) { bytes in
                try FieldCoding.withRoom(.present, bytes, body)
            }
        }
        return try encode(value)
    }

    fileprivate static func decodeOptional(
        _ kind: FieldCoding.Kind, _ bytes: UnsafeRawBufferPointer
    ) throws -> Any {
        switch kind {
        case .absent where bytes.count == 1: return Wrapped?.none as Any
        case .present:
            guard let type = Wrapped.self as? any Decodable.Type else {
                throw SealedFieldsError.undecodable(Wrapped.self)
            }
            let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            guard let value = try FieldCoding.decode(type, from: content) as? Wrapped else {
                throw SealedFieldsError.undecodable(Wrapped.self)
            }
            return Wrapped?.some(value) as Any
        default: throw SealedFieldsError.undecodable(Wrapped?.self)
        }
    }
}
