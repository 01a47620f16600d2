import CSQLite
import DatabaseVFS
import Foundation

/// The least that a durable change can cost: one prepared statement in a transaction of its own, on a
/// copy of a vault's table, with synchronous=FULL.
///
/// It seals nothing and files the row under no search terms.
final class RawWriter {
    private var database: OpaquePointer?
    private var insert: OpaquePointer?
    private var update: OpaquePointer?
    private let file: RawFile
    private let count: Int
    private var next: Int64
    private let blob = [UInt8](repeating: 7, count: 512)

    init(vault path: String, count: Int) throws {
        self.count = count
        next = Int64(count)
        file = try RawFile(vault: path)
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
        guard sqlite3_open_v2(file.registration.uri, &database, flags, nil) == SQLITE_OK,
            sqlite3_exec(
                database, "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -8192", nil, nil,
                nil
            ) == SQLITE_OK,
            sqlite3_prepare_v2(
                database,
                """
                INSERT INTO item (id, class, pk, uuid, grp, pdmn, flags, version, change, terms, meta, seal, data)
                VALUES (?, 1, randomblob(16), ?, 1, 1, 0, 1, 1, ?, ?, ?, ?)
                """, -1, &insert, nil) == SQLITE_OK,
            sqlite3_prepare_v2(
                database, "UPDATE item SET meta = ?, seal = ?, data = ? WHERE id = ?", -1, &update, nil) == SQLITE_OK
        else { throw RawStore.Failure(reason: "the copy of the vault cannot be written") }
    }

    deinit {
        sqlite3_finalize(insert)
        sqlite3_finalize(update)
        sqlite3_close(database)
    }

    /// Inserts a row as large as an item's.
    func insertOne() throws {
        next += 1
        try blob.withUnsafeBytes { bytes in
            sqlite3_bind_int64(insert, 1, next)
            for (index, size) in [(Int32(2), Int32(16)), (3, 48), (4, 150), (5, 68), (6, 32)] {
                sqlite3_bind_blob(insert, index, bytes.baseAddress, size, nil)
            }
            guard sqlite3_step(insert) == SQLITE_DONE else { throw RawStore.Failure(reason: "insert") }
        }
        sqlite3_reset(insert)
    }

    /// Gives a random row another value.
    func updateOne(_ random: inout FastRandom) throws {
        try blob.withUnsafeBytes { bytes in
            sqlite3_bind_blob(update, 1, bytes.baseAddress, 150, nil)
            sqlite3_bind_blob(update, 2, bytes.baseAddress, 68, nil)
            sqlite3_bind_blob(update, 3, bytes.baseAddress, 32, nil)
            sqlite3_bind_int64(update, 4, Int64.random(in: 1...Int64(count), using: &random))
            guard sqlite3_step(update) == SQLITE_DONE else { throw RawStore.Failure(reason: "update") }
        }
        sqlite3_reset(update)
    }
}
