import SystemSQLite

extension ProtectedDatabaseFile {
    /// Makes a database that `body` fills, whole or not at all.
    ///
    /// - Parameter body: Gets an empty database, outside of a transaction.
    /// - Throws: ``ProtectedDatabaseError``, and what `body` throws.
    package func create(key: DatabaseKeyStorage?, filling body: (SQLConnection) throws -> Void) throws {
        guard !exists else {
            throw ProtectedDatabaseError(
                .fileExists, path: path, message: "\(path) exists already; choose another name")
        }
        let made = try NewDatabase(beside: self, try Self.storage(key))
        var thrown: (any Error)?
        do {
            try made.fill { registration in
                try translating(registration) {
                    let connection = try connect(registration)
                    do { try body(connection) } catch {
                        if !(error is SQLiteError) { thrown = error }
                        throw error
                    }
                    // Something has to be written for there to be a first page.
                    if try connection.integer("PRAGMA page_count") == 0 { try connection.execute("VACUUM") }
                    try connection.close()
                }
            }
        } catch {
            throw thrown ?? error
        }
        try made.publish(replacing: nil)
    }
}
