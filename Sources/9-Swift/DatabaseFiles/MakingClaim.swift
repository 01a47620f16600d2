import CLibrary

/// Says to other processes that an unfinished database is being made: a lock on a file beside it, which goes with its
/// process.
struct MakingClaim {
    private let descriptor: Int32

    static func path(_ temporary: String) -> String { temporary + ".lock" }

    /// Takes the claim.
    ///
    /// - Parameter creating: Whether the claim is new; otherwise that of a process that ended is taken over.
    /// - Returns: Nil if somebody has it, with `errno` `EWOULDBLOCK`, or it cannot be had.
    init?(_ temporary: String, creating: Bool) {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (creating ? O_EXCL : 0)
        descriptor = open(Self.path(temporary), flags, 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isInPlace(temporary) else {
            close(descriptor)
            errno = EWOULDBLOCK
            return nil
        }
    }

    /// Whether the name still leads to the file. The former holder of the claim removes the file.
    private func isInPlace(_ temporary: String) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(Self.path(temporary), &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }

    func release() { close(descriptor) }

    /// Gives it back, and leaves no file.
    func end(_ temporary: String) {
        unlink(Self.path(temporary))
        release()
    }
}

/// Files that have to outlast a power failure.
enum DurableFile {
    static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ProtectedDatabaseError("open", path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw ProtectedDatabaseError("flush", path, errno: errno) }
    }

    /// The folder that a file is in: names that were given or taken there.
    static func synchronizeFolder(of path: String) throws {
        try synchronize(Leftovers.split(path).folder)
    }
}
