import SQLCipherWire

/// A part of a database on its way from one engine to another. They come in the order of the cases, but for tables, each
/// of which is followed by its rows.
package enum DatabaseTransfer: Sendable, Equatable {
    case settings(TransferSettings)
    case table(TransferTable)
    case rows(RowBatch)
    /// An index, a view or a trigger.
    case object(TransferObject)
}

/// What is kept in a database's header.
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
        /// Its rows are those of other tables.
        case virtual
        /// A virtual table's: made together with that one.
        case shadow
        /// SQLite's own.
        case system
    }

    package var object: TransferObject
    package var kind: Kind
    /// The columns of the rows to follow.
    package var columns: [String]
    /// The rows have the rowid as their first value under this name, which no column has.
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

/// How far a transfer is.
package struct TransferProgress: Sendable, Equatable {
    package var table: String
    package var rows = 0
    /// Of values that were carried.
    package var bytes = 0
    /// The size of what is carried from, its free pages and indexes included: never less than `bytes` will be by much.
    package var totalBytes: Int
}

/// What a transfer left behind that SQLite makes again by itself.
package struct TransferSummary: Sendable, Equatable {
    package var tables = 0
    package var rows = 0
    /// Statistics of `ANALYZE` that the other engine has no room for.
    package var omitted: [String] = []
}

package enum TransferError: Error, Equatable, CustomStringConvertible {
    /// The target cannot have something; nothing was carried.
    case cannotCarry(kind: String, name: String, engine: String, reason: String)
    /// There is something in the target.
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
        case .differs(let table): "the copy of table \"\(table)\" is not what was read: nothing was replaced; try again"
        }
    }
}
