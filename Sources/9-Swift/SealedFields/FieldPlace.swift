import Bytes
import Foundation
import GRDB

/// The place of a field in a database. A sealed value can be opened only at its place.
public struct FieldPlace: Sendable, Hashable {
    /// The table's name. Case does not count in ASCII, as in SQLite.
    public var table: String
    /// The column's name. Case does not count in ASCII.
    public var column: String
    /// The row.
    public var row: RowKey

    /// - Parameters:
    ///   - table: The table's name.
    ///   - column: The column's name.
    ///   - row: The row, which need not exist yet.
    public init(table: String, column: String, row: RowKey) {
        self.table = table
        self.column = column
        self.row = row
    }
}

/// The key of a row: the values of its primary key, as the database stores them.
///
/// A UUID is 16 bytes, as GRDB stores it. A UUID that is stored as text counts as text.
public struct RowKey: Sendable, Hashable {
    /// The number of values and each value, as in Documentation/Specify/Formats/SealedFields.md.
    let bytes: [UInt8]

    /// A key of one number.
    public init(_ value: Int64) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(10)
        bytes.append(1)
        Self.append(value, to: &bytes)
        self.bytes = bytes
    }

    /// A key of one text.
    public init(_ value: String) {
        var bytes: [UInt8] = [1]
        Self.append(value, to: &bytes)
        self.bytes = bytes
    }

    /// A key of one UUID, stored as 16 bytes.
    public init(_ value: UUID) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(22)
        bytes.append(1)
        withUnsafeBytes(of: value.uuid) { Self.append($0, to: &bytes) }
        self.bytes = bytes
    }

    /// A key of one blob.
    public init(_ value: Data) {
        var bytes: [UInt8] = [1]
        value.withUnsafeBytes { Self.append($0, to: &bytes) }
        self.bytes = bytes
    }

    /// A key of the values of several columns, in the order in which the record names them.
    ///
    /// - Throws: ``SealedFieldsError/Code/placeUnknown`` if a value is null, or there is none or more than 255.
    public init(_ values: [any DatabaseValueConvertible]) throws {
        guard (1...255).contains(values.count) else { throw SealedFieldsError.rowKeyMissing }
        var bytes = [UInt8(truncatingIfNeeded: values.count)]
        for value in values {
            switch value.databaseValue.storage {
            case .null: throw SealedFieldsError.rowKeyMissing
            case .int64(let number): Self.append(number, to: &bytes)
            case .double(let number):
                bytes.append(2)
                bytes.append(bigEndian: number.bitPattern)
            case .string(let text): Self.append(text, to: &bytes)
            case .blob(let blob): blob.withUnsafeBytes { Self.append($0, to: &bytes) }
            }
        }
        self.bytes = bytes
    }

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        bytes.append(1)
        bytes.append(bigEndian: number)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            bytes.reserveCapacity(bytes.count + 5 + utf8.count)
            bytes.append(3)
            bytes.append(bigEndian: UInt32(truncatingIfNeeded: utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    private static func append(_ blob: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        bytes.append(4)
        bytes.append(bigEndian: UInt32(truncatingIfNeeded: blob.count))
        bytes.append(contentsOf: blob)
    }
}

extension RowKey: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// A key of one number.
    public init(integerLiteral value: Int64) { self.init(value) }

    /// A key of one text.
    public init(stringLiteral value: String) { self.init(value) }
}

extension SealedFieldsError {
    static var rowKeyMissing: SealedFieldsError {
        SealedFieldsError(
            .placeUnknown,
            message:
                "the row has no key yet, and its fields are bound to it; give it one before it is saved, such as a UUID"
        )
    }
}
