import Access
import Bytes
import CLibrary
import FoundationEssentials
import Synchronization
import SystemSQLite

/// The rows of a vault in SQLite. It sees digests and sealed bytes, and has no key but the one of its file.
package final class ItemStore: Sendable {
    let file: StoreFile
    let writer: WriterConnection
    /// Nil for a store in memory, whose only connection also reads.
    private let readers: ReaderPool?
    private let sizes = GroupSizes()
    private let newest = NewestChange()
    /// Whether earlier software had written some of the rows when the store was opened; true before that is known.
    let hadOldRows = Atomic(true)

    private init(_ file: StoreFile, _ writer: WriterConnection, readers: ReaderPool?) {
        self.file = file
        self.writer = writer
        self.readers = readers
    }

    /// Opens the encrypted store in the file at `path`, which exists and is empty or holds a store. Connections are
    /// made when they are needed: a program that reads one item needs one.
    ///
    /// - Parameter key: 32 bytes, from which the keys of the file's pages are derived.
    package static func open(path: String, key: SecretBytes) throws(StoreError) -> ItemStore {
        let file = try StoreFile.encrypted(path, key: key)
        return ItemStore(
            file,
            WriterConnection {
                let connection = try writing(file)
                try startLog(connection)
                return connection
            },
            readers: ReaderPool(limit: readerLimit) {
                try ReadConnection(file, settings: settings, wait: waitForOthers)
            })
    }

    /// Opens the encrypted store in the file at `path` to read and close it. Starts no log.
    package static func examine(path: String, key: SecretBytes) throws(StoreError) -> ItemStore {
        examine(try .encrypted(path, key: key))
    }

    /// Opens any database in a plain file to examine and close it: a store of the format before. Starts no log, so that
    /// a file that is not a store stays unchanged.
    package static func examine(plain path: String) -> ItemStore { examine(.plain(path)) }

    private static func examine(_ file: StoreFile) -> ItemStore {
        ItemStore(file, WriterConnection { try writing(file) }, readers: nil)
    }

    /// How many statements a connection that writes keeps: enough for what items and a circle need in turns.
    private static let statements = 128

    /// Makes a connection that writes.
    static func writing(_ file: StoreFile) throws -> SQLConnection {
        let connection = try file.connect(.readWrite, keeping: statements)
        connection.setBusyHandler(waitForOthers)
        try connection.distrustSchema()
        // SQLite overwrites deleted data.
        try connection.execute(settings + "PRAGMA secure_delete = ON;")
        return connection
    }

    /// Makes every write go through the log and wait for the disk.
    static func startLog(_ connection: SQLConnection) throws {
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw StoreError.inputOutput(reason: "the file system cannot hold a write-ahead log")
        }
        try connection.execute("PRAGMA synchronous = FULL")
    }

    /// Makes a private store in memory.
    package static func inMemory() throws(StoreError) -> ItemStore {
        let store = examine(.plain(":memory:"))
        do {
            try store.writer.use { _ in }
        } catch {
            throw StoreError(error)
        }
        return store
    }

    /// The largest number of parallel searches in one process: more than a server lets one program do.
    private static let readerLimit = 16

    deinit {
        // After a failure, the log stays beside the file, and the next opening applies it.
        try? close()
    }

    /// Returns whether there may be rows of version 0, as far as the opening of the store tells.
    package var mayHaveOldRows: Bool { hadOldRows.load(ordering: .relaxed) }

    /// Whether the writing connection has been made.
    package var hasWritten: Bool { writer.isOpen }

    /// Closes the file. The store cannot be used afterwards.
    ///
    /// Closes the readers first: the last connection applies and removes the log, and only one that may write can do
    /// that.
    package func close() throws(StoreError) {
        do {
            readers?.close()
            try writer.close()
        } catch {
            throw StoreError(error)
        }
    }

    /// Closes a file that was only examined, and leaves nothing beside it. A reader also creates the log's files, but
    /// only a connection that may write removes them.
    package func abandon() {
        try? writer.use { _ in }
        try? close()
    }

    /// Reads rows on behalf of an authorized request, all as they are at one moment.
    ///
    /// - Parameter keybag: The keybag that the rows must belong to; nil to read any rows.
    package func read<Result>(
        for authorization: Authorization, under keybag: UUID? = nil, _ body: (Reader) throws -> Result
    ) throws -> Result {
        // Before the reading begins, which finds at least this change.
        let floor = newest.value
        return try withConnection { database in
            try database.reading {
                try body(Reader(database: database, keybag: keybag, floor: floor, newest: newest))
            }
        }
    }

    func withConnection<Result>(_ body: (SQLConnection) throws -> Result) throws -> Result {
        try file.explaining {
            guard let readers else { return try writer.use(body) }
            return try readers.read { try body($0.database) }
        }
    }

    /// Writes rows on behalf of an authorized request, in a transaction. The transaction is durable when this returns,
    /// and rolled back if `body` throws.
    ///
    /// - Parameter isMeasured: Whether the transaction needs the sizes of groups.
    /// - Throws: ``StoreError/otherKeybag`` if the rows do not belong to `keybag`.
    package func write<Result>(
        for authorization: Authorization, under keybag: UUID? = nil, isMeasured: Bool = false,
        _ body: (Writer) throws -> Result
    ) throws -> Result {
        let touched = TouchedGroups(isMeasured: isMeasured)
        var isComplete = false
        return try file.explaining {
            try writer.transaction { database in
                let writer = Writer(
                    database: database, keybag: keybag, floor: newest.value, touched: touched, sizes: sizes)
                if keybag != nil { try writer.reader.checkVault() }
                let result = try body(writer)
                isComplete = true
                return result
            } ended: { isCommitted in
                if isCommitted {
                    sizes.committed(touched)
                    if let number = touched.change { newest.raise(to: number) }
                } else if isComplete {
                    sizes.forget()
                }
            }
        }
    }

    /// Returns the results of SQLite's own check of the file's structure; empty if there is no problem.
    package func structuralProblems() throws(StoreError) -> [String] {
        do {
            return try withConnection { database in
                try database.texts("PRAGMA integrity_check(20)").filter { $0 != "ok" }
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Returns a number that changes when another connection of any process has committed.
    package func dataVersion() throws(StoreError) -> Int64 {
        do {
            return try file.explaining { try writer.use { try $0.integer("PRAGMA data_version") ?? 0 } }
        } catch {
            throw StoreError(error)
        }
    }

    /// Other programs may have changed the file, so nothing in its schema is trusted.
    private static let settings = """
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA cache_size = -8192;

        """

    /// Waits for a short random time, so that all writers of a file get their turns. Gives up after about a minute.
    private static let waitForOthers: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { _, attempts in
        guard attempts < 30_000 else { return 0 }
        usleep(UInt32.random(in: 100...(attempts < 50 ? 1_000 : 4_000)))
        return 1
    }
}
