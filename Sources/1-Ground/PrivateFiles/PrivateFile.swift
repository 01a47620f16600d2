import Bytes
import CLibrary
import FoundationEssentials

/// An open file of a private folder, for files that are changed in place.
package final class PrivateFile: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Opens `name` for reading and writing.
    ///
    /// - Parameter creating: Whether to create the file, with mode 0600, if it does not exist.
    package init(_ name: String, in folder: PrivateFolder, creating: Bool) throws(FileError) {
        path = folder.path(of: name)
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (creating ? O_CREAT : 0)
        descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw FileError.last("examine", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
        try PrivateFolder.checkPrivate(info, path)
    }

    deinit {
        // Ignores errors of `close`: only a flush before it could prevent them. Also releases the lock, because a child
        // that has not run its program yet keeps the file open and must not keep the lock. The descriptor is -1 if
        // opening failed.
        if descriptor >= 0 {
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }

    /// Waits for the exclusive lock on the file and holds it until this object ends.
    ///
    /// - Throws: ``FileError/lockTimeout(path:)`` if another holder keeps the lock until the deadline.
    package func lock(deadline: Duration) throws(FileError) {
        let end = ContinuousClock.now + deadline
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw FileError.last("lock", path) }
            guard ContinuousClock.now < end else { throw .lockTimeout(path: path) }
            usleep(UInt32.random(in: 20...200))
        }
    }

    package var size: Int {
        get throws(FileError) {
            var info = stat()
            guard fstat(descriptor, &info) == 0 else { throw FileError.last("examine", path) }
            return Int(info.st_size)
        }
    }

    /// Returns up to `count` bytes from `offset` on; fewer at the end of the file.
    package func read(_ count: Int, at offset: Int) throws(FileError) -> Data {
        var contents = Data(count: max(0, count))
        let filled = contents.withUnsafeMutableBytes {
            SystemCall.readAll(into: $0, from: descriptor, at: Int64(offset))
        }
        guard filled >= 0 else { throw FileError.last("read", path) }
        return contents.prefix(filled)
    }

    package func write(_ contents: Data, at offset: Int) throws(FileError) {
        let isWritten = contents.withUnsafeBytes { SystemCall.writeAll($0, to: descriptor, at: Int64(offset)) }
        guard isWritten else { throw FileError.last("write", path) }
    }

    package func truncate(to size: Int) throws(FileError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw FileError.last("cut", path) }
    }

    /// Waits until the contents are on the disk.
    package func synchronize() throws(FileError) {
        guard fdatasync(descriptor) == 0 else { throw FileError.last("flush", path) }
    }
}
