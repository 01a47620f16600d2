import Bytes
import CSQLite

/// A prepared statement. As in SQLite, parameters count from 1 and columns from 0.
///
/// A column of SQLite has no fixed type, and a changed file may hold any value anywhere. Code that reads a column
/// checks the type of the value.
package final class SQLStatement {
    /// The types of values.
    package enum Kind: Sendable {
        case null, integer, real, text, blob
    }

    /// The statement for SQLite's own functions.
    package let pointer: OpaquePointer

    /// Takes ownership of a statement, which ends with this object.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sqlite3_finalize(pointer) }

    // MARK: Binding

    /// Binds NULL.
    package func bindNull(at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_null(pointer, index))
    }

    /// Binds an integer.
    package func bind(_ integer: Int64, at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_int64(pointer, index, integer))
    }

    /// Binds a real number. SQLite stores NULL for NaN.
    package func bind(_ real: Double, at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_double(pointer, index, real))
    }

    /// Binds a copy of a text.
    package func bind(_ text: String, at index: Int32) throws(SQLiteError) {
        var text = text
        try check(text.withUTF8 { bindText(UnsafeRawBufferPointer($0), at: index) })
    }

    /// Binds a copy of a UTF-8 text. The text is not checked and may contain zero bytes.
    package func bind(text: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
        try check(bindText(text, at: index))
    }

    /// Binds a copy of `bytes` as a blob. An empty blob is not NULL.
    package func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
        try check(bindBlob(bytes, at: index, Self.copied))
    }

    /// Binds `bytes` as a blob without a copy while `body` runs. Resets the statement afterwards.
    package func lending<Result>(
        _ bytes: UnsafeRawBufferPointer, at index: Int32, _ body: () throws -> Result
    ) throws -> Result {
        try check(bindBlob(bytes, at: index, nil))
        defer {
            reset()
            sqlite3_bind_null(pointer, index)
        }
        return try body()
    }

    /// Binds NULL to every parameter.
    package func clearBindings() { sqlite3_clear_bindings(pointer) }

    // SQLITE_TRANSIENT, a cast in the header: SQLite copies the bytes before the call returns.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func bindBlob(
        _ bytes: UnsafeRawBufferPointer, at index: Int32, _ destructor: sqlite3_destructor_type?
    ) -> Int32 {
        // SQLite would bind NULL for a missing address.
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(pointer, index, 0) }
        return sqlite3_bind_blob64(pointer, index, start, UInt64(clamping: bytes.count), destructor)
    }

    private func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return sqlite3_bind_text(pointer, index, "", 0, Self.copied)
        }
        return sqlite3_bind_text64(
            pointer, index, start.assumingMemoryBound(to: CChar.self), UInt64(clamping: bytes.count), Self.copied,
            UInt8(truncatingIfNeeded: SQLITE_UTF8))
    }

    // MARK: Stepping

    /// Moves to the next row. Resets the statement at the end and after a failure.
    ///
    /// - Returns: Whether there is a row.
    package func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        case let code:
            let failure = failure(code)
            reset()
            throw failure
        }
    }

    /// Runs the statement to its end without its rows.
    package func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Ends the reading and releases the lock on the database. The bindings stay.
    package func reset() { sqlite3_reset(pointer) }

    /// Whether the statement is between its first row and its end.
    package var isBusy: Bool { sqlite3_stmt_busy(pointer) != 0 }

    /// Whether the statement does not change the file directly.
    package var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

    // MARK: Columns of the row

    /// The number of columns; 0 for a statement that has no rows.
    package var columnCount: Int32 { sqlite3_column_count(pointer) }

    /// Returns the name of a column.
    package func name(of column: Int32) -> String {
        sqlite3_column_name(pointer, column).map { String(cString: $0) } ?? ""
    }

    /// Returns the type of the value in a column.
    package func kind(of column: Int32) -> Kind {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// Returns the integer in a column; nil for another type.
    package func integer(_ column: Int32) -> Int64? {
        guard sqlite3_column_type(pointer, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(pointer, column)
    }

    /// Returns the real number in a column; nil for another type.
    package func real(_ column: Int32) -> Double? {
        guard sqlite3_column_type(pointer, column) == SQLITE_FLOAT else { return nil }
        return sqlite3_column_double(pointer, column)
    }

    /// Returns the text in a column; nil for another type. Replaces bytes that are not UTF-8.
    package func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(pointer, column) == SQLITE_TEXT else { return nil }
        return withText(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Runs `body` with the value in a column as SQLite prints it, in UTF-8. The buffer is empty for NULL.
    ///
    /// - Returns: Nil if there is not enough memory.
    package func withText<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result?
    {
        // SQLite requires this order: the call for the address may change the count.
        let start = sqlite3_column_text(pointer, column)
        return try lend(UnsafeRawPointer(start), of: column, body)
    }

    /// Runs `body` with the blob in a column. Returns nil for another type.
    package func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result?
    {
        guard sqlite3_column_type(pointer, column) == SQLITE_BLOB else { return nil }
        return try lend(sqlite3_column_blob(pointer, column), of: column, body)
    }

    private func lend<Result>(
        _ start: UnsafeRawPointer?, of column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        // The address is nil for an empty value and also without memory. The count tells the two apart.
        let count = Int(sqlite3_column_bytes(pointer, column))
        guard start != nil || count == 0 else { return nil }
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    // MARK: Failures

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> SQLiteError {
        SQLiteError(code, on: sqlite3_db_handle(pointer))
    }
}
