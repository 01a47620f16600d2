import Bytes
import CLibrary
import DatabasePages
import DatabaseVFS
import SystemSQLite

/// An encrypted database that is made under another name and takes its place whole.
///
/// Its page index and its key carry its id, so that one rename puts all three in force; a process that ends before
/// leaves a file with an odd name, which the next one removes, and a key that nobody uses.
final class NewDatabase: UnfinishedDatabase {
    private let file: ProtectedDatabaseFile
    private let database = DatabaseID()
    private let temporary: ProtectedDatabaseFile
    private let key: SecretBytes
    private let claim: MakingClaim
    /// Whether the keychain says that it is being made. It does not for a key in a file, which needs no item.
    private let isNoted: Bool
    private var found: DatabaseKeys.Found?
    private var isPublished = false

    /// Makes a key and keeps it.
    init(
        beside file: ProtectedDatabaseFile, _ storage: DatabaseKeyStorage
    ) throws {
        self.file = file
        temporary = file.beside("-\(database).new")
        do {
            key = try SecretBytes(count: KeyValue.keyCount) { try KernelRandom.fill($0) }
        } catch {
            throw ProtectedDatabaseError(
                .outOfMemory, path: file.path,
                message: "there is no \(error is PageError ? "randomness" : "memory") for a key")
        }
        try Leftovers.remove(beside: file.path)
        claim = try Self.claim(temporary.path, of: file.path)
        if case .keychain = storage.place { isNoted = true } else { isNoted = false }
        if isNoted { try file.keys.noteUnfinished(database) }
        try file.keys.add(key, of: database, storage)
        found = try file.keys.find(database)
    }

    private static func claim(_ temporary: String, of path: String) throws -> MakingClaim {
        for _ in 0..<5_000 {
            if let claim = MakingClaim(temporary, creating: true) { return claim }
            // Who looks for leftovers has it for a moment, which is a long one on a busy machine.
            guard errno == EWOULDBLOCK || errno == EEXIST else { break }
            usleep(1000)
        }
        throw ProtectedDatabaseError("make", path, errno: errno)
    }

    deinit {
        if !isPublished {
            Leftovers.unlinkAll(of: temporary.path, database)
            do {
                if let found { try file.keys.remove(found) } else { try file.keys.removeIfThere(database) }
                if isNoted { try file.keys.noteFinished(database) }
            } catch {
                // The vault was locked meanwhile: the file of the claim tells the next one to come.
                return claim.release()
            }
        }
        claim.end(temporary.path)
    }

    func fill(_ body: (DatabaseRegistration) throws -> Void) throws { try fill(like: nil, body) }

    /// Writes the database, which is durable afterwards.
    ///
    /// - Parameter original: The file whose mode it gets; if nil, it gets mode and owner of the one whose place it
    ///   takes, if there is any.
    func fill(like original: String?, _ body: (DatabaseRegistration) throws -> Void) throws {
        let registration = try temporary.register(key, creating: database)
        try body(registration)
        // The new database replaces the old one by a rename of its file alone, so it must not have journals.
        try file.translating(registration) {
            let connection = try temporary.connect(registration)
            try connection.execute("PRAGMA journal_mode = DELETE")
            try connection.close()
        }
        var information = stat()
        if stat(original ?? file.path, &information) == 0 {
            for path in [temporary.path, temporaryIndex] {
                if original == nil {
                    try SameOwner.apply(information, to: path)
                } else {
                    try SameOwner.applyMode(information, to: path)
                }
            }
        }
        for path in [temporary.path, temporaryIndex] { try DurableFile.synchronize(path) }
        // Never put a file in place that is not encrypted, even after an error.
        guard try temporary.header().database == database else {
            throw ProtectedDatabaseError(
                .inputOutput, path: file.path, message: "the new database at \(temporary.path) is another's; try again")
        }
    }

    private var temporaryIndex: String { PageIndex.path(ofDatabase: temporary.path, database) }

    func publish(replacing former: FormerDatabase?) throws {
        let index = PageIndex.path(ofDatabase: file.path, database)
        guard rename(temporaryIndex, index) == 0 else {
            throw ProtectedDatabaseError("rename \(temporaryIndex) to", index, errno: errno)
        }
        do {
            // Before the database is in its place: from then on nobody may take its key for one that is no use.
            if isNoted { try file.keys.noteFinished(database) }
        } catch {
            unlink(index)
            throw error
        }
        let placed = former == nil ? link(temporary.path, file.path) : rename(temporary.path, file.path)
        guard placed == 0 else {
            let code = errno
            unlink(index)
            throw ProtectedDatabaseError("make", file.path, errno: code)
        }
        isPublished = true
        if former == nil { unlink(temporary.path) }
        try DurableFile.synchronizeFolder(of: file.path)
        try former?.removeRest(beside: file.path, file.keys)
    }
}
