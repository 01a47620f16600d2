import CLibrary
import DatabasePages
import DatabaseVFS

/// A database that is made under another name and gets its own name, or takes the place of another, when it is whole.
protocol UnfinishedDatabase {
    /// Has `body` write the database, which is durable afterwards.
    func fill(_ body: (DatabaseRegistration) throws -> Void) throws

    /// Gives the database its name.
    ///
    /// - Parameter former: What it takes the place of; nil if the name has to be free.
    func publish(replacing former: FormerDatabase?) throws
}

/// A database whose place another one takes, with what goes with its file.
enum FormerDatabase {
    /// Only the file.
    case file
    /// A database of this library, with its key and its page index.
    case encrypted(DatabaseID, DatabaseKeys.Found)
    /// A SQLCipher file whose key the keychain keeps.
    case sqlcipher(SQLCipherKeys, KeyItems.Item)

    /// Removes what was the former database's alone.
    func removeRest(beside path: String, _ keys: DatabaseKeys) throws {
        switch self {
        case .file: break
        case .encrypted(let database, let found):
            unlink(PageIndex.path(ofDatabase: path, database))
            try keys.remove(found)
        case .sqlcipher(let keys, let item): try keys.remove(item)
        }
    }
}

/// A plain database or a SQLCipher file that is made under another name.
final class NewFile: UnfinishedDatabase {
    private let file: ProtectedDatabaseFile
    private let temporary: ProtectedDatabaseFile
    private let registration: DatabaseRegistration
    /// The key of a SQLCipher file for the keychain.
    private let newKey: NewCipherKey?
    private let claim: MakingClaim
    private var isPublished = false

    init(_ file: ProtectedDatabaseFile) throws {
        self.file = file
        let newKey: NewCipherKey?
        if case .sqlcipher(let options) = file.format {
            newKey = try NewCipherKey(options, of: file)
            temporary = file.beside("-\(DatabaseID())\(Leftovers.cipherEnding)")
        } else {
            newKey = nil
            temporary = file.beside("-\(DatabaseID())\(Leftovers.plainEnding)")
        }
        self.newKey = newKey
        try Leftovers.remove(beside: file.path)
        guard let claim = MakingClaim(temporary.path, creating: true) else {
            throw ProtectedDatabaseError("make", temporary.path, errno: errno)
        }
        self.claim = claim
        do {
            if let newKey {
                registration = try temporary.register(newKey.place)
            } else {
                registration = try temporary.claim().0
            }
        } catch {
            claim.end(temporary.path)
            throw error
        }
    }

    deinit {
        if !isPublished { Leftovers.unlinkFile(temporary.path) }
        claim.end(temporary.path)
    }

    func fill(_ body: (DatabaseRegistration) throws -> Void) throws {
        // With its permissions from the first byte on.
        let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ProtectedDatabaseError("make", temporary.path, errno: errno) }
        close(descriptor)
        try body(registration)
        var information = stat()
        if stat(file.path, &information) == 0 { try SameOwner.apply(information, to: temporary.path) }
        try DurableFile.synchronize(temporary.path)
    }

    func publish(replacing former: FormerDatabase?) throws {
        // Before the file has its name, so that there is no file without a key.
        let item = try newKey?.keep()
        // Unlike rename(2), link(2) does not take the place of another.
        let placed = former == nil ? link(temporary.path, file.path) : rename(temporary.path, file.path)
        guard placed == 0 else {
            let code = errno
            if let item { try newKey?.keys.remove(item) }
            throw ProtectedDatabaseError("make", file.path, errno: code)
        }
        isPublished = true
        if former == nil { unlink(temporary.path) }
        try DurableFile.synchronizeFolder(of: file.path)
        try former?.removeRest(beside: file.path, file.keys)
    }
}

/// The users who may use a file that takes the place of another.
enum SameOwner {
    static func apply(_ information: stat, to path: String) throws {
        var present = stat()
        guard stat(path, &present) == 0 else { throw ProtectedDatabaseError("open", path, errno: errno) }
        if present.st_uid != information.st_uid || present.st_gid != information.st_gid,
            chown(path, information.st_uid, information.st_gid) != 0
        {
            throw ProtectedDatabaseError("keep the owner of", path, errno: errno)
        }
        try applyMode(information, to: path)
    }

    static func applyMode(_ information: stat, to path: String) throws {
        guard chmod(path, information.st_mode & 0o7777) == 0 else {
            throw ProtectedDatabaseError("keep the permissions of", path, errno: errno)
        }
    }
}
