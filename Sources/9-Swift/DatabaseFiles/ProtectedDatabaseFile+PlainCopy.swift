import CLibrary
import DatabasePages
import DatabaseVFS

extension ProtectedDatabaseFile {
    /// Makes sure that the file was encrypted here.
    ///
    /// - Throws: ``ProtectedDatabaseError/Code/notEncrypted``, and
    ///   ``ProtectedDatabaseError/Code/notDatabase`` for what is no plain database, either.
    package func requireEncrypted() throws { _ = try header() }

    /// Makes a plain SQLite file with what is in the database, with mode 0600. Other programs may go on using the
    /// database.
    ///
    /// - Parameters:
    ///   - target: The file to make, which gets its name when all of it is on the disk.
    ///   - progress: Called now and then by the calling thread; returns whether to go on.
    /// - Throws: ``ProtectedDatabaseError/Code/fileExists`` if there is anything with the name.
    package func copyPlain(
        to target: String, progress: (Progress) -> Bool = { _ in true }
    ) throws {
        let database = try header().database
        let keys = keys
        let source = try DatabaseSource(
            self, key: try keys.read(try keys.find(database), of: database), isExclusive: false)
        try Leftovers.remove(beside: target)
        let temporary = with(path: "\(target)-\(DatabaseID()).plain")
        guard let claim = MakingClaim(temporary.path, creating: false) else {
            throw ProtectedDatabaseError("make", temporary.path, errno: errno)
        }
        defer { claim.end(temporary.path) }
        let descriptor = CLibrary.open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ProtectedDatabaseError("make", temporary.path, errno: errno) }
        CLibrary.close(descriptor)
        defer { Leftovers.unlinkPlain(temporary.path) }
        try source.copy(to: try temporary.registerPlain(), progress: progress)
        try DurableFile.synchronize(temporary.path)
        // Unlike rename(2) it does not take the place of another.
        guard link(temporary.path, target) == 0 else { throw ProtectedDatabaseError("make", target, errno: errno) }
        try DurableFile.synchronizeFolder(of: target)
    }
}
