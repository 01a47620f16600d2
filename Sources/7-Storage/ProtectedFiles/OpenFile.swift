import Glibc

/// A descriptor of a regular file, with whole reads and writes at a place.
final class OpenFile {
    /// How long another process may keep the lock, which it holds only while it writes what is in memory.
    private static let deadline = Duration.seconds(10)

    let path: String
    let descriptor: Int32

    /// - Parameter flags: Of `open(2)`.
    convenience init(_ path: String, flags: Int32, mode: mode_t = 0o600) throws(SealedFileError) {
        try self.init(path, in: AT_FDCWD, named: path, flags: flags, mode: mode)
    }

    /// - Parameters:
    ///   - path: What messages call it.
    ///   - folder: An open folder, of which `name` is looked up.
    init(
        _ path: String, in folder: Int32, named name: String, flags: Int32, mode: mode_t = 0o600
    ) throws(SealedFileError) {
        self.path = path
        // Not blocking: opening a pipe would wait for its other end.
        descriptor = openat(folder, name, flags | O_CLOEXEC | O_NONBLOCK, mode)
        try check()
    }

    /// What somebody else has open, whatever its name leads to by now.
    init(_ path: String, sharing other: Int32) throws(SealedFileError) {
        self.path = path
        descriptor = fcntl(other, F_DUPFD_CLOEXEC, 0)
        try check()
    }

    private func check() throws(SealedFileError) {
        guard descriptor >= 0 else {
            throw errno == EISDIR ? .notRegular(path: path) : .last("open", path)
        }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw .last("examine", path) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
    }

    deinit {
        // -1 if there was nothing to open. Ends the lock, too.
        if descriptor >= 0 { close(descriptor) }
    }

    /// A path that leads to this file even if it has no name; nil where there is no such thing (proc(5)).
    var pathOfDescriptor: String? {
        let path = "/proc/self/fd/\(descriptor)"
        return access(path, F_OK) == 0 ? path : nil
    }

    var size: UInt64 {
        get throws(SealedFileError) {
            var info = stat()
            guard fstat(descriptor, &info) == 0 else { throw .last("examine", path) }
            return UInt64(info.st_size)
        }
    }

    /// Reads until the buffer is full or the file ends, and returns how many bytes that were.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SealedFileError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let got = pread(
                descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled,
                off_t(offset) + off_t(filled))
            if got < 0 {
                if errno == EINTR { continue }
                throw .last("read", path)
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }

    /// The bytes at a place; fewer if the file ends.
    func read(_ count: Int, at offset: UInt64) throws(SealedFileError) -> [UInt8] {
        var failure: SealedFileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SealedFileError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SealedFileError) {
        var written = 0
        while written < bytes.count {
            let put = pwrite(
                descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written,
                off_t(offset) + off_t(written))
            if put < 0 {
                if errno == EINTR { continue }
                throw .last("write", path)
            }
            written += put
        }
    }

    func truncate(to size: UInt64) throws(SealedFileError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last("cut", path) }
    }

    /// Returns when the contents are on the disk.
    func synchronize() throws(SealedFileError) {
        guard fdatasync(descriptor) == 0 else { throw .last("flush", path) }
    }

    /// As ``synchronize()``, the owner, mode and times included.
    func synchronizeWhole() throws(SealedFileError) {
        guard fsync(descriptor) == 0 else { throw .last("flush", path) }
    }

    /// When the file was last read and last changed.
    var times: [timespec] {
        get throws(SealedFileError) {
            var info = stat()
            guard fstat(descriptor, &info) == 0 else { throw .last("examine", path) }
            return [info.st_atim, info.st_mtim]
        }
    }

    func setTimes(_ times: [timespec]) throws(SealedFileError) {
        guard futimens(descriptor, times) == 0 else { throw .last("keep the times of", path) }
    }

    func setMode(_ mode: mode_t) throws(SealedFileError) {
        guard fchmod(descriptor, mode) == 0 else { throw .last("set the mode of", path) }
    }

    /// Runs `body` while no other process writes, or, for a writer, reads what it is about to rely on.
    func locked<Value>(
        exclusively: Bool, _ body: () throws(SealedFileError) -> Value
    ) throws(SealedFileError) -> Value {
        let operation = (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB
        if flock(descriptor, operation) != 0 { try waitForLock(operation) }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }

    private func waitForLock(_ operation: Int32) throws(SealedFileError) {
        let end = ContinuousClock.now + Self.deadline
        repeat {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .last("lock", path) }
            guard ContinuousClock.now < end else { throw .inUse(path: path) }
            usleep(UInt32.random(in: 20...200))
        } while flock(descriptor, operation) != 0
    }
}
