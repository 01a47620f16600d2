import Bytes
import CLibrary
import SQLCipherWire

/// An open database.
final class Connection {
    let library: CipherLibrary
    let handle: Handle
    let opened: Opened
    private var statements: [(sql: String, statement: Statement)] = []

    private init(_ library: CipherLibrary, _ handle: Handle, _ opened: Opened) {
        self.library = library
        self.handle = handle
        self.opened = opened
    }

    deinit {
        statements = []
        _ = library.close(handle)
    }

    /// Opens a database and checks that the key fits. A new database is on the disk then, and encrypted.
    static func open(_ request: OpenRequest, _ library: CipherLibrary, _ cipher: CipherVersion) throws(RequestFailure)
        -> Connection
    {
        let compatibility = try cipher.compatibility(request.compatibility)
        if request.mode == .creating {
            return try create(request, library, cipher, compatibility)
        }
        try checkHeader(request.path)
        var last = RequestFailure(.wrongKey, "")
        for size in request.pageSizes {
            do throws(RequestFailure) {
                let connection = try connect(
                    request, library, cipher, Opened(compatibility: compatibility, pageSize: size))
                try connection.run("SELECT count(*) FROM sqlite_master")
                try connection.confine()
                return connection
            } catch {
                // A database with pages of another size does not look like a database.
                guard error.code == .damaged else { throw error }
                last = error
            }
        }
        let newer = cipher.major < 4 ? ", or one of SQLCipher 4, whose files SQLCipher \(cipher.text) cannot open" : ""
        throw RequestFailure(
            .wrongKey,
            "this is not the key of \(request.path), or its first page is damaged, or it is no database of "
                + "SQLCipher \(compatibility.rawValue) with pages of \(request.pageSizes) bytes\(newer)",
            resultCode: last.resultCode)
    }

    private static func create(
        _ request: OpenRequest, _ library: CipherLibrary, _ cipher: CipherVersion, _ compatibility: CipherCompatibility
    ) throws(RequestFailure) -> Connection {
        let descriptor = CLibrary.open(request.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw RequestFailure(.exists, "there is something at \(request.path) already") }
            throw fileFailure("create", request.path)
        }
        CLibrary.close(descriptor)
        do throws(RequestFailure) {
            let opened = Opened(compatibility: compatibility, pageSize: request.pageSizes[0])
            let connection = try connect(request, library, cipher, opened)
            // Writes the first page.
            try connection.run("BEGIN IMMEDIATE")
            try connection.run("PRAGMA user_version = 0")
            try connection.run("COMMIT")
            try checkEncrypted(request.path)
            try connection.confine()
            return connection
        } catch {
            unlink(request.path)
            throw error
        }
    }

    private static func connect(
        _ request: OpenRequest, _ library: CipherLibrary, _ cipher: CipherVersion, _ opened: Opened
    ) throws(RequestFailure) -> Connection {
        var handle: Handle?
        // SQLITE_OPEN_READONLY or SQLITE_OPEN_READWRITE, and SQLITE_OPEN_NOMUTEX: there is one thread.
        let code = library.open(request.path, &handle, (request.mode == .reading ? 1 : 2) | 0x8000, nil)
        guard let handle else { throw RequestFailure(.noMemory, "there is no memory to open \(request.path)") }
        let connection = Connection(library, handle, opened)
        guard code == ResultCode.ok else { throw failure(library, handle, code) }
        _ = library.extendedErrors(handle, 1)
        _ = library.busyTimeout(handle, Int32(clamping: request.busyTimeout))
        try connection.apply(request.key, library.key)
        // The library's defaults are those of its newest format.
        if cipher.major > opened.compatibility.rawValue {
            try connection.run("PRAGMA cipher_compatibility = \(opened.compatibility.rawValue)")
        }
        try connection.run("PRAGMA cipher_page_size = \(opened.pageSize)")
        // Keeps intermediate results in memory, however the library was built.
        try connection.run("PRAGMA temp_store = MEMORY")
        try connection.run("PRAGMA cache_size = -\(request.cacheSize)")
        return connection
    }

    /// Gives the library a key as `sqlite3_key` and `sqlite3_rekey` take it: a raw one as `x'…'` in hexadecimal.
    func apply(_ key: CipherKey, _ function: @convention(c) (Handle, UnsafeRawPointer, Int32) -> Int32)
        throws(RequestFailure)
    {
        let code: Int32
        switch key.kind {
        case .passphrase:
            code = key.bytes.withUnsafeBytes { bytes in
                bytes.baseAddress.map { function(handle, $0, Int32(clamping: bytes.count)) } ?? 21
            }
        case .raw:
            let text = try? SecretBytes(count: 2 * key.bytes.count + 3) { text in
                text[0] = UInt8(ascii: "x")
                text[1] = UInt8(ascii: "'")
                text[text.count - 1] = UInt8(ascii: "'")
                key.bytes.withUnsafeBytes { bytes in
                    for (index, byte) in bytes.enumerated() {
                        (text[2 * index + 2], text[2 * index + 3]) = byte.hexadecimalDigits()
                    }
                }
            }
            guard let text else { throw RequestFailure(.noMemory, "there is no memory for a key") }
            code = text.withUnsafeBytes { bytes in
                bytes.baseAddress.map { function(handle, $0, Int32(clamping: bytes.count)) } ?? 21
            }
        }
        guard code == ResultCode.ok else { throw Self.failure(library, handle, code) }
    }

    /// Prepares one statement. Returns nil if the text has none.
    func prepare(_ sql: String, isCached: Bool = false) throws(RequestFailure) -> Statement? {
        if isCached, let index = statements.firstIndex(where: { $0.sql == sql }) { return statements[index].statement }
        var statement: Statement?
        try forEachStatement(of: sql) { next throws(RequestFailure) in
            guard statement == nil else {
                throw RequestFailure(.statement, "there is more than one statement: send them one by one")
            }
            statement = next
        }
        if isCached, let statement {
            if statements.count >= 16 { statements.removeFirst() }
            statements.append((sql, statement))
        }
        return statement
    }

    /// Runs statements one after the other, without their rows.
    func run(_ script: String) throws(RequestFailure) {
        try forEachStatement(of: script) { statement throws(RequestFailure) in
            while try statement.step() {}
        }
    }

    private func forEachStatement(
        of sql: String, _ body: (Statement) throws(RequestFailure) -> Void
    ) throws(RequestFailure) {
        guard !sql.utf8.contains(0) else { throw RequestFailure(.statement, "there is a zero in the statement") }
        let characters = sql.utf8CString
        let result = characters.withUnsafeBufferPointer { characters -> Result<Void, RequestFailure> in
            var place = characters.baseAddress
            while let text = place, text.pointee != 0 {
                var found: Handle?
                let code = library.prepare(handle, text, -1, &found, &place)
                guard code == ResultCode.ok else { return .failure(Self.failure(library, handle, code)) }
                // Spaces and comments are no statement.
                guard let found else { continue }
                do throws(RequestFailure) { try body(Statement(library, handle, found)) } catch {
                    return .failure(error)
                }
            }
            return .success(())
        }
        try result.get()
    }

    /// The first value of a statement's first row, as text.
    func text(_ sql: String) throws(RequestFailure) -> String? {
        guard let statement = try prepare(sql), try statement.step() else { return nil }
        return library.columnText(statement.handle, 0).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    }

    func forgetStatements() { statements = [] }

    var done: RequestResult {
        RequestResult(
            changes: Int64(library.changes(handle)), lastInsertedRowid: library.lastRowid(handle),
            isInTransaction: library.autocommit(handle) == 0)
    }
}
