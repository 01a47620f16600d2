import Foundation
import GRDB
import KeychainModel

/// The rows of a vault in SQLite: it knows digests and sealed bytes, and no key.
package final class ItemStore: Sendable {
    private let database: any DatabaseWriter

    private init(_ database: any DatabaseWriter) {
        self.database = database
    }

    /// The store in the file at `path`, which exists and is empty or holds a store.
    package static func open(path: String) throws(StoreError) -> ItemStore {
        do {
            let pool = try DatabasePool(path: path, configuration: configuration())
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return ItemStore(pool)
        } catch {
            throw StoreError(error)
        }
    }

    /// A store in memory that nobody else sees.
    package static func inMemory() throws(StoreError) -> ItemStore {
        do {
            return ItemStore(try DatabaseQueue(configuration: configuration()))
        } catch {
            throw StoreError(error)
        }
    }

    /// Closes the file; the store cannot be used afterwards.
    package func close() throws(StoreError) {
        do {
            try database.close()
        } catch {
            throw StoreError(error)
        }
    }

    /// Reads without a transaction around: each search is one statement and therefore atomic.
    package func read<Result>(_ body: (borrowing Reader) throws -> Result) throws -> Result {
        try database.unsafeRead { try body(Reader(database: $0)) }
    }

    /// Runs `body` in a transaction that is durable when this returns, or undone when it throws.
    package func write<Result>(_ body: (borrowing Writer) throws -> Result) throws -> Result {
        try database.write { try body(Writer(database: $0)) }
    }

    /// SQLite's own check of the file's structure; empty when nothing is wrong.
    package func structuralProblems() throws(StoreError) -> [String] {
        do {
            return try database.unsafeRead { database in
                try String.fetchAll(database, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// A number that changes when another connection, of this or another process, has committed.
    package func dataVersion() throws(StoreError) -> Int64 {
        do {
            return try database.unsafeRead {
                try Int64.fetchOne($0.cachedStatement(sql: "PRAGMA data_version")) ?? 0
            }
        } catch {
            throw StoreError(error)
        }
    }

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.label = "keychain.items"
        configuration.maximumReaderCount = 8
        configuration.busyMode = .callback(waitForOthers)
        configuration.prepareDatabase { database in
            // The file may have been changed by somebody else: nothing in its schema is trusted, and
            // what is deleted is overwritten.
            try database.execute(
                sql: """
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA secure_delete = ON;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA cache_size = -8192;
                    """)
        }
        return configuration
    }

    /// Waits a short random time, so that many writers on one file get their turns; gives up after
    /// about a minute.
    private static func waitForOthers(attempts: Int) -> Bool {
        guard attempts < 30_000 else { return false }
        usleep(UInt32.random(in: 100...(attempts < 50 ? 1_000 : 4_000)))
        return true
    }
}
