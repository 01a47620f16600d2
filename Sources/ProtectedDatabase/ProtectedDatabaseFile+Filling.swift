import DatabaseVFS
import GRDB

extension ProtectedDatabaseFile {
    /// Makes a database that `body` fills, whole or not at all.
    ///
    /// - Parameter body: Gets an empty database, outside of a transaction.
    /// - Throws: ``ProtectedDatabaseError``, and what `body` throws.
    package func create(key: DatabaseKeyStorage?, filling body: (Database) throws -> Void) throws {
        guard !exists else {
            throw ProtectedDatabaseError(
                .fileExists, path: path, message: "\(path) exists already; choose another name")
        }
        let made = try NewDatabase(beside: self, try Self.storage(key))
        var thrown: (any Error)?
        do {
            try made.fill { (registration) throws(ProtectedDatabaseError) in
                try translating(registration) {
                    let queue = try DatabaseQueue(path: registration.uri, configuration: Self.prepared(Configuration()))
                    try queue.writeWithoutTransaction { db in
                        do { try body(db) } catch {
                            if !(error is DatabaseError) { thrown = error }
                            throw error
                        }
                        // Something has to be written for there to be a first page.
                        if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 { try db.execute(sql: "VACUUM") }
                    }
                    try queue.close()
                }
            }
        } catch {
            throw thrown ?? error
        }
        try made.publish(replacing: nil)
    }
}
