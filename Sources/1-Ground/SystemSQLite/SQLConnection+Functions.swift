import Bytes
import CSQLite

extension SQLConnection {
    /// Adds an SQL function that takes one text. It returns NULL for a value of another type.
    ///
    /// As in GRDB, the argument and the result end at their first zero byte.
    ///
    /// - Parameter body: Always returns the same result for the same text, so that indexes can use it.
    package func add(function name: String, _ body: @escaping @Sendable (String) -> String) throws(SQLiteError) {
        let handle = try opened()
        let context = Unmanaged.passRetained(TextFunction(body: body)).toOpaque()
        // SQLite releases the object when it removes the function, and also when it cannot add it.
        let code = sqlite3_create_function_v2(
            handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, context,
            { call, _, values in
                guard let context = sqlite3_user_data(call), let value = values?.pointee else { return }
                let function = Unmanaged<TextFunction>.fromOpaque(context).takeUnretainedValue()
                guard let text = TextFunction.text(value).map(function.body) else { return sqlite3_result_null(call) }
                sqlite3_result_text(call, text, -1, TextFunction.copied)
            }, nil, nil, { context in context.map { Unmanaged<TextFunction>.fromOpaque($0).release() } })
        guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }

    /// Adds a collation for texts to SQL.
    ///
    /// - Parameter compare: Returns less than 0 if the first text comes before the second, and 0 if they are equal.
    package func add(
        collation name: String, _ compare: @escaping @Sendable (String, String) -> Int
    ) throws(SQLiteError) {
        let handle = try opened()
        let context = Unmanaged.passRetained(TextOrder(compare: compare))
        let code = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, context.toOpaque(),
            { context, firstCount, first, secondCount, second in
                guard let context else { return 0 }
                let order = Unmanaged<TextOrder>.fromOpaque(context).takeUnretainedValue()
                let first = UnsafeRawBufferPointer(start: first, count: Int(firstCount))
                let second = UnsafeRawBufferPointer(start: second, count: Int(secondCount))
                return Int32(
                    clamping: order.compare(
                        String(decoding: first, as: UTF8.self), String(decoding: second, as: UTF8.self)))
            }, { context in context.map { Unmanaged<TextOrder>.fromOpaque($0).release() } })
        guard code == SQLITE_OK else {
            // Unlike with functions, the caller releases the object after a failure.
            context.release()
            throw SQLiteError(code, on: handle)
        }
    }
}

private final class TextFunction: Sendable {
    let body: @Sendable (String) -> String

    init(body: @escaping @Sendable (String) -> String) { self.body = body }

    // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
    static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Returns the text of a value, or of a blob that holds UTF-8; nil for any other value.
    static func text(_ value: OpaquePointer) -> String? {
        switch sqlite3_value_type(value) {
        case SQLITE_TEXT: return sqlite3_value_text(value).map { String(cString: $0) }
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(value)
            let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
            return String(validating: bytes, as: UTF8.self)
        default: return nil
        }
    }
}

private final class TextOrder: Sendable {
    let compare: @Sendable (String, String) -> Int

    init(compare: @escaping @Sendable (String, String) -> Int) { self.compare = compare }
}
