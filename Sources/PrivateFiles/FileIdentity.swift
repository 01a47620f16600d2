import Glibc

/// Which file a name stands for at a moment.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    init(_ info: stat) {
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
    }
}

extension PrivateFolder {
    package func identity(of name: String) throws(FileError) -> FileIdentity {
        var info = stat()
        guard lstat(path(of: name), &info) == 0 else { throw FileError.last("examine", path(of: name)) }
        return FileIdentity(info)
    }

    /// The length of a file in bytes.
    package func size(of name: String) throws(FileError) -> Int {
        var info = stat()
        guard lstat(path(of: name), &info) == 0 else { throw FileError.last("examine", path(of: name)) }
        return Int(info.st_size)
    }
}
