import DataProtection
import DatabasePages
import DatabaseVFS
import Foundation
import GRDB
import Glibc
import KeychainModel
import StoredKeys
import VaultInterface

/// The address of an encrypted database, for what is done to it as a whole.
///
/// ```swift
/// let file = ProtectedDatabaseFile(path: path)
/// try file.encrypt(key: .keychain(.complete))  // A plain database, in its place.
/// try file.changeKey()
/// ```
///
/// A value names a place and holds nothing open. Operations block the calling thread.
public struct ProtectedDatabaseFile: Sendable {
    /// Of the database's file.
    public let path: String
    let prompt: String?

    /// - Parameters:
    ///   - path: Of the database's file. A symbolic link is followed, so that what it leads to is converted, not the link.
    ///   - prompt: Shown to a person who has to be asked for the key.
    public init(path: String, prompt: String? = nil) {
        var information = stat()
        let isLink = lstat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFLNK
        self.path = isLink ? EncryptingVFS.fullPath(path) ?? path : path
        self.prompt = prompt
    }

    var keys: DatabaseKeys { DatabaseKeys(path: path, prompt: prompt) }

    /// What the file begins with.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/notEncrypted``, ``ProtectedDatabaseError/Code/notDatabase``.
    func header() throws(ProtectedDatabaseError) -> DatabaseHeader {
        let bytes: [UInt8]
        do throws(VFSFailure) { bytes = try EncryptingVFS.firstBytes(of: path) } catch {
            throw ProtectedDatabaseError(error, at: path)
        }
        if let header = bytes.withUnsafeBytes({ DatabaseHeader($0) }) { return header }
        // To SQLite an empty file is a plain database.
        if bytes.isEmpty || bytes == DatabaseHeader.plainMagic {
            throw ProtectedDatabaseError(
                .notEncrypted, path: path,
                message:
                    "\(path) is a plain database: encrypt it with `keychain db encrypt`, or use it with SQLite as it is"
            )
        }
        throw ProtectedDatabaseError(
            .notDatabase, path: path, message: "\(path) is no database that was encrypted here")
    }

    var exists: Bool { access(path, F_OK) == 0 }

    // MARK: Opening

    /// The key of a database, and who is told of locks that it does not outlive.
    func claim(
        _ database: DatabaseID
    ) throws(ProtectedDatabaseError) -> (key: SecretBytes, holder: LockGuard?) {
        let keys = keys
        let found = try keys.find(database)
        // Before the key is read, so that no lock is missed.
        let holder = found.closesWithLock ? LockGuard(try session()) : nil
        let key = try keys.read(found, of: database)
        return (key, holder)
    }

    private func session() throws(ProtectedDatabaseError) -> VaultSession {
        do {
            return try keys.items.vaultSession()
        } catch {
            throw ProtectedDatabaseError(error, at: path)
        }
    }

    func register(_ key: SecretBytes, creating database: DatabaseID? = nil) throws(ProtectedDatabaseError)
        -> DatabaseRegistration
    {
        do {
            return try EncryptingVFS.register(path: path, key: key, creating: database)
        } catch {
            throw ProtectedDatabaseError(error, at: path)
        }
    }

    func registerPlain() throws(ProtectedDatabaseError) -> DatabaseRegistration {
        do {
            return try EncryptingVFS.registerPlain(path: path)
        } catch {
            throw ProtectedDatabaseError(error, at: path)
        }
    }

