import Bytes
import CLibrary
import DataProtectionEssentials
import DatabasePages
import DatabaseVFS
import FoundationEssentials
import KeychainModel
import SQLCipherFiles
import StoredKeys
import SystemSQLite
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
    private let preparation: ConnectionPreparation
    package let format: Format

    /// What is in a file.
    package enum Format: Sendable {
        /// Pages in the format of this library.
        case own
        case sqlcipher(SQLCipherOptions)
        case plain
    }

    /// - Parameters:
    ///   - path: Of the database's file. A symbolic link is followed, so that what it leads to is converted, not the
    ///     link.
    ///   - prompt: The text of the question to a person, if the key needs one.
    ///   - format: What is in the file, or will be.
    ///   - preparation: Done with each connection that is opened for what is done to the database as a whole.
    package init(
        path: String, prompt: String? = nil, format: Format = .own,
        preparing preparation: @escaping ConnectionPreparation
    ) {
        var information = stat()
        let isLink = lstat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFLNK
        self.path = isLink ? EncryptingVFS.fullPath(path) ?? path : path
        self.prompt = prompt
        self.format = format
        self.preparation = preparation
    }

    /// Another file that is used in the same way.
    func with(path: String) -> ProtectedDatabaseFile {
        ProtectedDatabaseFile(path: path, prompt: prompt, format: format, preparing: preparation)
    }

    /// The same file with other contents.
    package func with(_ format: Format) -> ProtectedDatabaseFile {
        ProtectedDatabaseFile(path: path, prompt: prompt, format: format, preparing: preparation)
    }

    /// The file with the same name and an ending.
    func beside(_ ending: String) -> ProtectedDatabaseFile { with(path: path + ending) }

    var keys: DatabaseKeys { DatabaseKeys(path: path, prompt: prompt) }
    var cipherKeys: SQLCipherKeys { SQLCipherKeys(path: path, prompt: prompt) }

    /// What the file begins with.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/notEncrypted``, ``ProtectedDatabaseError/Code/notDatabase``.
    package func header() throws -> DatabaseHeader { try Self.header(of: path) }

    static func header(of path: String) throws -> DatabaseHeader {
        let bytes = try ProtectedDatabaseError.translating(path) {
            try EncryptingVFS.firstBytes(of: path, limit: DatabaseHeader.plainByteCount)
        }
        if let header = bytes.prefix(DatabaseHeader.byteCount).withUnsafeBytes({ DatabaseHeader($0) }) { return header }
        // To SQLite an empty file is a plain database.
        if bytes.isEmpty || DatabaseHeader.isPlain(bytes) {
            throw ProtectedDatabaseError(
                .notEncrypted, path: path,
                message:
                    "\(path) is a plain database: encrypt it with `keychain db encrypt`, or use it with SQLite as it is"
            )
        }
        throw ProtectedDatabaseError(
            .notDatabase, path: path, message: "\(path) is no database that was encrypted here")
    }

    package var exists: Bool { access(path, F_OK) == 0 }

    // MARK: Opening

    /// A claim to the key of the database, and who is told of locks that it does not outlive.
    package func claim() throws -> (DatabaseRegistration, LockGuard?) {
        switch format {
        case .plain:
            return (try ProtectedDatabaseError.translating(path) { try EncryptingVFS.registerPlain(path: path) }, nil)
        case .sqlcipher(let options):
            switch options.key {
            case .given(let key): return (try register(try options.place(key, of: path)), nil)
            case .kept:
                let keys = cipherKeys
                var options = options
                let item = try keys.require()
                // Before the key is read, so that no lock is missed.
                let holder = SQLCipherKeys.closesWithLock(item) ? LockGuard(try session()) : nil
                let key = try keys.read(item)
                options.salt = options.salt ?? key.salt
                return (try register(try options.place(.raw(key.key), of: path)), holder)
            }
        case .own:
            let database = try header().database
            let keys = keys
            let found = try keys.find(database)
            let holder = found.closesWithLock ? LockGuard(try session()) : nil
            return (try register(try keys.read(found, of: database)), holder)
        }
    }

    private func session() throws -> VaultSession {
        try ProtectedDatabaseError.translating(path) { try keys.items.vaultSession() }
    }

    func register(_ key: SecretBytes, creating database: DatabaseID? = nil) throws
        -> DatabaseRegistration
    {
        try ProtectedDatabaseError.translating(path) {
            try EncryptingVFS.register(path: path, key: key, creating: database)
        }
    }

    func register(_ place: CipherPlace) throws -> DatabaseRegistration {
        try ProtectedDatabaseError.translating(path) { try EncryptingVFS.register(path: path, form: place) }
    }

    /// A connection as GRDB has them, with foreign keys.
    ///
    /// - Parameter busyTimeout: How long a statement waits for other programs, in milliseconds.
    func connect(
        _ registration: DatabaseRegistration, _ access: SQLConnection.Access = .create, busyTimeout: Int32 = 0
    ) throws(SQLiteError) -> SQLConnection {
        let connection = try SQLConnection(registration.uri, access, isURI: true)
        connection.setBusyTimeout(milliseconds: busyTimeout)
        // What SQLite keeps beside the database for the time of a statement stays in memory.
        try connection.execute("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY")
        try preparation(connection)
        // Opening alone reads nothing.
        _ = try connection.integer("SELECT count(*) FROM sqlite_master")
        return connection
    }

    /// Tries again for a while: the first connections of two processes are in each other's way when they begin a
    /// write-ahead log, whatever timeout SQLite has.
    package func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 0..<100 {
            do { return try body() } catch ProtectedDatabaseError.Code.busy { usleep(20_000) }
        }
        return try body()
    }

    /// KiB that a connection keeps of the pages that it used, unless the program says otherwise (`PRAGMA cache_size`).
    ///
    /// A page that SQLite has in its cache costs no more than in a plain database; one that it reads has to be opened.
    /// With four times SQLite's own cache random selects among 100,000 rows take the time they take in a plain
    /// database.
    package static let cacheSize = 8192
    /// What `PRAGMA cache_size` is unless somebody says otherwise: SQLITE_DEFAULT_CACHE_SIZE, in KiB.
    package static let defaultCacheSize = -2000

    static func enlargeCache(of connection: SQLConnection) throws(SQLiteError) {
        guard try connection.integer("PRAGMA cache_size") == Int64(defaultCacheSize) else { return }
        try connection.execute("PRAGMA cache_size = -\(cacheSize)")
    }

    /// Runs what SQLite does with a database, with what the engine says of its failure.
    package func translating<Result>(
        _ registration: DatabaseRegistration, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as ProtectedDatabaseError {
            throw error
        } catch {
            throw ProtectedDatabaseError(error, registration.takeFailure(), at: path)
        }
    }

    // MARK: Making

    /// Makes an empty database where there is no file, whole or not at all. SQLite makes a SQLCipher file whose key was
    /// given.
    package func createIfMissing(_ storage: DatabaseKeyStorage?) throws {
        guard !exists else { return }
        if case .sqlcipher(let options) = format, !options.isKept { return }
        do {
            try create(key: storage)
        } catch ProtectedDatabaseError.Code.fileExists {
            // Another program was faster.
        }
    }

    /// Where the key of a new database is kept, unless somebody says otherwise.
    static func storage(_ given: DatabaseKeyStorage?) throws -> DatabaseKeyStorage {
        if let given { return given }
        return try .keychain()
    }

    /// Makes an empty database.
    ///
    /// - Parameters:
    ///   - key: Where its key is kept; unless given, in the keychain, from the first unlocking on. For a SQLCipher file
    ///     its options say that.
    ///   - pageSize: Bytes, a power of two from 1024 to 65,536. (Of 512 the seals leave less than SQLite wants.) Unless
    ///     given, 4096, or what the options of a SQLCipher file say.
    /// - Throws: ``ProtectedDatabaseError/Code/fileExists`` if there is anything with the name.
    public func create(key: DatabaseKeyStorage? = nil, pageSize: Int? = nil) throws {
        if let pageSize { try Self.check(pageSize: pageSize, of: path) }
        let made = try unfinished(key)
        try made.fill { registration in
            try translating(registration) {
                let connection = try connect(registration)
                try connection.execute("PRAGMA page_size = \(pageSize ?? newPageSize(copying: nil))")
                // Something has to be written for there to be a first page.
                try connection.execute("VACUUM")
                try connection.close()
            }
        }
        try made.publish(replacing: nil)
    }

    private static func check(pageSize: Int, of path: String) throws {
        guard (1024...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
            throw ProtectedDatabaseError(
                .invalidRequest, path: path, message: "pages have 1024 to 65536 bytes, and a power of two")
        }
    }

    /// A new database for the name of the file.
    ///
    /// - Parameter key: Where its key is kept.
    func unfinished(_ key: DatabaseKeyStorage?) throws -> any UnfinishedDatabase {
        switch format {
        case .own: try NewDatabase(beside: self, try Self.storage(key))
        case .plain, .sqlcipher: try NewFile(self)
        }
    }

    /// The size of a new file's pages.
    ///
    /// - Parameter former: The size of the pages that are copied.
    func newPageSize(copying former: Int?) -> Int {
        switch format {
        case .own: former.map { max($0, 1024) } ?? 4096
        case .plain: former ?? 4096
        // Other programs with SQLCipher have to be told of any other size.
        case .sqlcipher(let options): options.newPageSize
        }
    }

    /// Removes a database, its journals and its key, for good. A key that was given stays with those who have it.
    ///
    /// - Throws: ``ProtectedDatabaseError``.
    public func remove() throws {
        let index: String?
        // Without its key nothing of it can be read, whatever is left.
        switch format {
        case .own:
            let database = try header().database
            if let found = try? keys.find(database) { try keys.remove(found) }
            index = PageIndex.path(ofDatabase: path, database)
        case .sqlcipher(let options):
            if options.isKept, let item = try cipherKeys.find() { try cipherKeys.remove(item) }
            index = nil
        case .plain: index = nil
        }
        for name in [path, path + "-wal", path + "-shm", path + "-journal"] + [index].compactMap(\.self)
        where unlink(name) != 0 && errno != ENOENT {
            throw ProtectedDatabaseError("remove", name, errno: errno)
        }
    }
}
