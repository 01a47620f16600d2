import Bytes
import CLibrary

/// The version of a file at one moment. It differs after a change of the file, and if the name stands for another file.
package struct FileVersion: Sendable, Equatable {
    private let identity: FileIdentity
    private let seconds: Int
    private let nanoseconds: Int

    init(_ info: stat) {
        identity = FileIdentity(info)
        // The file system reuses the inode number of a deleted file. The time of change tells the two files apart.
        seconds = info.st_ctim.tv_sec
        nanoseconds = info.st_ctim.tv_nsec
    }
}

extension PrivateFolder {
    package func version(of name: String) throws(FileError) -> FileVersion {
        var info = stat()
        guard lstat(path(of: name), &info) == 0 else { throw FileError.last("examine", path(of: name)) }
        return FileVersion(info)
    }

    /// Which folder it is, whatever its name.
    package var identity: FileIdentity {
        get throws(FileError) {
            var info = stat()
            guard lstat(path, &info) == 0 else { throw FileError.last("examine", path) }
            return FileIdentity(info)
        }
    }

    package func identity(of name: String) throws(FileError) -> FileIdentity {
        var info = stat()
        guard lstat(path(of: name), &info) == 0 else { throw FileError.last("examine", path(of: name)) }
        return FileIdentity(info)
    }

    /// Returns when the contents of a file were last written, in seconds since 1970.
    package func modificationTime(of name: String) throws(FileError) -> Int {
        var info = stat()
        guard lstat(path(of: name), &info) == 0 else { throw FileError.last("examine", path(of: name)) }
        return info.st_mtim.tv_sec
    }

    /// Returns when the contents of a file were last written, in nanoseconds since 1970.
    package func modificationNanoseconds(of name: String) throws(FileError) -> Int {
        var info = stat()
        guard lstat(path(of: name), &info) == 0 else { throw FileError.last("examine", path(of: name)) }
        return info.st_mtim.tv_sec * 1_000_000_000 + info.st_mtim.tv_nsec
    }

    /// Returns the length of a file in bytes.
    package func size(of name: String) throws(FileError) -> Int {
        var info = stat()
        guard lstat(path(of: name), &info) == 0 else { throw FileError.last("examine", path(of: name)) }
        return Int(info.st_size)
    }
}

/// A file of which it can be asked whether it was removed.
package final class NamedFile: Sendable {
    private let descriptor: Int32
    /// `O_PATH` of Linux's asm-generic/fcntl.h, which Swift does not import.
    private static let pathOnly: Int32 = 0o10_000_000

    /// Closing another descriptor would end all locks of this process on the file (fcntl(2)); one with `O_PATH` has
    /// none (open(2)).
    package init(_ path: String) throws(FileError) {
        descriptor = open(path, Self.pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError.last("open", path) }
    }

    deinit { close(descriptor) }

    /// Whether no folder has the file any more.
    package var isRemoved: Bool {
        var info = stat()
        return fstat(descriptor, &info) != 0 || info.st_nlink == 0
    }

    package var identity: FileIdentity? {
        var info = stat()
        return fstat(descriptor, &info) == 0 ? FileIdentity(info) : nil
    }
}
