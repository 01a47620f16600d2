import Foundation
import GRDB

/// A property of a ``SealedRecord`` whose value the database stores sealed.
///
/// ```swift
/// struct Note: SealedRecord, PersistableRecord {
///     static let fieldSealing = FieldSealing(database: "notes", keys: FieldKeys("com.example.notes"))
///     var id: UUID
///     @SealedField var body: String
/// }
/// ```
///
/// The value is opened when the record is fetched, so the property always has it. The fetch fails if the value is not
/// authentic or its key is not available. The value is sealed when the record is saved, for the place that the record
/// then has. If nothing was assigned, the sealed value is written unchanged. To open a value only when the program asks
/// for it, declare a ``SealedColumnValue``.
///
/// A null in the column means that there is no value. `nil` of an optional is sealed like other values, and nobody can
/// see it in the database.
@propertyWrapper
public struct SealedField<Value: Codable> {
    /// The value.
    public var wrappedValue: Value {
        didSet { stored = nil }
    }

    /// The sealed value from the database and its place, until another value is assigned.
    private var stored: (bytes: Data, place: FieldPlace, database: String)?

    /// A property with a value that is sealed when the record is saved.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension SealedField: Sendable where Value: Sendable {}

extension SealedField: Equatable where Value: Equatable {
    /// Whether the values are equal.
    public static func == (left: SealedField, right: SealedField) -> Bool { left.wrappedValue == right.wrappedValue }
}

extension SealedField: Hashable where Value: Hashable {
    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}

extension SealedField: CustomStringConvertible, CustomReflectable {
    /// Leaves the value out, so that records can be printed and logged.
    public var description: String { "a sealed field" }

    /// Leaves the value out, so that a dump of a record does not contain it.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension SealedField: Codable {
    /// Opens the value of a column of the row that is being fetched.
    public init(from decoder: any Decoder) throws {
        guard let pass = OpeningPass.current, decoder.userInfo[.isNestedInColumn] == nil,
            let key = decoder.codingPath.last
        else { throw SealedFieldsError.noRecord }
        let container = try decoder.singleValueContainer()
        let column = pass.column(key)
        let sealed: SealedColumnValue<Value>
        do {
            sealed = try container.decode(SealedColumnValue<Value>.self)
        } catch {
            throw SealedFieldsError.notSealed("\(pass.table).\(column)")
        }
        let place = try pass.place(column)
        wrappedValue = try pass.sealing().open(sealed, at: place)
        stored = (sealed.bytes, place, try pass.sealing().database)
    }

    /// Registers the value to be sealed for the row that is being saved.
    public func encode(to encoder: any Encoder) throws {
        guard let pass = SealingPass.current, encoder.userInfo[.isNestedInColumn] == nil,
            let key = encoder.codingPath.last
        else { throw SealedFieldsError.noRecord }
        pass.add(
            key,
            SealingPass.Field(
                sealed: { sealing, place in
                    if let stored, stored.place == place, stored.database == sealing.database { return stored.bytes }
                    return try sealing.seal(wrappedValue, at: place).bytes
                },
                digest: { sealing, place in
                    try sealing.digest(of: wrappedValue, table: place.table, column: place.column)
                }))
        // Takes the column's place until the row's key is known.
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension SealedFieldsError {
    static var noRecord: SealedFieldsError {
        SealedFieldsError(
            .placeUnknown,
            message: "a sealed field has a place only as a column of a SealedRecord that is fetched or saved")
    }
}
