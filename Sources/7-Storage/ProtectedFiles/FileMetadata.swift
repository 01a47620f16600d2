import Bytes
import CLibrary

/// The metadata that a file keeps when its contents are replaced: owner, permissions, times and extended attributes
/// with access-control lists.
struct FileMetadata {
    private let information: stat
    private let attributes: [Attribute]

    /// The number of names of the file.
    var linkCount: Int { Int(clamping: information.st_nlink) }
    var size: UInt64 { UInt64(clamping: information.st_size) }
    /// The bytes that the file takes on the disk: fewer than its size if it has holes.
    var allocated: UInt64 { min(UInt64(clamping: information.st_blocks), 1 << 50) * 512 }
    var identity: FileIdentity { FileIdentity(information) }
    var isRegular: Bool { information.st_mode & S_IFMT == S_IFREG }

    init(of descriptor: Int32, path: String) throws(SealedFileError) {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw .last("examine", path) }
        self.information = information
        attributes = try Self.attributes(of: descriptor, path: path)
    }

    /// Returns whether contents, attributes and names are unchanged. Each change of them updates `st_ctim`, which no
    /// program can set.
    func isUnchanged(of descriptor: Int32) -> Bool {
        var now = stat()
        guard fstat(descriptor, &now) == 0 else { return false }
        return now.st_size == information.st_size && Self.isSame(now.st_mtim, information.st_mtim)
            && Self.isSame(now.st_ctim, information.st_ctim)
    }

    private static func isSame(_ one: timespec, _ other: timespec) -> Bool {
        one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
    }

    /// Applies all of it to another file. Sets the times last, because the other changes alter them.
    func apply(to descriptor: Int32, path: String) throws(SealedFileError) {
        var now = stat()
        guard fstat(descriptor, &now) == 0 else { throw .last("examine", path) }
        if now.st_uid != information.st_uid || now.st_gid != information.st_gid {
            guard fchown(descriptor, information.st_uid, information.st_gid) == 0 else {
                throw .last("keep the owner of", path)
            }
        }
        // Needs a writable file. Includes capabilities, which a change of the owner removes.
        try Self.write(attributes, descriptor, path: path)
        guard fchmod(descriptor, information.st_mode & 0o7777) == 0 else {
            throw .last("keep the permissions of", path)
        }
        guard futimens(descriptor, [information.st_atim, information.st_mtim]) == 0 else {
            throw .last("keep the times of", path)
        }
    }
}
