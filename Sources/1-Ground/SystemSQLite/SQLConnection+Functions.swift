import CSQLite

extension SQLConnection {
    /// Adds an SQL function that takes one text. For a value of another type it returns NULL. As in GRDB, the text that it is
    /// given and the one that it returns end at their first zero byte.
    ///
    /// - Parameter body: Returns the same for the same text, so that indexes can use it.
    package func add(function name: String, _ body: @escaping @Sendable (String) -> String) throws(SQLiteError) {
        let handle = try opened()
        let context = Unmanaged.passRetained(TextFunction(body: body)).toOpaque()
        // SQLite releases the object when the function goes, and when it cannot be added.
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

    /// Adds an order of texts to SQL.
    ///
    /// - Parameter compare: Less than 0 if the first comes before the second, 0 if they are the same.
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
            // Unlike for functions, SQLite leaves it to the caller then.
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

    /// The text, or the blob that is one in UTF-8.
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
