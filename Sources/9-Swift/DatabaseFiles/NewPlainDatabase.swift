import CLibrary
import DatabasePages
import DatabaseVFS

/// A plain database that is made under another name and takes the place of an encrypted one whole.
final class NewPlainDatabase {
    private let file: ProtectedDatabaseFile
    private let temporary: ProtectedDatabaseFile
    private let database: DatabaseID
    private let claim: MakingClaim
    private var isPublished = false

    init(beside file: ProtectedDatabaseFile, _ database: DatabaseID) throws {
        self.file = file
        self.database = database
        temporary = file.beside("-\(database).plain")
        try Leftovers.remove(beside: file.path)
        guard let claim = MakingClaim(temporary.path, creating: false) else {
            throw ProtectedDatabaseError(
                .busy, path: file.path,
                message: "another program is decrypting \(file.path), or its folder is read-only")
        }
        self.claim = claim
    }

    deinit {
        if !isPublished { Leftovers.unlinkPlain(temporary.path) }
        claim.end(temporary.path)
    }

    func fill(
        _ body: (DatabaseRegistration) throws -> Void
    ) throws {
        var information = stat()
        guard stat(file.path, &information) == 0 else { throw ProtectedDatabaseError("open", file.path, errno: errno) }
        // With its permissions from the first byte on.
        let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ProtectedDatabaseError("make", temporary.path, errno: errno) }
        close(descriptor)
        let registration = try temporary.registerPlain()
        try body(registration)
        try SameOwner.apply(information, to: temporary.path)
        try DurableFile.synchronize(temporary.path)
    }

    /// Puts the database in its place, and removes the key of the former one.
    func publish(replacing former: DatabaseID, _ found: DatabaseKeys.Found) throws {
        guard rename(temporary.path, file.path) == 0 else {
            throw ProtectedDatabaseError("replace", file.path, errno: errno)
        }
        isPublished = true
        try DurableFile.synchronizeFolder(of: file.path)
        unlink(PageIndex.path(ofDatabase: file.path, former))
        try file.keys.remove(found)
    }
}

/// Who may use a file that takes the place of another.
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
