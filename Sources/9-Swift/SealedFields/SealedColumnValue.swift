import Foundation
import GRDB

/// A sealed value, in the form that a column stores.
///
/// It is made and opened by a ``FieldSealing`` or, in records, by ``SealedRecord/seal(_:for:)`` and
/// ``SealedRecord/open(_:from:)``. Reading and writing a row with one needs no key: a record opens it when it is looked
/// at, and only then does the keychain ask whom it has to ask.
///
/// ```swift
/// struct Card: SealedRecord, PersistableRecord {
///     static let fieldSealing = sealing
///     var id: UUID
///     var pin: SealedColumnValue<String>?
/// }
/// card.pin = try card.seal("4711", for: "pin")
/// let pin = try card.pin.map { try card.open($0, from: "pin") }
/// ```
public struct SealedColumnValue<Value: Codable>: Sendable, Hashable {
    /// The sealed value, for the column: a blob.
    public let bytes: Data

    /// A sealed value that was kept elsewhere.
    ///
    /// - Throws: ``SealedFieldsError/Code/notSealed`` or ``SealedFieldsError/Code/unsupported`` if it is none. Whether
    ///   it is authentic shows when it is opened.
    public init(bytes: Data) throws {
        _ = try bytes.withUnsafeBytes { try SealedForm.parse($0) }
        self.bytes = bytes
    }

    init(unchecked bytes: Data) { self.bytes = bytes }

    /// The algorithm that sealed it.
    public var algorithm: SealingAlgorithm { SealingAlgorithm(number: bytes[bytes.startIndex + 1]) }
}

extension SealedColumnValue: DatabaseValueConvertible {
    /// A blob.
    public var databaseValue: DatabaseValue { bytes.databaseValue }

    /// The sealed value in a blob; nil if it is none.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> SealedColumnValue? {
        guard case .blob(let bytes) = value.storage else { return nil }
        return try? SealedColumnValue(bytes: bytes)
    }
}

extension SealedColumnValue: Codable {
    /// The sealed value in data.
    public init(from decoder: any Decoder) throws {
        try self.init(bytes: decoder.singleValueContainer().decode(Data.self))
    }

    /// Encodes data.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
