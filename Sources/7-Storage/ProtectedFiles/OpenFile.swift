import Bytes
import CLibrary

/// A descriptor of a regular file, with complete reads and writes at an offset.
final class OpenFile {
    /// The longest wait for the lock. A process holds it only while it writes data from memory.
    private static let deadline = Duration.seconds(10)

    let path: String
    let descriptor: Int32
    /// Writes in place of this thread; nil if each write is made at once.
    private(set) var behind: WriteBehind?

    /// - Parameter flags: Of `open(2)`.
    convenience init(_ path: String, flags: Int32, mode: mode_t = 0o600) throws(SealedFileError) {
        try self.init(path, in: AT_FDCWD, named: path, flags: flags, mode: mode)
    }

    /// - Parameters:
    ///   - path: The name for messages.
    ///   - folder: An open folder, in which `name` is looked up.
    init(
        _ path: String, in folder: Int32, named name: String, flags: Int32, mode: mode_t = 0o600
    ) throws(SealedFileError) {
        self.path = path
        // Non-blocking, because opening a pipe would wait for its other end.
        descriptor = openat(folder, name, flags | O_CLOEXEC | O_NONBLOCK, mode)
        try check()
    }

    /// Shares a descriptor that is open elsewhere, even if its name leads to another file by now.
    init(_ path: String, sharing other: Int32) throws(SealedFileError) {
        self.path = path
        descriptor = fcntl(other, F_DUPFD_CLOEXEC, 0)
        try check()
    }

    private func check() throws(SealedFileError) {
        guard descriptor >= 0 else {
            throw errno == EISDIR ? .notRegular(path: path) : .last("open", path)
        }
        guard try information.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path: path) }
    }

    deinit {
        behind?.wait()
        // Also ends the lock. The descriptor is -1 if opening failed.
        if descriptor >= 0 { close(descriptor) }
    }

    /// A path that leads to this file, even without a name; nil if the system has no such paths (proc(5)).
    var pathOfDescriptor: String? {
        let path = "/proc/self/fd/\(descriptor)"
        return access(path, F_OK) == 0 ? path : nil
    }

    private var information: stat {
        get throws(SealedFileError) {
            var information = stat()
            guard fstat(descriptor, &information) == 0 else { throw .last("examine", path) }
            return information
        }
    }

    var identity: FileIdentity {
        get throws(SealedFileError) { FileIdentity(try information) }
    }

    var size: UInt64 {
        get throws(SealedFileError) {
            try behind?.drain()
            return UInt64(clamping: try information.st_size)
        }
    }

    /// Lets another thread make the writes from now on, if a processor is left for it. The other operations wait for
    /// them. No other process may have the file open.
    func beginWritingBehind(limit: Int = WriteBehind.limit) throws(SealedFileError) {
        if behind == nil { behind = try WriteBehind(path, descriptor, limit: limit) }
    }

    /// Waits until all of these writes are made.
    func endWritingBehind() throws(SealedFileError) {
        try behind?.drain()
        behind = nil
    }

    /// Reads until the buffer is full or the file ends. Returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SealedFileError) -> Int {
        try behind?.drain()
        let filled = SystemCall.readAll(into: buffer, from: descriptor, at: Int64(clamping: offset))
        guard filled >= 0 else { throw .last("read", path) }
        return filled
    }

    /// Returns `count` bytes at an offset; fewer at the end of the file.
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
        if let behind { return try behind.write(bytes, at: offset) }
        guard SystemCall.writeAll(bytes, to: descriptor, at: Int64(clamping: offset)) else {
            throw .last("write", path)
        }
    }

    func write(_ bytes: [UInt8], at offset: UInt64) throws(SealedFileError) {
        try bytes.withBytes { (bytes) throws(SealedFileError) in try write(bytes, at: offset) }
    }

    func truncate(to size: UInt64) throws(SealedFileError) {
        try behind?.drain()
        guard ftruncate(descriptor, off_t(clamping: size)) == 0 else { throw .last("cut", path) }
    }

    /// Waits until the contents are on the disk.
    func synchronize() throws(SealedFileError) {
        try behind?.drain()
        guard fdatasync(descriptor) == 0 else { throw .last("flush", path) }
    }

    /// Does the same as ``synchronize()``, also for the owner, mode and times.
    func synchronizeWhole() throws(SealedFileError) {
        try behind?.drain()
        guard fsync(descriptor) == 0 else { throw .last("flush", path) }
    }

    /// The times of the last read and the last change.
    var times: [timespec] {
        get throws(SealedFileError) {
            let information = try information
            return [information.st_atim, information.st_mtim]
        }
    }

    func setTimes(_ times: [timespec]) throws(SealedFileError) {
        guard futimens(descriptor, times) == 0 else { throw .last("keep the times of", path) }
    }

    func setMode(_ mode: mode_t) throws(SealedFileError) {
        guard fchmod(descriptor, mode) == 0 else { throw .last("set the mode of", path) }
    }

    /// Takes the lock. Without `exclusively`, no other process writes until ``unlock()``; with it, none reads, either.
    func lock(exclusively: Bool) throws(SealedFileError) {
        let operation = (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB
        if flock(descriptor, operation) != 0 { try waitForLock(operation) }
    }

    func unlock() { flock(descriptor, LOCK_UN) }

    /// Runs `body` while no other process writes.
    func locked<Value>(
        _ body: @autoclosure () throws(SealedFileError) -> Value
    ) throws(SealedFileError) -> Value {
        try lock(exclusively: false)
        defer { unlock() }
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
