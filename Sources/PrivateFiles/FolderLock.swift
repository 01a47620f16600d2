import Glibc

/// An exclusive lock between processes on a folder, held until `release` or the end of the process.
package struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock, waiting at most `deadline`.
    ///
    /// - Throws: ``FileError/lockTimeout(path:)`` when another process keeps it.
    package init(_ folder: PrivateFolder, deadline: Duration = .seconds(30)) throws(FileError) {
        let path = folder.path(of: "lock")
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else {
            let failure = FileError.last("examine", path)
            close(descriptor)
            throw failure
        }
        do {
            try PrivateFolder.checkPrivate(info, path)
        } catch {
            close(descriptor)
            throw error
        }
        let end = ContinuousClock.now + deadline
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                let failure = FileError.last("lock", path)
                close(descriptor)
                throw failure
            }
            guard ContinuousClock.now < end else {
                close(descriptor)
                throw .lockTimeout(path: path)
            }
            usleep(UInt32.random(in: 200...2_000))
        }
        self.descriptor = descriptor
    }

    deinit {
        // Closing the only descriptor of this open file releases its flock.
        close(descriptor)
    }
}
