import GRDB
import GRDBSQLite

/// A connection to SQLite that prepares statements and keeps them for the next time.
protocol StatementSource: AnyObject {
    /// The statement that was prepared for `sql` before, or a new one that is kept.
    func keptStatement(_ sql: String) throws -> PreparedStatement

    /// A statement that nobody else has.
    func freshStatement(_ sql: String) throws -> PreparedStatement

    /// The connection itself; nil once it is closed.
    var sqliteConnection: SQLiteConnection? { get }
}

/// A statement of SQLite and what keeps it alive.
struct PreparedStatement {
    let owner: AnyObject
    let pointer: SQLiteStatement
}

extension StatementSource {
    /// The integer in the first column of the first row of `sql`.
    func integer(_ sql: String) throws -> Int64? {
        let statement = try RawStatement(sql, in: self)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The texts in the first column of the rows of `sql`.
    func texts(_ sql: String) throws -> [String] {
        let statement = try RawStatement(sql, in: self)
        defer { statement.reset() }
        var texts: [String] = []
        while try statement.step() {
            guard let text = statement.text(0) else { throw StoreError.corrupt(reason: "a column holds no text") }
            texts.append(text)
        }
        return texts
    }
}

extension Database: StatementSource {
    func keptStatement(_ sql: String) throws -> PreparedStatement {
        let statement = try cachedStatement(sql: sql)
        return PreparedStatement(owner: statement, pointer: statement.sqliteStatement)
    }

    func freshStatement(_ sql: String) throws -> PreparedStatement {
        let statement = try makeStatement(sql: sql)
        return PreparedStatement(owner: statement, pointer: statement.sqliteStatement)
    }
}

extension DatabaseError {
    /// The failure `code` of a call on `connection`, in SQLite's own words.
    init(_ code: Int32, on connection: SQLiteConnection?) {
        self.init(
            resultCode: ResultCode(rawValue: code),
            message: connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) })
    }
}