    /// Opens connections, and reads the database's first page with them.
    func open(
        _ kind: ProtectedDatabase.Connections, _ configuration: Configuration
    ) throws(ProtectedDatabaseError) -> (DatabaseConnections, LockGuard?) {
        let (key, holder) = try claim(try header().database)
        let registration = try register(key)
        let configuration = Self.withCache(Self.prepared(configuration))
        let writer = try retrying { () throws(ProtectedDatabaseError) in
            try translating(registration) {
                let writer: any DatabaseWriter =
                    switch kind {
                    case .pool: try DatabasePool(path: registration.uri, configuration: configuration)
                    case .queue: try DatabaseQueue(path: registration.uri, configuration: configuration)
                    }
                // Opening alone reads nothing.
                _ = try writer.unsafeRead { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
                return writer
            }
        }
        return (DatabaseConnections(writer: writer, registration: registration), holder)
    }

    /// Tries again for a while: the first connections of two processes are in each other's way when they begin a write-ahead log,
    /// whatever timeout SQLite has.
    private func retrying<Result>(
        _ body: () throws(ProtectedDatabaseError) -> Result
    ) throws(ProtectedDatabaseError) -> Result {
        for _ in 0..<100 {
            do throws(ProtectedDatabaseError) { return try body() } catch {
                guard error.code == .busy else { throw error }
            }
            usleep(20_000)
        }
        return try body()
    }

    /// What SQLite keeps beside the database for the time of a statement stays in memory.
    static func prepared(_ configuration: Configuration) -> Configuration {
        var prepared = configuration
        prepared.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = MEMORY") }
        return prepared
    }

    /// KiB that a connection keeps of the pages that it used, unless the program says otherwise (`PRAGMA cache_size`).
    ///
    /// A page that SQLite has in its cache costs no more than in a plain database; one that it reads has to be opened. With four times
    /// SQLite's own cache random selects among 100,000 rows take the time they take in a plain database.
    private static let cacheSize = 8192

    private static func withCache(_ configuration: Configuration) -> Configuration {
        var prepared = configuration
        prepared.prepareDatabase { db in
            // SQLITE_DEFAULT_CACHE_SIZE, in KiB.
            guard try Int.fetchOne(db, sql: "PRAGMA cache_size") == -2000 else { return }
            try db.execute(sql: "PRAGMA cache_size = -\(cacheSize)")
        }
        return prepared
    }

    /// Runs what GRDB does with a database, with what the engine says of its failure.
    func translating<Result>(
        _ registration: DatabaseRegistration, _ body: () throws -> Result
    ) throws(ProtectedDatabaseError) -> Result {
        do {
            return try body()
        } catch let error as ProtectedDatabaseError {
            throw error
        } catch {
            throw ProtectedDatabaseError(error, registration.takeFailure(), at: path)
        }
    }

    // MARK: Making

    /// Makes an empty database where there is no file, whole or not at all.
    func createIfMissing(_ storage: DatabaseKeyStorage?) throws(ProtectedDatabaseError) {
        guard !exists else { return }
        do throws(ProtectedDatabaseError) {
            try create(key: storage)
        } catch {
            // Another program was faster.
            guard error.code == .fileExists else { throw error }
        }
    }

    /// Where the key of a new database is kept, unless somebody says otherwise.
    static func storage(_ given: DatabaseKeyStorage?) throws(ProtectedDatabaseError) -> DatabaseKeyStorage {
        if let given { return given }
        return try .keychain()
    }

    /// Makes an empty database.
    ///
    /// - Parameters:
    ///   - key: Where its key is kept; unless given, in the keychain, from the first unlocking on.
    ///   - pageSize: Bytes, a power of two from 1024 to 65,536. (Of 512 the seals leave less than SQLite wants.)
    /// - Throws: ``ProtectedDatabaseError/Code/fileExists`` if there is anything with the name.
    public func create(key: DatabaseKeyStorage? = nil, pageSize: Int = 4096) throws(ProtectedDatabaseError) {
        guard (1024...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
            throw ProtectedDatabaseError(
                .invalidRequest, path: path, message: "pages have 1024 to 65536 bytes, and a power of two")
        }
        let made = try NewDatabase(beside: self, try Self.storage(key))
        try made.fill { (registration) throws(ProtectedDatabaseError) in
            try translating(registration) {
                let queue = try DatabaseQueue(path: registration.uri, configuration: Self.prepared(Configuration()))
                try queue.writeWithoutTransaction { db in
                    try db.execute(sql: "PRAGMA page_size = \(pageSize)")
                    // Something has to be written for there to be a first page.
                    try db.execute(sql: "VACUUM")
                }
                try queue.close()
            }
        }
        try made.publish(replacing: nil)
    }

    /// Removes a database, its journals and its key, for good.
    public func remove() throws(ProtectedDatabaseError) {
        let header = try header()
        let found = try? keys.find(header.database)
        // Without its key nothing of it can be read, whatever is left.
        if let found { try keys.remove(found) }
        for name in [
            path, path + "-wal", path + "-shm", path + "-journal", PageIndex.path(ofDatabase: path, header.database),
        ]
        where unlink(name) != 0 && errno != ENOENT {
            throw ProtectedDatabaseError("remove", name, errno: errno)
        }
    }
}
