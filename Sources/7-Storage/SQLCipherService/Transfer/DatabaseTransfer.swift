import SQLCipherWire

/// A part of a database that is copied from one engine to another. The parts come in the order of the cases, except
/// that each table is followed by its rows.
package enum DatabaseTransfer: Sendable, Equatable {
    case settings(TransferSettings)
    case table(TransferTable)
    case rows(RowBatch)
    /// An index, a view or a trigger.
    case object(TransferObject)
}

/// The settings in a database's header.
package struct TransferSettings: Sendable, Equatable {
    package var encoding: String
    package var autoVacuum: Int64
    package var userVersion: Int64
    package var applicationID: Int64
}

/// An entry of the schema.
package struct TransferObject: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case table, index, view, trigger
    }

    package var kind: Kind
    package var name: String
    package var table: String
    package var sql: String
}

package struct TransferTable: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case ordinary
        /// A virtual table, whose rows are in other tables.
        case virtual
        /// A table of a virtual table, which creates it.
        case shadow
        /// A table of SQLite itself.
        case system
    }

    package var object: TransferObject
    package var kind: Kind
    /// The columns of the following rows.
    package var columns: [String]
    /// The name for the rowid, which is then the first value of each row. No column has this name.
    package var rowid: String?

    /// The names in the statements that read and write rows.
    var places: [String] { (rowid.map { [$0] } ?? []) + columns.map(quoted) }

    var selection: String {
        "SELECT \(places.joined(separator: ", ")) FROM \(quoted(object.name))" + (rowid.map { " ORDER BY \($0)" } ?? "")
    }

    var insertion: String {
        let marks = repeatElement("?", count: places.count).joined(separator: ", ")
        return "INSERT INTO \(quoted(object.name)) (\(places.joined(separator: ", "))) VALUES (\(marks))"
    }
}

/// The progress of a transfer.
package struct TransferProgress: Sendable, Equatable {
    package var table: String
    package var rows = 0
    /// The bytes of copied values.
    package var bytes = 0
    /// The size of the source, including its free pages and indexes. Never much less than the final `bytes`.
    package var totalBytes: Int
}

/// The result of a transfer.
package struct TransferSummary: Sendable, Equatable {
    package var tables = 0
    package var rows = 0
    /// Statistics of `ANALYZE` that the other engine cannot store. SQLite can compute them again.
    package var omitted: [String] = []
}

package enum TransferError: Error, Equatable, CustomStringConvertible {
    /// The target cannot store an object. Nothing was copied.
    case cannotCarry(kind: String, name: String, engine: String, reason: String)
    /// The target is not empty.
    case targetNotEmpty
    case inTransaction
    /// The copy differs from the original.
    case differs(table: String)

    package var description: String {
        switch self {
        case .cannotCarry(let kind, let name, let engine, let reason):
            "the \(kind) \"\(name)\" cannot be carried to \(engine): \(reason); change or drop it first"
        case .targetNotEmpty: "there is something in the database to copy to: use a new one"
        case .inTransaction: "a transaction is open on the database to copy to: end it first"
        case .differs(let table):
            "the copy of table \"\(table)\" differs from the original: nothing was replaced; try again"
        }
    }
}
