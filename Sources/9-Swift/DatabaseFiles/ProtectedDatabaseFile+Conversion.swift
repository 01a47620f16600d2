import CLibrary
import DatabasePages

extension ProtectedDatabaseFile {
    /// How far a conversion is: bytes of the database that are done, and all of them.
    public struct Progress: Sendable, Hashable {
        /// Bytes that are done.
        public let done: UInt64
        /// Bytes that there are to do.
        public let total: UInt64
    }

    /// Encrypts a plain SQLite database or a SQLCipher file in its place.
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
        if case .sqlcipher = format { return try convert(to: with(.own), key: key, progress: progress) }
        do {
            _ = try header()
        } catch ProtectedDatabaseError.Code.notDatabase {
            throw ProtectedDatabaseError(
                .notDatabase, path: path,
                message: "\(path) is no plain SQLite database, and can therefore not be encrypted")
        } catch ProtectedDatabaseError.Code.notEncrypted {
            try checkNames()
            do {
                return try with(.plain).convert(to: with(.own), key: key, progress: progress)
            } catch let error as ProtectedDatabaseError {
                // Another program may have encrypted the file since its header was read.
                guard error.code == .notDatabase, (try? header()) != nil else { throw error }
            }
        }
        throw ProtectedDatabaseError(.alreadyEncrypted, path: path, message: "\(path) is encrypted already")
    }

    /// Makes an encrypted database a plain one, in its place, and removes its key.
    ///
    /// - Parameter progress: As for ``encrypt(key:progress:)``.
    /// - Throws: ``ProtectedDatabaseError``.
    public func decrypt(progress: (Progress) -> Bool = { _ in true }) throws {
        try convert(to: with(.plain), progress: progress)
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
    /// - Throws: ``ProtectedDatabaseError``; ``ProtectedDatabaseError/Code/invalidRequest`` for a SQLCipher file, whose
    ///   new key is in the options of ``changeKey(sqlcipher:progress:)``.
    public func changeKey(
        to storage: DatabaseKeyStorage? = nil, progress: (Progress) -> Bool = { _ in true }
    ) throws {
        if case .sqlcipher = format {
            throw ProtectedDatabaseError(
                .invalidRequest, path: path,
                message: "\(path) is a SQLCipher file: give its new key as the options of one")
        }
        let database = try header().database
        let former = try keys.find(database).storage
        try convert(to: self, key: storage ?? former, progress: progress)
    }

    /// Makes an encrypted database a SQLCipher file with another key, in its place, and removes its former key from the
    /// keychain. A database of this library becomes a SQLCipher file.
    ///
    /// - Parameters:
    ///   - sqlcipher: The new key and format.
    ///   - progress: As for ``encrypt(key:progress:)``.
    /// - Throws: ``ProtectedDatabaseError``.
    public func changeKey(
        sqlcipher: SQLCipherOptions, progress: (Progress) -> Bool = { _ in true }
    ) throws {
        try convert(to: with(.sqlcipher(sqlcipher)), progress: progress)
    }

    /// Copies the database to one that takes its place.
    ///
    /// - Parameter target: Has the same path.
    private func convert(
        to target: ProtectedDatabaseFile, key: DatabaseKeyStorage? = nil, progress: (Progress) -> Bool
    ) throws {
        let source = try DatabaseSource(self, try claim().0)
        let former = try former()
        let made = try target.unfinished(key)
        try made.fill { try source.copy(to: $0, like: target, progress: progress) }
        // Nobody may write to the former one until it is replaced.
        try withExtendedLifetime(source) { try made.publish(replacing: former) }
    }

    /// What goes when another database takes the place of this one.
    private func former() throws -> FormerDatabase {
        switch format {
        case .plain: return .file
        case .own:
            let database = try header().database
            return .encrypted(database, try keys.find(database))
        case .sqlcipher(let options):
            guard options.isKept else { return .file }
            return .sqlcipher(cipherKeys, try cipherKeys.require())
        }
    }

    /// Copies a database to another place, and into another format if that place has one. Other programs may go on
    /// using it; the copy has what was committed when it was begun.
    ///
    /// - Parameters:
    ///   - target: The file to make.
    ///   - key: Where the key of a copy in this library's format is kept; unless given, as that of the original, or
    ///     else in the keychain, from the first unlocking on.
    ///   - progress: Called now and then by the calling thread; returns whether to go on.
    /// - Throws: ``ProtectedDatabaseError/Code/fileExists`` if there is anything with the name.
    public func copy(
        to target: ProtectedDatabaseFile, key: DatabaseKeyStorage? = nil,
        progress: (Progress) -> Bool = { _ in true }
    ) throws {
        var storage = key
        if storage == nil, case .own = format { storage = try keys.find(try header().database).storage }
        let source = try DatabaseSource(self, try claim().0, isExclusive: false)
        let made = try target.unfinished(storage)
        try made.fill { try source.copy(to: $0, like: target, progress: progress) }
        try made.publish(replacing: nil)
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
