import Glibc
import SystemLibraries

/// A descriptor of a page index's file.
final class IndexFile {
    /// How long another process may keep the lock, which it holds only while it appends or compacts.
    private static let deadline = Duration.seconds(10)

    private(set) var path: String
    let descriptor: Int32

    /// - Parameter flags: Of `open(2)`.
    init(_ path: String, flags: Int32) throws(PageIndexError) {
        self.path = path
        // Not blocking: opening a pipe would wait for its other end.
        descriptor = Glibc.open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .last("open", path) }
        guard try status.st_mode & S_IFMT == S_IFREG else { throw .foreign(path: path) }
    }

    /// Ends the lock, too. -1 if there was nothing to open.
    deinit { if descriptor >= 0 { close(descriptor) } }

    var status: stat {
        get throws(PageIndexError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .last("examine", path) }
            return status
        }
    }

    /// The size in bytes, in less than half the time of ``status``; -1 if it is not to be had. Nothing depends on where the descriptor
    /// stands.
    var size: Int { Int(lseek(descriptor, 0, SEEK_END)) }

    /// Whether the path still leads to this file.
    func isInPlace(_ status: stat) throws(PageIndexError) -> Bool {
        var named = stat()
        guard lstat(path, &named) == 0 else { throw .last("examine", path) }
        return named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// The bytes at a place; fewer if the file ends.
    func read(_ count: Int, at offset: Int) throws(PageIndexError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset + filled))
                if got < 0, errno == EINTR { continue }
                failed = got < 0
                if got <= 0 { break }
                filled += got
            }
        }
        if failed { throw .last("read", path) }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(PageIndexError) {
        var written = 0
        while written < bytes.count {
            let put = bytes.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written, off_t(offset + written))
            }
            if put < 0 {
                if errno == EINTR { continue }
                throw .last("write", path)
            }
            written += put
        }
    }

    func truncate(to size: Int) throws(PageIndexError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last("cut", path) }
    }

    /// Returns when the contents are on the disk.
    func synchronize() throws(PageIndexError) {
        guard fdatasync(descriptor) == 0 else { throw .last("flush", path) }
    }

    /// The same, owner and mode included.
    func synchronizeWhole() throws(PageIndexError) {
        guard fsync(descriptor) == 0 else { throw .last("flush", path) }
    }

    // MARK: Room

    private typealias Allocate = @convention(c) (Int32, Int32, off_t, off_t) -> Int32

    /// Which Swift's module of the C library does not show.
    private static let allocate: Allocate? = libraryFunction("fallocate")
    /// `FALLOC_FL_KEEP_SIZE` (linux/falloc.h).
    private static let keepingSize: Int32 = 1

    /// Takes room on the disk from `offset` on without making the file longer. File systems that cannot do that are let off.
    func reserve(_ count: Int, at offset: Int) throws(PageIndexError) {
        guard let allocate = Self.allocate else { return }
        while allocate(descriptor, Self.keepingSize, off_t(offset), off_t(count)) != 0 {
            switch errno {
            case EINTR: continue
            case ENOSPC, EDQUOT, EFBIG: throw .last("write", path)
            default: return
            }
        }
    }

    // MARK: Lock

    /// How often the lock was taken and not given back.
    private var lockCount = 0

    /// Waits for the only lock on the file, which whoever has it may take again.
    func lock() throws(PageIndexError) {
        if lockCount == 0 { try waitForLock() }
        lockCount += 1
    }

    private func waitForLock() throws(PageIndexError) {
        let end = ContinuousClock.now + Self.deadline
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .last("lock", path) }
            guard ContinuousClock.now < end else { throw .inUse(path: path) }
            usleep(UInt32.random(in: 20...200))
        }
    }

    func unlock() {
        lockCount -= 1
        if lockCount == 0 { flock(descriptor, LOCK_UN) }
    }

    // MARK: Names

    /// Makes a file that is to take the place of `path`, or to become it, and takes its lock.
    ///
    /// Only one process makes one at a time: the one that has the lock of the present file, or that alone knows the name.
    static func replacement(of path: String) throws(PageIndexError) -> IndexFile {
        let temporary = path + "-new"
        // What somebody left who was killed.
        unlink(temporary)
        let file = try IndexFile(temporary, flags: O_RDWR | O_CREAT | O_EXCL)
        try file.lock()
        return file
    }

    /// Gives the file its name, in the place of the file that has it, and returns when that is on the disk.
    ///
    /// - Parameter renamed: Called once the file has the name, which a failure after that does not take back.
    func rename(to path: String, renamed: () -> Void) throws(PageIndexError) {
        guard Glibc.rename(self.path, path) == 0 else { throw .last("replace", path) }
        self.path = path
        renamed()
        try Self.synchronizeFolder(of: path)
    }

    /// Gives the file its name if nothing has it, and returns when that is on the disk.
    func link(to path: String) throws(PageIndexError) {
        guard Glibc.link(self.path, path) == 0 else { throw .last("create", path) }
        unlink(self.path)
        self.path = path
        try Self.synchronizeFolder(of: path)
    }

    /// Gives the file owner and mode of another one, as far as this user may.
    func take(_ status: stat) throws(PageIndexError) {
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        try setMode(status.st_mode & 0o777)
    }

    func setMode(_ mode: mode_t) throws(PageIndexError) {
        guard fchmod(descriptor, mode) == 0 else { throw .last("set the mode of", path) }
    }

    /// Returns when the names in the folder of a file are on the disk.
    static func synchronizeFolder(of path: String) throws(PageIndexError) {
        var folder = "."
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) { folder = String(path[...slash]) }
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last("flush", folder) }
    }
}

extension PageIndexError {
    static func last(_ operation: String, _ path: String) -> PageIndexError {
        switch errno {
        case ENOENT: .missing(path: path)
        case EEXIST: .alreadyExists(path: path)
        case ELOOP, EISDIR: .foreign(path: path)
        case EROFS: .readOnly(path: path)
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case let number: .system(operation: operation, path: path, errno: number)
        }
    }
}
