import Foundation
import GRDB

/// A Codable record of GRDB with sealed fields. It names the place of its fields.
///
/// ```swift
/// struct Note: SealedRecord, PersistableRecord {
///     static let fieldSealing = FieldSealing(database: "notes", keys: FieldKeys("com.example.notes"))
///     var id: UUID
///     var title: String
///     @SealedField var body: String
/// }
/// ```
///
/// It is fetched and saved like any other record. A sealed value is bound to the names of database, table and column
/// and to the row's key. The key must therefore be known before the record is saved: a UUID, a text, or a number that
/// the program chooses. Numbers that SQLite assigns on insertion come too late.
public protocol SealedRecord: FetchableRecord, EncodableRecord, TableRecord, Codable {
    /// The sealing for the fields, unless ``FieldSealing/run(_:)`` replaces it.
    static var fieldSealing: FieldSealing { get throws }

    /// The columns of the row's key, in an order that never changes. They should be the primary key; "id" by default.
    static var sealedRowColumns: [String] { get }

    /// The table name that values are bound to; by default the table's name. A renamed table gives its former name
    /// here.
    static var sealedTableName: String { get }

    /// The columns that have digests for equality search, by the ``SealedField`` they are of; none by default.
    ///
    /// A reader of the database sees which rows have equal values there: ``EqualityRevealingDigest``.
    static var equalityRevealingDigests: [String: String] { get }
}

extension SealedRecord {
    /// "id".
    public static var sealedRowColumns: [String] { ["id"] }

    /// The table's name.
    public static var sealedTableName: String { databaseTableName }

    /// None.
    public static var equalityRevealingDigests: [String: String] { [:] }

    /// Fetches the record, and opens its ``SealedField`` properties.
    ///
    /// - Throws: ``SealedFieldsError`` for a field that cannot be opened, and what GRDB throws.
    public init(row: Row) throws {
        let pass = OpeningPass(Self.self, row)
        self = try OpeningPass.$current.withValue(pass) {
            try FetchableRecordDecoder().decode(StandardCoding<Self>.self, from: row).record
        }
    }

    /// Saves the record with its ``SealedField`` properties sealed.
    ///
    /// - Throws: ``SealedFieldsError`` for a field that cannot be sealed, and what GRDB throws.
    public func encode(to container: inout PersistenceContainer) throws {
        let pass = SealingPass()
        try SealingPass.$current.withValue(pass) { try StandardCoding(record: self).encode(to: &container) }
        guard !pass.fields.isEmpty else { return }
        let sealing = try Self.effectiveSealing
        let row = try RowKey(Self.sealedRowColumns.map { container[$0] ?? DatabaseValue.null })
        var digests = Self.equalityRevealingDigests
        for (key, field) in pass.fields {
            let column = ColumnNames.column(of: key, in: Self.self)
            let place = FieldPlace(table: Self.sealedTableName, column: column, row: row)
            container[column] = try field.sealed(sealing, place)
            if let digest = digests.removeValue(forKey: column) {
                container[digest] = try field.digest(sealing, place)
            }
        }
        guard digests.isEmpty else {
            throw SealedFieldsError(
                .invalidRequest, subject: "\(Self.databaseTableName).\(digests.keys.sorted()[0])",
                message: "there is no SealedField of this name for the digest; name the column")
        }
    }

    /// The key of the record's row.
    ///
    /// - Throws: ``SealedFieldsError/Code/placeUnknown`` if the record has none yet.
    public func sealedRowKey() throws -> RowKey {
        let container = try databaseDictionaryOfKey()
        return try RowKey(Self.sealedRowColumns.map { container[$0] ?? DatabaseValue.null })
    }

    /// Seals a value for a column of the record's row.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - column: The column's name.
    /// - Throws: ``SealedFieldsError``.
    public func seal<Value: Codable>(_ value: Value, for column: String) throws -> SealedColumnValue<Value> {
        try Self.effectiveSealing.seal(value, at: place(of: column))
    }

    /// Opens the value of a column of the record's row, which may ask a person.
    ///
    /// - Parameters:
    ///   - sealed: The value that the column has.
    ///   - column: The column's name.
    /// - Throws: ``SealedFieldsError``.
    public func open<Value: Codable>(_ sealed: SealedColumnValue<Value>, from column: String) throws -> Value {
        try Self.effectiveSealing.open(sealed, at: place(of: column))
    }

    private func place(of column: String) throws -> FieldPlace {
        FieldPlace(table: Self.sealedTableName, column: column, row: try sealedRowKey())
    }

    static var effectiveSealing: FieldSealing {
        get throws { try FieldSealing.current ?? fieldSealing }
    }

    /// The record's columns without its sealed fields, which are null.
    private func databaseDictionaryOfKey() throws -> [String: DatabaseValue] {
        try SealingPass.$current.withValue(SealingPass()) { try StandardCoding(record: self).databaseDictionary }
    }
}
