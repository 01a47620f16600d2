import CLibrary
import SQLCipherWire
import SystemLibraries

typealias Handle = OpaquePointer
typealias Text = UnsafePointer<CChar>

/// The functions of libsqlcipher, with the types that sqlite3.h declares.
struct CipherLibrary {
    typealias Callback = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    typealias Authorizer =
        @convention(c) (UnsafeMutableRawPointer?, Int32, Text?, Text?, Text?, Text?) -> Int32

    let name: String
    let open: @convention(c) (Text, UnsafeMutablePointer<Handle?>, Int32, Text?) -> Int32
    let close: @convention(c) (Handle?) -> Int32
    let key: @convention(c) (Handle, UnsafeRawPointer, Int32) -> Int32
    let rekey: @convention(c) (Handle, UnsafeRawPointer, Int32) -> Int32
    let extendedErrors: @convention(c) (Handle, Int32) -> Int32
    let busyTimeout: @convention(c) (Handle, Int32) -> Int32
    let setAuthorizer: @convention(c) (Handle, Authorizer?, UnsafeMutableRawPointer?) -> Int32
    let setProgress: @convention(c) (Handle, Int32, Callback?, UnsafeMutableRawPointer?) -> Void
    let prepare:
        @convention(c) (Handle, Text, Int32, UnsafeMutablePointer<Handle?>, UnsafeMutablePointer<Text?>?) -> Int32
    let step: @convention(c) (Handle) -> Int32
    let reset: @convention(c) (Handle) -> Int32
    let clearBindings: @convention(c) (Handle) -> Int32
    let finalize: @convention(c) (Handle?) -> Int32
    let parameterCount: @convention(c) (Handle) -> Int32
    let bindNull: @convention(c) (Handle, Int32) -> Int32
    let bindInteger: @convention(c) (Handle, Int32, Int64) -> Int32
    let bindReal: @convention(c) (Handle, Int32, Double) -> Int32
    let bindText: @convention(c) (Handle, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    let bindBlob: @convention(c) (Handle, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
    let bindZeros: @convention(c) (Handle, Int32, Int32) -> Int32
    let columnCount: @convention(c) (Handle) -> Int32
    let columnName: @convention(c) (Handle, Int32) -> Text?
    let columnType: @convention(c) (Handle, Int32) -> Int32
    let columnInteger: @convention(c) (Handle, Int32) -> Int64
    let columnReal: @convention(c) (Handle, Int32) -> Double
    let columnText: @convention(c) (Handle, Int32) -> UnsafeRawPointer?
    let columnBlob: @convention(c) (Handle, Int32) -> UnsafeRawPointer?
    let columnBytes: @convention(c) (Handle, Int32) -> Int32
    let extendedCode: @convention(c) (Handle) -> Int32
    let message: @convention(c) (Handle) -> Text?
    let changes: @convention(c) (Handle) -> Int32
    let lastRowid: @convention(c) (Handle) -> Int64
    let autocommit: @convention(c) (Handle) -> Int32
    let version: @convention(c) () -> Text?

    /// The versions of the interface, newest first.
    private static let names = ["libsqlcipher.so.2", "libsqlcipher.so.1", "libsqlcipher.so.0"]

    init() throws(RequestFailure) {
        // A SQLite that is loaded already would answer instead of SQLCipher.
        let isThere: UnsafeRawPointer? = dlsym(nil, "sqlite3_open_v2").map { UnsafeRawPointer($0) }
        guard isThere == nil else {
            throw RequestFailure(
                .libraryUnusable, "another SQLite is in this process: do not preload libraries into it")
        }
        guard let library = Self.names.lazy.compactMap({ try? SystemLibrary($0, provides: "SQLCipher files") }).first
        else {
            throw RequestFailure(
                .libraryMissing,
                "SQLCipher files need libsqlcipher, which is not on this machine; install it "
                    + "(libsqlcipher0 or libsqlcipher1 on Debian and Ubuntu)")
        }
        name = library.name
        do {
            open = try library.function("sqlite3_open_v2")
            close = try library.function("sqlite3_close")
            key = try library.function("sqlite3_key")
            rekey = try library.function("sqlite3_rekey")
            extendedErrors = try library.function("sqlite3_extended_result_codes")
            busyTimeout = try library.function("sqlite3_busy_timeout")
            setAuthorizer = try library.function("sqlite3_set_authorizer")
            setProgress = try library.function("sqlite3_progress_handler")
            prepare = try library.function("sqlite3_prepare_v2")
            step = try library.function("sqlite3_step")
            reset = try library.function("sqlite3_reset")
            clearBindings = try library.function("sqlite3_clear_bindings")
            finalize = try library.function("sqlite3_finalize")
            parameterCount = try library.function("sqlite3_bind_parameter_count")
            bindNull = try library.function("sqlite3_bind_null")
            bindInteger = try library.function("sqlite3_bind_int64")
            bindReal = try library.function("sqlite3_bind_double")
            bindText = try library.function("sqlite3_bind_text")
            bindBlob = try library.function("sqlite3_bind_blob")
            bindZeros = try library.function("sqlite3_bind_zeroblob")
            columnCount = try library.function("sqlite3_column_count")
            columnName = try library.function("sqlite3_column_name")
            columnType = try library.function("sqlite3_column_type")
            columnInteger = try library.function("sqlite3_column_int64")
            columnReal = try library.function("sqlite3_column_double")
            columnText = try library.function("sqlite3_column_text")
            columnBlob = try library.function("sqlite3_column_blob")
            columnBytes = try library.function("sqlite3_column_bytes")
            extendedCode = try library.function("sqlite3_extended_errcode")
            message = try library.function("sqlite3_errmsg")
            changes = try library.function("sqlite3_changes")
            lastRowid = try library.function("sqlite3_last_insert_rowid")
            autocommit = try library.function("sqlite3_get_autocommit")
            version = try library.function("sqlite3_libversion")
        } catch {
            throw RequestFailure(.libraryUnusable, "\(error)")
        }
    }

    var sqliteVersion: String { version().map { String(cString: $0) } ?? "" }
}

/// Result codes (sqlite3.h).
enum ResultCode {
    static let ok: Int32 = 0
    static let row: Int32 = 100
    static let done: Int32 = 101
}
