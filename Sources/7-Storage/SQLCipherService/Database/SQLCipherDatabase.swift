import Bytes
import CLibrary
import Frames
import SQLCipherWire

/// The options for opening a SQLCipher file.
package struct SQLCipherOptions: Sendable {
    /// Nil for the newest format of the installed library. An existing file with a raw key then keeps its own format.
    package var compatibility: CipherCompatibility?
    /// The page size in bytes; nil for 4096. For an existing file, nil also accepts the file's own size. With a
    /// passphrase that must be 1024, the default of SQLCipher 3.
    package var pageSize: Int?
    /// The size of SQLite's page cache in KiB. A page outside of the cache is decrypted again for each read.
    package var cacheSize = 65_536
    /// The time to wait for other users of the file.
    package var busyTimeout = Duration.seconds(10)
    /// The helper's path; nil to search for it.
    package var helper: String?

    package init() {}
}

/// A database in a format of SQLCipher. A separate helper process works on it.
///
/// For one thread at a time, except ``interruption``.
package final class SQLCipherDatabase {
    package let path: String
    /// The versions of SQLCipher and of the SQLite in it.
    package let library: HelperWelcome
    package let format: Opened
    private let helper: HelperConnection
    /// Called about every 100 ms while SQLite works on a request without returning rows.
    package var onProgress: (() -> Void)?

    /// Opens a database and checks that the key is right.
    ///
    /// - Throws: ``SQLCipherError``: `wrongKey` if nothing could be decrypted, `notEncrypted` for a plain database.
    package convenience init(
        _ path: String, key: CipherKey, readOnly isReadOnly: Bool = false, options: SQLCipherOptions = .init()
    ) throws(SQLCipherError) {
        try self.init(path, key, isReadOnly ? .reading : .writing, options)
    }

    /// Creates a new database in a file of mode 0600, and checks that the file is encrypted.
    package static func create(
        _ path: String, key: CipherKey, options: SQLCipherOptions = .init()
    ) throws(SQLCipherError) -> SQLCipherDatabase {
        try SQLCipherDatabase(path, key, .creating, options)
    }

    private init(
        _ path: String, _ key: CipherKey, _ mode: OpenRequest.Mode, _ options: SQLCipherOptions
    ) throws(SQLCipherError) {
        let path = try Self.absolute(path)
        guard key.bytes.count <= FrameLimits.key, key.kind == .raw ? key.bytes.count == 32 : !key.bytes.isEmpty else {
            throw .misused(
                reason: "a key has 32 bytes, and a passphrase 1 to \(FrameLimits.key): this one has \(key.bytes.count)")
        }
        var sizes = [UInt32(clamping: options.pageSize ?? 4096)]
        if options.pageSize == nil, mode != .creating { sizes.append(1024) }
        guard sizes.allSatisfy({ (512...65_536).contains($0) && $0.nonzeroBitCount == 1 }) else {
            throw .misused(reason: "pages have 512 to 65536 bytes, a power of two")
        }
        let program: String
        if let given = options.helper { program = given } else { program = try HelperProgram.find() }
        helper = try HelperConnection(program)
        library = helper.welcome
        self.path = path
        var request = OpenRequest(
            path: path, mode: mode, key: key, compatibility: options.compatibility, pageSizes: sizes,
            cacheSize: UInt32(clamping: min(max(0, options.cacheSize), 1 << 26)),
            busyTimeout: UInt32(clamping: Int(min(max(0, options.busyTimeout / .milliseconds(1)), 1e7))))
        do throws(SQLCipherError) {
            format = try helper.open(request)
        } catch {
            // The library does not report the reason. The first page may show it.
            guard error.code == .wrongKey, key.kind == .raw, let found = FirstPage.format(of: path, key: key.bytes),
                options.pageSize == nil || found.compatibility != options.compatibility
            else { throw error }
            request.compatibility = found.compatibility
            request.pageSizes = [found.pageSize]
            format = try helper.open(request)
        }
    }

    package var interruption: Interruption { helper.interruption }

    /// The helper process, for tests.
    package var processIdentifier: Int32 { helper.processIdentifier }

    private static func absolute(_ path: String) throws(SQLCipherError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .misused(reason: "a database has no path") }
        if path.utf8.first == UInt8(ascii: "/") { return path }
        guard let folder = getcwd(nil, 0) else { throw .file(path: path, reason: String(cString: strerror(errno))) }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    /// Runs one statement and ignores its rows.
    @discardableResult
    package func execute(_ sql: String, _ bindings: [SQLValue] = []) throws(SQLCipherError) -> RequestResult {
        try query(sql, bindings, { _ in }) { (_: [SQLValue]) throws(SQLCipherError) in }
    }

    /// Runs statements one after the other, without values, and ignores their rows.
    package func run(_ script: String) throws(SQLCipherError) {
        try checkIdle()
        try helper.send(.script) { $0.append(script) }
        _ = try receiveDone()
    }

    /// Returns all rows of a statement.
    package func rows(_ sql: String, _ bindings: [SQLValue] = []) throws(SQLCipherError) -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        try query(sql, bindings, { _ in }) { row throws(SQLCipherError) in rows.append(row) }
        return rows
    }

    /// Passes each row to `body` when it comes. The database takes no other request meanwhile.
    ///
    /// - Parameter columns: Called with the column names before the first row.
    /// - Throws: ``SQLCipherError``, or the error of `body`, which ends the statement.
    @discardableResult
    package func forEachRow(
        _ sql: String, _ bindings: [SQLValue] = [], columns: ([String]) -> Void = { _ in },
        _ body: ([SQLValue]) throws -> Void
    ) throws -> RequestResult {
        var thrown: (any Error)?
        do {
            return try query(sql, bindings, columns) { row throws(SQLCipherError) in
                do { try body(row) } catch {
                    thrown = error
                    throw .misused(reason: "the reader of the rows has ended")
                }
            }
        } catch {
            throw thrown ?? error
        }
    }

    @discardableResult
    private func query(
        _ sql: String, _ bindings: [SQLValue], _ columns: ([String]) -> Void,
        _ body: ([SQLValue]) throws(SQLCipherError) -> Void
    ) throws(SQLCipherError) -> RequestResult {
        try checkIdle()
        try helper.send(.query) { QueryRequest(sql: sql, bindings: bindings).encode(to: $0) }
        isReading = true
        defer { isReading = false }
        while true {
            var (names, rows, done): ([String]?, RowBatch?, RequestResult?)
            let kind = try helper.receive { kind, reader throws(FrameError) in
                switch kind {
                case .columns:
                    var found: [String] = []
                    for _ in 0..<(try reader.count(limit: FrameLimits.columns)) { found.append(try reader.string()) }
                    names = found
                case .rows: rows = try RowBatch(from: &reader)
                case .done: done = try RequestResult(from: &reader)
                case .progress: break
                default: throw FrameError("an unexpected frame")
                }
            }
            if let done { return done }
            if let names { columns(names) }
            if kind == .progress { onProgress?() }
            guard let rows else { continue }
            for row in rows.rows {
                do throws(SQLCipherError) { try body(row) } catch {
                    try drain()
                    throw error
                }
            }
        }
    }

    /// Whether rows are being read. The protocol has one answer at a time.
    private var isReading = false

    private func checkIdle() throws(SQLCipherError) {
        guard !isReading else {
            throw .misused(reason: "rows of this database are being read: end that first, or open it a second time")
        }
        try finishBatches()
    }

    /// Ends an answer that the caller no longer reads.
    private func drain() throws(SQLCipherError) {
        interruption.interrupt()
        while helper.pending > 0 {
            do throws(SQLCipherError) { try helper.receive { _, _ throws(FrameError) in } } catch {
                guard case .refused = error else { throw error }
            }
        }
    }

    private func receiveDone() throws(SQLCipherError) -> RequestResult {
        while true {
            var done: RequestResult?
            try helper.receive { kind, reader throws(FrameError) in
                switch kind {
                case .done: done = try RequestResult(from: &reader)
                case .progress: break
                default: throw FrameError("an unexpected frame")
                }
            }
            if let done { return done }
            onProgress?()
        }
    }

    /// Runs one statement for each of the rows. It may still be running when this returns. A later call throws its
    /// error, at the latest ``finishBatches()``.
    package func executeBatch(_ sql: String, _ rows: RowBatch) throws(SQLCipherError) {
        guard !isReading else { return try checkIdle() }
        guard !rows.rows.isEmpty else { return }
        try helper.send(.batch) { BatchRequest(sql: sql, rows: rows).encode(to: $0) }
        while helper.pending >= FrameLimits.requests { _ = try receiveBatch() }
    }

    /// Waits for the statements of ``executeBatch(_:_:)``.
    package func finishBatches() throws(SQLCipherError) {
        while helper.pending > 0 { _ = try receiveBatch() }
    }

    private func receiveBatch() throws(SQLCipherError) -> RequestResult {
        do throws(SQLCipherError) { return try receiveDone() } catch {
            // The results of later batches are ignored.
            if case .refused = error { try drain() }
            throw error
        }
    }

    /// Runs `body` in a transaction, which is rolled back if `body` throws.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // After some errors, SQLite has already rolled back.
            _ = try? execute("ROLLBACK")
            throw error
        }
    }

    /// Encrypts the file again with another key, in one transaction. If the helper dies before its end, the old key
    /// stays.
    package func changeKey(to key: CipherKey) throws(SQLCipherError) {
        try checkIdle()
        try helper.send(.rekey) { key.encode(to: $0) }
        _ = try receiveDone()
    }

    /// Returns the problems that SQLite finds in the database; empty if there are none.
    package func integrityProblems() throws(SQLCipherError) -> [String] {
        let found = try rows("PRAGMA integrity_check").compactMap { $0.first?.string }
        return found == ["ok"] ? [] : found.isEmpty ? ["the check ended without a result"] : found
    }

    /// Closes the database. Uncommitted changes are rolled back.
    package func close() throws(SQLCipherError) {
        try checkIdle()
        try helper.send(.close) { _ in }
        _ = try receiveDone()
        helper.end()
    }
}
