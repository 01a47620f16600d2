import CLibrary
import DatabasePages
import DatabaseVFS
import KeychainModel

extension ProtectedDatabaseFile {
    /// How far a conversion is: bytes of the database that are done, and all of them.
    public struct Progress: Sendable, Hashable {
        /// Bytes that are done.
        public let done: UInt64
        /// Bytes that there are to do.
        public let total: UInt64
    }

    /// Encrypts a plain SQLite database in its place.
    ///
    /// It is copied, compacted, into an encrypted one beside it, which takes its name once it is on the disk; whatever
    /// happens meanwhile, the name leads to the former database or to the new one, whole. Nobody else may have the
    /// database open. What was in the plain file can stay on the disk, in free space and in snapshots, until something
    /// else is written there.
    ///
    /// - Parameters:
    ///   - key: Where the new key is kept; unless given, in the keychain, from the first unlocking on.
    ///   - progress: Called now and then by the calling thread; returns whether to go on.
    /// - Throws: ``ProtectedDatabaseError/Code/busy`` while another program uses the database,
    ///   ``ProtectedDatabaseError/Code/diskFull`` if there is no room for the copy, which is looked at first,
    ///   ``ProtectedDatabaseError/Code/taskCanceled`` if `progress` returned false.
    public func encrypt(
        key: DatabaseKeyStorage? = nil, progress: (Progress) -> Bool = { _ in true }
    ) throws {
        do {
            _ = try header()
        } catch ProtectedDatabaseError.Code.notDatabase {
            throw ProtectedDatabaseError(
                .notDatabase, path: path,
                message: "\(path) is no plain SQLite database, and can therefore not be encrypted")
        } catch ProtectedDatabaseError.Code.notEncrypted {
            try checkNames()
            let source = try plainSource()
            let made = try NewDatabase(beside: self, try Self.storage(key))
            try made.fill { target in
                try source.copy(to: target, progress: progress)
            }
            // Nobody may write to the former one until it is replaced.
            try withExtendedLifetime(source) {
                try made.publish(replacing: .plain)
            }
            return
        }
        throw alreadyEncrypted
    }

    private var alreadyEncrypted: ProtectedDatabaseError {
        ProtectedDatabaseError(.alreadyEncrypted, path: path, message: "\(path) is encrypted already")
    }

    /// Opens the plain database.
    private func plainSource() throws -> DatabaseSource {
        do {
            return try DatabaseSource(self, key: nil)
        } catch let error as ProtectedDatabaseError {
            // Another program may have encrypted the file since its header was read.
            if error.code == .notDatabase, (try? header()) != nil { throw alreadyEncrypted }
            throw error
        }
    }

    /// Makes an encrypted database a plain one, in its place, and removes its key.
    ///
    /// - Parameter progress: As for ``encrypt(key:progress:)``.
    /// - Throws: ``ProtectedDatabaseError``.
    public func decrypt(progress: (Progress) -> Bool = { _ in true }) throws {
        let database = try header().database
        let keys = keys
        let found = try keys.find(database)
        let source = try DatabaseSource(self, key: try keys.read(found, of: database))
        let plain = try NewPlainDatabase(beside: self, database)
        try plain.fill { target in try source.copy(to: target, progress: progress) }
        try withExtendedLifetime(source) {
            try plain.publish(replacing: database, found)
        }
    }

    /// What is in the clear would stay under another name.
    private func checkNames() throws {
        var information = stat()
        guard stat(path, &information) == 0 else { throw ProtectedDatabaseError("open", path, errno: errno) }
        guard information.st_nlink == 1 else {
            throw ProtectedDatabaseError(
                .invalidRequest, path: path,
                message:
                    "\(path) has \(information.st_nlink) names (hard links), of which the others would stay plain; remove them"
            )
        }
    }

    /// Encrypts a database anew under a new key, in its place, and removes the former key.
    ///
    /// - Parameters:
    ///   - storage: Where the new key is kept; unless given, as the former one.
    ///   - progress: As for ``encrypt(key:progress:)``.
    public func changeKey(
        to storage: DatabaseKeyStorage? = nil, progress: (Progress) -> Bool = { _ in true }
    ) throws {
        let database = try header().database
        let keys = keys
        let found = try keys.find(database)
        let source = try DatabaseSource(self, key: try keys.read(found, of: database))
        let made = try NewDatabase(beside: self, storage ?? found.storage)
        try made.fill { target in
            try source.copy(to: target, progress: progress)
        }
        try withExtendedLifetime(source) {
            try made.publish(replacing: .encrypted(database, found))
        }
    }

    /// Keeps the key of a database elsewhere, or in another class: what is encrypted stays as it is, in a time that
    /// does not depend on the database's size. Connections that are open go on as the former class says.
    ///
    /// - Throws: ``ProtectedDatabaseError``.
    public func setKeyStorage(_ storage: DatabaseKeyStorage) throws {
        let database = try header().database
        let keys = keys
        // Of two that move it at once, one could remove what the other has just put there.
        let name = "\(path)-\(database).move"
        let claim = MakingClaim(name, creating: false)
        guard claim != nil || errno != EWOULDBLOCK else {
            throw ProtectedDatabaseError(
                .busy, path: path, message: "another program is moving the key of \(path); try again")
        }
        defer { claim?.end(name) }
        try keys.move(try keys.find(database), of: database, to: storage)
    }

    /// Wraps a key that is kept in a file anew, under the present key of the file's class. Other programs may go on
    /// using the database.
    ///
    /// - Returns: Whether the wrapped key is another one now; nil for a key that the keychain keeps, which is sealed
    ///   with the other items.
    /// - Throws: ``ProtectedDatabaseError/Code/notEncrypted``, ``ProtectedDatabaseError/Code/notDatabase``, and what
    ///   keeps the key from being read.
    package func rewrapKey() throws -> Bool? {
        let database = try header().database
        let keys = keys
        return try keys.rewrap(try keys.find(database))
    }
}
