import Bytes
import CLibrary
import DatabasePages

extension EncryptingVFS {
    /// Returns the first 16 bytes of a database's file; fewer if it is shorter.
    ///
    /// POSIX drops a process's locks on a file when any descriptor of it is closed (fcntl(2)), including the locks of
    /// SQLite's connections in this process. The descriptor is therefore shared with them, and stays open if there
    /// could be other descriptors.
    ///
    /// - Parameter limit: How many bytes at the most.
    package static func firstBytes(
        of path: String, limit: Int = DatabaseHeader.byteCount
    ) throws(VFSFailure) -> [UInt8] {
        guard let path = fullPath(path) else {
            throw .system(operation: "find the folder of", path: path, errno: ENOENT)
        }
        let descriptor = try SharedDescriptor.acquire(path, writing: false)
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = WholeAccess.read(descriptor.number, &bytes, bytes.count, at: 0)
        let code = errno
        if bytes.starts(with: DatabaseHeader.magic) || !isOpenElsewhere(descriptor.number) { descriptor.release() }
        guard count >= 0 else { throw .system(operation: "read", path: path, errno: code) }
        return Array(bytes.prefix(count))
    }

    /// Returns whether this process has another descriptor of the same file; true if that cannot be found out.
    private static func isOpenElsewhere(_ descriptor: Int32) -> Bool {
        var own = stat()
        guard fstat(descriptor, &own) == 0, let stream = opendir("/proc/self/fd") else { return true }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var other = stat()
            guard let number = Int32(name), number != descriptor, number != dirfd(stream), fstat(number, &other) == 0
            else { continue }
            if other.st_ino == own.st_ino && other.st_dev == own.st_dev { return true }
        }
        return false
    }
}
