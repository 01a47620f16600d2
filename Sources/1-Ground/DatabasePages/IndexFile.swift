import Bytes
import CLibrary
import SystemLibraries

/// A descriptor of a page index's file.
final class IndexFile {
    /// The longest wait for the lock. A process holds it only while it appends or compacts.
    private static let deadline = Duration.seconds(10)

    private(set) var path: String
    let descriptor: Int32

    /// - Parameter flags: Of `open(2)`.
    init(_ path: String, flags: Int32) throws(PageIndexError) {
        self.path = path
        // Non-blocking, because opening a pipe would wait for its other end.
        descriptor = CLibrary.open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .last("open", path) }
        guard try status.st_mode & S_IFMT == S_IFREG else { throw .foreign(path: path) }
    }

    /// Also ends the lock. The descriptor is -1 if opening failed.
    deinit { if descriptor >= 0 { close(descriptor) } }

    var status: stat {
        get throws(PageIndexError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .last("examine", path) }
            return status
        }
    }

    /// The size in bytes; -1 after a failure. Takes less than half the time of ``status``. Moves the offset of the
    /// descriptor, which nothing uses.
    var size: Int { Int(lseek(descriptor, 0, SEEK_END)) }

    /// Returns whether the path still leads to this file.
    func isInPlace(_ status: stat) throws(PageIndexError) -> Bool {
        var named = stat()
        guard lstat(path, &named) == 0 else { throw .last("examine", path) }
        return named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// Returns `count` bytes at an offset; fewer at the end of the file.
    func read(_ count: Int, at offset: Int) throws(PageIndexError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count])
            let got = SystemCall.readAll(into: room, from: descriptor, at: Int64(offset))
            failed = got < 0
            filled = max(0, got)
        }
        if failed { throw .last("read", path) }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(PageIndexError) {
        let isWritten = bytes.withUnsafeBytes { SystemCall.writeAll($0, to: descriptor, at: Int64(offset)) }
        guard isWritten else { throw .last("write", path) }
    }

    func truncate(to size: Int) throws(PageIndexError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last("cut", path) }
    }

    /// Waits until the contents are on the disk.
    func synchronize() throws(PageIndexError) {
        guard fdatasync(descriptor) == 0 else { throw .last("flush", path) }
    }

    /// Does the same as ``synchronize()``, also for owner and mode.
    func synchronizeWhole() throws(PageIndexError) {
        guard fsync(descriptor) == 0 else { throw .last("flush", path) }
    }

    // MARK: Room

    private typealias Allocate = @convention(c) (Int32, Int32, off_t, off_t) -> Int32

    /// Looked up, because Swift's module of the C library does not declare it.
    private static let allocate: Allocate? = libraryFunction("fallocate")
    /// `FALLOC_FL_KEEP_SIZE` (linux/falloc.h).
    private static let keepingSize: Int32 = 1

    /// Reserves room on the disk from `offset` on without changing the size of the file. Ignores file systems without
    /// this function.
    func reserve(_ count: Int, at offset: Int) throws(PageIndexError) {
        guard let allocate = Self.allocate else { return }
        let result = SystemCall.retryOnInterrupt {
            allocate(descriptor, Self.keepingSize, off_t(offset), off_t(count))
        }
        if result != 0, [ENOSPC, EDQUOT, EFBIG].contains(errno) { throw .last("write", path) }
    }

    // MARK: Lock

    /// How many times the lock was taken without being released.
    private var lockCount = 0

    /// Waits for the exclusive lock on the file. The holder may take it again.
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

    /// Creates a file that will replace `path` or become it, and takes its lock.
    ///
    /// Only one process does this at a time: the holder of the present file's lock, or the only process that knows the
    /// name.
    static func replacement(of path: String) throws(PageIndexError) -> IndexFile {
        let temporary = path + "-new"
        // Removes the file of a process that was killed.
        unlink(temporary)
        let file = try IndexFile(temporary, flags: O_RDWR | O_CREAT | O_EXCL)
        try file.lock()
        return file
    }

    /// Renames the file, replacing a file that has the name. Waits until the new name is on the disk.
    ///
    /// - Parameter renamed: Called when the file has the name. A later failure does not undo the renaming.
    func rename(to path: String, renamed: () -> Void) throws(PageIndexError) {
        guard CLibrary.rename(self.path, path) == 0 else { throw .last("replace", path) }
        self.path = path
        renamed()
        try Self.synchronizeFolder(of: path)
    }

    /// Gives the file its name if no file has it. Waits until the name is on the disk.
    func link(to path: String) throws(PageIndexError) {
        guard CLibrary.link(self.path, path) == 0 else { throw .last("create", path) }
        unlink(self.path)
        self.path = path
        try Self.synchronizeFolder(of: path)
    }

    /// Sets the owner and mode of another file, as far as this user may.
    func take(_ status: stat) throws(PageIndexError) {
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        try setMode(status.st_mode & 0o777)
    }

    func setMode(_ mode: mode_t) throws(PageIndexError) {
        guard fchmod(descriptor, mode) == 0 else { throw .last("set the mode of", path) }
    }

    /// Waits until the names in the folder of a file are on the disk.
    static func synchronizeFolder(of path: String) throws(PageIndexError) {
        var folder = "."
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) { folder = String(path[...slash]) }
        let descriptor = CLibrary.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
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
