import DataProtectionEssentials
@_exported import DatabaseFiles
import DatabaseVFS
import GRDB
import SystemSQLite

extension ProtectedDatabaseFile {
    /// - Parameters:
    ///   - path: Of the database's file. A symbolic link is followed, so that what it leads to is converted, not the
    ///     link.
    ///   - prompt: The text of the question to a person, if the key needs one.
    public init(path: String, prompt: String? = nil) {
        self.init(path: path, prompt: prompt, preparing: GRDBFunctions.add)
    }

    /// A SQLCipher file.
    ///
    /// - Parameters:
    ///   - path: Of the file. A symbolic link is followed.
    ///   - sqlcipher: The key, and what else is needed to open or make the file.
    ///   - prompt: The text of the question to a person, if the keychain keeps the key and the key needs one.
    public init(path: String, sqlcipher: SQLCipherOptions, prompt: String? = nil) {
        self.init(path: path, prompt: prompt, format: .sqlcipher(sqlcipher), preparing: GRDBFunctions.add)
    }

    /// Opens connections, and reads the database's first page with them.
    func open(
        _ kind: ProtectedDatabase.Connections, _ configuration: Configuration
    ) throws -> (DatabaseConnections, LockGuard?) {
        let (registration, holder) = try claim()
        let configuration = Self.withCache(prepared(configuration))
        let writer = try retrying {
            try translating(registration) {
                do {
                    let writer: any DatabaseWriter =
                        switch kind {
                        case .pool: try DatabasePool(path: registration.uri, configuration: configuration)
                        case .queue: try DatabaseQueue(path: registration.uri, configuration: configuration)
                        }
                    // Opening alone reads nothing.
                    _ = try writer.unsafeRead { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
                    return writer
                } catch let error as DatabaseError {
                    throw SQLiteError(
                        extendedCode: error.extendedResultCode.rawValue, message: error.message ?? "SQLite failed")
                }
            }
        }
        return (DatabaseConnections(writer: writer, registration: registration), holder)
    }

    /// What SQLite keeps beside the database for the time of a statement stays in memory.
    private func prepared(_ configuration: Configuration) -> Configuration {
        var prepared = configuration
        prepared.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
        if case .sqlcipher(let options) = format {
            let pageSize = options.newPageSize
            prepared.prepareDatabase { db in
                guard try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 else { return }
                try db.execute(sql: "PRAGMA page_size = \(pageSize)")
            }
        }
        return prepared
    }

    private static func withCache(_ configuration: Configuration) -> Configuration {
        var prepared = configuration
        prepared.prepareDatabase { db in
            guard try Int.fetchOne(db, sql: "PRAGMA cache_size") == defaultCacheSize else { return }
            try db.execute(sql: "PRAGMA cache_size = -\(cacheSize)")
        }
        return prepared
    }
}
