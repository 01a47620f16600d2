import Crypto
import Foundation
import GRDB

/// A digest of a value that another column holds sealed. A query finds the rows with that value by it.
///
/// It is a keyed hash, so that nothing can be learnt from one alone. But equal values of a column have equal digests:
/// **anybody who sees the database sees which rows have the same value, and how often each occurs**; from a row with a
/// known value, they see which others have it. Use it for values that are nearly unique, such as addresses, and never
/// for those of which there are few, such as yes and no. Digests of different columns, tables and databases have
/// nothing in common.
public struct EqualityRevealingDigest: Sendable, Hashable {
    /// 16 bytes of HMAC-SHA256, for a column: a blob.
    public let bytes: Data
}

extension EqualityRevealingDigest: DatabaseValueConvertible {
    /// A blob.
    public var databaseValue: DatabaseValue { bytes.databaseValue }

    /// Returns the digest in a blob of 16 bytes; nil for a blob of another size.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> EqualityRevealingDigest? {
        guard case .blob(let bytes) = value.storage, bytes.count == 16 else { return nil }
        return EqualityRevealingDigest(bytes: bytes)
    }
}

extension FieldSealing {
    /// The digest of a value in a column.
    ///
    /// Strings are compared by their bytes in UTF-8, as SQLite does: "é" in two forms is two values.
    ///
    /// - Parameters:
    ///   - value: A string, data, whole number, Boolean, date or UUID, or an optional of one.
    ///   - table: The table.
    ///   - column: The column that the value itself is sealed in.
    /// - Throws: ``SealedFieldsError/Code/invalidRequest`` for values of other types, whose forms may differ where they
    ///   are equal, and ``SealedFieldsError/Code/locked``.
    public func digest<Value: Codable>(
        of value: Value, table: String, column: String
    ) throws -> EqualityRevealingDigest {
        let key = try keys.keyring.digestKey()
        let binding = BindingBytes(database: database, table: table, column: column, row: RowKey(0))
        return try FieldCoding.withEncoded(value) { bytes in
            let value = Self.withoutOptional(bytes)
            guard Self.hasOneForm(value) else {
                throw SealedFieldsError(
                    .invalidRequest, subject: "\(table).\(column)",
                    message:
                        "equal values of type \(Value.self) may have different digests; use a string, data or a number")
            }
            return Self.digest(of: value, binding, key)
        }
    }

    static func digest(
        of encoded: UnsafeRawBufferPointer, _ binding: BindingBytes, _ key: SymmetricKey
    ) -> EqualityRevealingDigest {
        var code = HMAC<SHA256>(key: key)
        withUnsafeTemporaryAllocation(byteCount: binding.count, alignment: 1) { room in
            // It takes the place of a value's header and has the same length.
            let label: StaticString = "digest/v1\0"
            binding.write(
                header: UnsafeRawBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount), into: room)
            code.update(data: UnsafeRawBufferPointer(room))
        }
        code.update(data: encoded)
        return EqualityRevealingDigest(bytes: Data(code.finalize().prefix(16)))
    }

    /// An optional with a value has the same digest as the value.
    static func withoutOptional(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var bytes = bytes
        while bytes.count > 1, bytes.first == FieldCoding.Kind.present.rawValue {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        }
        return bytes
    }

    private static func hasOneForm(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let kind = bytes.first.flatMap(FieldCoding.Kind.init(rawValue:)) else { return false }
        return switch kind {
        case .absent, .string, .data, .signed, .unsigned, .bool, .date, .uuid: true
        case .present, .double, .float, .json: false
        }
    }
}

extension SealedRecord {
    /// The records that have a value in a sealed column, found by the digests in ``equalityRevealingDigests``.
    ///
    /// ```swift
    /// let person = try Person.filter(sealed: "email", equals: "ada@example.com").fetchOne(db)
    /// ```
    ///
    /// - Parameters:
    ///   - column: The column that the value is sealed in.
    ///   - value: The value, of the type of the column's property.
    /// - Throws: ``SealedFieldsError/Code/invalidRequest`` for a column that has no digests.
    public static func filter<Value: Codable>(
        sealed column: String, equals value: Value
    ) throws -> QueryInterfaceRequest<Self> {
        guard let digestColumn = equalityRevealingDigests[column] else {
            throw SealedFieldsError(
                .invalidRequest, subject: "\(databaseTableName).\(column)",
                message: "the column has no digests; name it in equalityRevealingDigests")
        }
        let digest = try effectiveSealing.digest(of: value, table: sealedTableName, column: column)
        return filter(Column(digestColumn) == digest)
    }
}
