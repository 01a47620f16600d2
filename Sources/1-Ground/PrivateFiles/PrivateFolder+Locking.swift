import CLibrary

extension PrivateFolder {
    /// Runs `body` while holding the lock of the folder. No other process and no other thread holds it meanwhile.
    ///
    /// The kernel releases the lock when the process ends, also after a crash.
    ///
    /// - Throws: ``FileError/lockTimeout(path:)`` if another process holds the lock until the deadline, and any error
    ///   of `body`.
    package func withLock<Result>(deadline: Duration = .seconds(30), _ body: () throws -> Result) throws -> Result {
        let descriptor = try lock(until: ContinuousClock.now + deadline)
        // Closing alone may not release the lock. A child that another thread has just forked keeps the file open, and
        // with it the lock, until the child runs its program (fork(2)).
        defer {
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
        return try body()
    }

    /// Locks the file `name` until this process ends, also by a crash.
    ///
    /// - Throws: ``FileError/lockTimeout(path:)`` at once if another process holds the lock.
    package func lockUntilExit(_ name: String) throws(FileError) {
        // The descriptor stays open: the kernel closes it, and releases the lock, when the process ends.
        _ = try lock(name, until: .now)
    }

    /// Whether somebody has locked the file `name` until the end of a process.
    package func isLocked(_ name: String) -> Bool {
        let descriptor = open(path(of: name), O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private func lock(
        _ name: String = "lock", until end: ContinuousClock.Instant
    ) throws(FileError) -> Int32 {
        let path = path(of: name)
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
        do throws(FileError) {
            var info = stat()
            guard fstat(descriptor, &info) == 0 else { throw FileError.last("examine", path) }
            try Self.checkPrivate(info, path)
            if info.st_mode & 0o600 != 0o600 { try Self.setMode(of: descriptor, path) }
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                guard errno == EWOULDBLOCK || errno == EINTR else { throw FileError.last("lock", path) }
                guard ContinuousClock.now < end else { throw FileError.lockTimeout(path: path) }
                usleep(UInt32.random(in: 200...2_000))
            }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }
}
