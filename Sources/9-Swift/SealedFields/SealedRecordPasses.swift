import Foundation
import GRDB
import Synchronization

/// What the fields of a row need while it is fetched.
final class OpeningPass: Sendable {
    @TaskLocal static var current: OpeningPass?

    let table: String
    let column: @Sendable (any CodingKey) -> String
    private let makeSealing: @Sendable () throws -> FieldSealing
    private let rowKey: Result<RowKey, any Error>
    private let known = Mutex<FieldSealing?>(nil)

    init<Record: SealedRecord>(_ record: Record.Type, _ row: Row) {
        table = Record.sealedTableName
        column = { ColumnNames.column(of: $0, in: record) }
        makeSealing = { try record.effectiveSealing }
        rowKey = Result { try RowKey(record.sealedRowColumns.map { row[$0] ?? DatabaseValue.null }) }
    }

    func sealing() throws -> FieldSealing {
        if let known = known.withLock({ $0 }) { return known }
        let sealing = try makeSealing()
        known.withLock { $0 = sealing }
        return sealing
    }

    func place(_ column: String) throws -> FieldPlace {
        FieldPlace(table: table, column: column, row: try rowKey.get())
    }
}

/// Collects the fields of a record while it is encoded: its key, which they are bound to, is known at the end.
final class SealingPass: Sendable {
    @TaskLocal static var current: SealingPass?

    struct Field {
        let sealed: (FieldSealing, FieldPlace) throws -> Data
        let digest: (FieldSealing, FieldPlace) throws -> EqualityRevealingDigest
    }

    // Safe: a pass is made, filled and emptied by one call of `SealedRecord.encode(to:)`, on its thread.
    nonisolated(unsafe) private(set) var fields: [(key: any CodingKey, field: Field)] = []

    func add(_ key: any CodingKey, _ field: Field) { fields.append((key, field)) }
}

/// A record as GRDB alone fetches and saves it.
struct StandardCoding<Record: SealedRecord>: FetchableRecord, EncodableRecord, Codable {
    let record: Record

    init(record: Record) { self.record = record }

    init(from decoder: any Decoder) throws { record = try Record(from: decoder) }

    func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }

    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { Record.databaseEncodingUserInfo }
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { Record.databaseDecodingUserInfo }
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { Record.databaseColumnEncodingStrategy }
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { Record.databaseColumnDecodingStrategy }

    static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = Record.databaseJSONEncoder(for: column)
        encoder.userInfo[.isNestedInColumn] = true
        return encoder
    }

    static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = Record.databaseJSONDecoder(for: column)
        decoder.userInfo[.isNestedInColumn] = true
        return decoder
    }

    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        Record.databaseDataEncodingStrategy(for: column)
    }

    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        Record.databaseDataDecodingStrategy(for: column)
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        Record.databaseDateEncodingStrategy(for: column)
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        Record.databaseDateDecodingStrategy(for: column)
    }

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        Record.databaseUUIDEncodingStrategy(for: column)
    }
}

extension CodingUserInfoKey {
    /// Set where a column's value is encoded as JSON: what is inside has no column of its own.
    // A raw value that is not empty is always a key.
    static let isNestedInColumn = CodingUserInfoKey(rawValue: "swift-keychain.sealed-fields.nested")!
}

/// The columns that the coding keys of records have.
enum ColumnNames {
    private static let known = Mutex<[ObjectIdentifier: [String: String]]>([:])

    static func column<Record: SealedRecord>(of key: any CodingKey, in record: Record.Type) -> String {
        if case .useDefaultKeys = record.databaseColumnEncodingStrategy { return key.stringValue }
        let type = ObjectIdentifier(record)
        if let column = known.withLock({ $0[type]?[key.stringValue] }) { return column }
        // GRDB says it of a record that has nothing else.
        let names = try? Probe<Record>(name: key.stringValue).databaseDictionary.keys
        let column = names?.first ?? key.stringValue
        known.withLock { $0[type, default: [:]][key.stringValue] = column }
        return column
    }

    private struct Probe<Record: SealedRecord>: EncodableRecord, Encodable {
        let name: String

        static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy {
            Record.databaseColumnEncodingStrategy
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(true, forKey: Key(stringValue: name))
        }

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }
}
