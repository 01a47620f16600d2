import FoundationEssentials
import Glibc
import KeychainModel
import SystemSQLite

/// The rows of a vault in SQLite: it knows digests and sealed bytes, and no key.
package final class ItemStore: Sendable {
    private let writer: WriterConnection
    /// Nil for a store in memory, whose one connection reads too.
    private let readers: ReaderPool?

    private init(_ writer: WriterConnection, readers: ReaderPool?) {
        self.writer = writer
        self.readers = readers
    }

    /// The store in the file at `path`, which exists and is empty or holds a store. Connections are made
    /// when they are needed: a program that reads one item needs one.
    package static func open(path: String) -> ItemStore {
        ItemStore(
            WriterConnection {
                let connection = try writing(path)
                try startLog(connection)
                return connection
            },
            readers: ReaderPool(limit: readerLimit) {
                try ReadConnection(path: path, settings: settings, wait: waitForOthers)
            })
    }

    /// Whatever database is in the file at `path`, to be looked at and closed: no log is started, so that a
    /// file that is not a store stays as it is.
    package static func examine(path: String) -> ItemStore {
        ItemStore(WriterConnection { try writing(path) }, readers: nil)
    }

    /// A connection that writes.
    private static func writing(_ path: String) throws -> SQLConnection {
        let connection = try SQLConnection(path, .readWrite)
        connection.setBusyHandler(waitForOthers)
        // What is deleted is overwritten.
        try connection.execute(settings + "PRAGMA secure_delete = ON;")
        return connection
    }

    /// Makes every write go through the log and wait for the disk.
    private static func startLog(_ connection: SQLConnection) throws {
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw StoreError.inputOutput(reason: "the file system cannot hold a write-ahead log")
        }
        try connection.execute("PRAGMA synchronous = FULL")
    }

    /// A store in memory that nobody else sees.
    package static func inMemory() throws(StoreError) -> ItemStore {
        let writer = WriterConnection { try writing(":memory:") }
        do {
            try writer.use { _ in }
        } catch {
            throw StoreError(error)
        }
        return ItemStore(writer, readers: nil)
    }

    /// As many searches at once as a process may sensibly run.
    private static let readerLimit = 8

    deinit {
        // A failure leaves the log beside the file, which the next opening takes in.
        try? close()
    }

    /// Whether the connection that writes has been made.
    package var hasWritten: Bool { writer.isOpen }

    /// Closes the file; the store cannot be used afterwards.
    ///
    /// Readers first: only a connection that may write can take in the log and remove it, and it does
    /// so when it is the last.
    package func close() throws(StoreError) {
        do {
            readers?.close()
            try writer.close()
        } catch {
            throw StoreError(error)
        }
    }

    /// Closes a file that was only looked at, and leaves nothing beside it: the log's files, which a reader
    /// makes too, are removed by connections that may write.
    package func abandon() {
        try? writer.use { _ in }
        try? close()
    }

    /// Reads without a transaction around: each search is one statement and therefore atomic.
    ///
    /// - Parameter keybag: The keybag the rows must belong to; nil to read whatever there is.
    package func read<Result>(under keybag: UUID? = nil, _ body: (Reader) throws -> Result) throws -> Result {
        try withConnection { try body(Reader(database: $0, keybag: keybag)) }
    }

    private func withConnection<Result>(_ body: (SQLConnection) throws -> Result) throws -> Result {
        guard let readers else { return try writer.use(body) }
        return try readers.read { try body($0.database) }
    }

    /// Runs `body` in a transaction that is durable when this returns, or undone when it throws.
    ///
    /// - Throws: ``StoreError/otherKeybag`` when the rows do not belong to `keybag`.
    package func write<Result>(under keybag: UUID? = nil, _ body: (Writer) throws -> Result) throws -> Result {
        try writer.use { database in
            try database.transaction {
                if let keybag, try Schema.keybagIdentifier(in: database) != keybag { throw StoreError.otherKeybag }
                return try body(Writer(database: database, keybag: keybag))
            }
        }
    }

    /// SQLite's own check of the file's structure; empty when nothing is wrong.
    package func structuralProblems() throws(StoreError) -> [String] {
        do {
            return try withConnection { database in
                try database.texts("PRAGMA integrity_check(20)").filter { $0 != "ok" }
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// A number that changes when another connection, of this or another process, has committed.
    package func dataVersion() throws(StoreError) -> Int64 {
        do {
            return try writer.use { try $0.integer("PRAGMA data_version") ?? 0 }
        } catch {
            throw StoreError(error)
        }
    }

    /// The file may have been changed by somebody else: nothing in its schema is trusted.
    private static let settings = """
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA cache_size = -8192;

        """

    /// Waits a short random time, so that many writers on one file get their turns; gives up after
    /// about a minute.
    private static let waitForOthers: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { _, attempts in
        guard attempts < 30_000 else { return 0 }
        usleep(UInt32.random(in: 100...(attempts < 50 ? 1_000 : 4_000)))
        return 1
    }
}
