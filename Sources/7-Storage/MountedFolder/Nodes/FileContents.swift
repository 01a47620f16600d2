import Bytes
import CFuse3
import CLibrary
import KeychainModel
import ProtectedFiles
import VaultInterface

/// The data of a file of the view. All programs with the file open share it.
///
/// Collects writes. After ``flush()``, they are in the file below.
// Safe to share between threads: the members that change are used only while `lock` is held.
final class FileContents: @unchecked Sendable {
    /// A write of at least this many bytes gains nothing from being collected.
    private static let directWrite = 512 << 10

    private let descriptor: Int32
    private let path: String
    private let keys: any FileKeySource
    private let lockState: KnownLockState
    private let lock = ThreadLock()

    /// Nil while no program has the file open.
    private var sealed: SealedFile?
    private var isWritable = false
    /// False after a lock, until the key is fetched again.
    private var hasKey = false
    private var openCount = 0
    /// Whether the file was created here and never had to be on the disk. Then a loss of power breaks no promise, and
    /// changes need not wait for the disk.
    private var isFresh = false
    private var gathered = Gathered()
    /// The state of the file below that matches the kernel's cache, as far as it is known.
    private var cached: FileStamp?
    private var known: (stamp: FileStamp, info: SealedFileInfo)?

    /// - Parameter descriptor: Refers to the file below. Its owner outlives this object.
    init(_ descriptor: Int32, keys: any FileKeySource, lockState: KnownLockState) {
        self.descriptor = descriptor
        path = "/proc/self/fd/\(descriptor)"
        self.keys = keys
        self.lockState = lockState
    }

    /// Returns the file with its key.
    private func usable() throws(Errno) -> SealedFile {
        guard let sealed else { throw Errno(EBADF) }
        if !hasKey {
            try Errno.of(sealed.renewKey(keys))
            hasKey = true
        }
        return sealed
    }

    // MARK: Opening

    /// - Returns: Whether the kernel may keep its cache of the file.
    func open(writing: Bool, truncating: Bool) throws(Errno) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if sealed != nil, isWritable || !writing {
            // The file is open, and other programs continue to use it. But while the vault is locked, its class
            // allows no new opening.
            if lockState.isLocked, openClass == .completeUnlessOpen { throw Errno(EACCES) }
            _ = try usable()
        } else {
            let file = try openBelow(writing: writing)
            sealed?.close()
            (sealed, isWritable, hasKey) = (file, writing, true)
        }
        openCount += 1
        do throws(Errno) {
            if truncating { try cut(to: 0) }
            let stamp = FileStamp(try information)
            defer { cached = stamp }
            return stamp == cached
        } catch {
            close()
            throw error
        }
    }

    /// Opens a file that was just created.
    func adopt(_ file: SealedFile) throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        sealed?.close()
        (sealed, isWritable, hasKey, isFresh) = (file, true, true, true)
        openCount += 1
        cached = FileStamp(try information)
    }

    /// Opens the file below for a moment. The file's owner may always open it. On other file systems, programs that
    /// opened a file keep access when its mode changes, too.
    private func openBelow(writing: Bool) throws(Errno) -> SealedFile {
        let mode: SealedFile.Mode = writing ? .writing : .reading
        do throws(SealedFileError) {
            return try SealedFile(path, mode, keys: keys, durability: .power)
        } catch {
            guard case .system(_, _, EACCES) = error else { throw Errno(error) }
            let information = try information
            let permissions = information.st_mode & 0o7777
            guard information.st_uid == geteuid(), chmod(path, permissions | 0o600) == 0 else { throw Errno(error) }
            defer { chmod(path, permissions) }
            return try Errno.of(SealedFile(path, mode, keys: keys, durability: .power))
        }
    }

    /// Undoes one ``open(writing:truncating:)``.
    ///
    /// - Returns: Whether the kernel's cache of the file should be dropped.
    func release() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        let isClosed = openCount == 1 && lockState.isLocked && openClass == .completeUnlessOpen
        close()
        return isClosed
    }

    private func close() {
        openCount -= 1
        guard openCount <= 0 else { return }
        openCount = 0
        try? flushChanges()
        gathered = Gathered()
        sealed?.close()
        sealed = nil
        (isWritable, hasKey) = (false, false)
    }

    // MARK: Data

    /// Reads until the buffer is full or the data end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(Errno) -> Int {
        lock.lock()
        defer { lock.unlock() }
        return try gathered.read(into: buffer, at: offset, over: usable())
    }

    /// Writes all of `bytes`.
    ///
    /// - Parameter offset: Nil for the end of the data.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64?) throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        let file = try usable()
        guard isWritable else { throw Errno(EBADF) }
        let place = if let end = offset ?? gathered.length { end } else { try Errno.of(file.length) }
        if bytes.count >= Self.directWrite {
            try flushChanges()
            try Errno.of(file.write(bytes, at: place))
            noteChange()
        } else {
            try gather(bytes, at: place, file)
        }
    }

    private func gather(_ bytes: UnsafeRawBufferPointer, at place: UInt64, _ file: SealedFile) throws(Errno) {
        // 16 TiB, the limit of the file format. Checked here so that the write fails, not the flush.
        guard place <= 1 << 44, UInt64(clamping: bytes.count) <= 1 << 44 - place else { throw Errno(EFBIG) }
        var done = 0
        while done < bytes.count {
            let next = place + UInt64(clamping: done)
            if !gathered.hasRoom(at: next) { try flushChanges() }
            done += try gathered.add(UnsafeRawBufferPointer(rebasing: bytes[done...]), at: next, over: file)
        }
    }

    /// Writes the collected data to the file below.
    private func flushChanges() throws(Errno) {
        guard !gathered.isEmpty else { return }
        let file = try usable()
        file.setDurability(isFresh ? .process : .power)
        try gathered.write(to: file)
        noteChange()
    }

    func flush() throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        try flushChanges()
    }

    /// Does the same as ``flush()`` for a program that closes the file, and throws if data were lost.
    ///
    /// The loss is kept and thrown again later: the kernel does not say which program closes. It may be a child before
    /// it runs another program; such a child closes inherited descriptors and ignores errors.
    func finish() throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        if let loss = gathered.loss { throw loss }
        try flushChanges()
    }

    /// Waits until all written data are on the disk.
    func synchronize() throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        if let loss = gathered.takeLoss() { throw loss }
        try flushChanges()
        guard let sealed else { return }
        try Errno.of(sealed.synchronize())
        isFresh = false
    }

    /// Changes the length of the data, even if the file is not open.
    func truncate(to length: UInt64) throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        if sealed != nil, isWritable { return try cut(to: length) }
        let file = try openBelow(writing: true)
        defer { file.close() }
        try Errno.of(file.truncate(to: length))
        noteChange()
    }

    private func cut(to length: UInt64) throws(Errno) {
        let file = try usable()
        if length == 0 { gathered.clear() } else { try flushChanges() }
        file.setDurability(isFresh ? .process : .power)
        try Errno.of(file.truncate(to: length))
        noteChange()
    }

    // MARK: Properties

    /// The properties of the file below.
    private var information: stat {
        get throws(Errno) {
            var information = stat()
            guard fstat(descriptor, &information) == 0 else { throw .last }
            return information
        }
    }

    /// Notes the program's own change, so that it does not drop the kernel's cache.
    private func noteChange() {
        guard let now = try? information else { return }
        cached = FileStamp(now)
    }

    /// Returns what programs see, and whether others changed the file below.
    ///
    /// - Parameter isFinal: Whether the times must not change any more. Then everything is written first.
    func attributes(isFinal: Bool) throws(Errno) -> (attributes: stat, isChanged: Bool) {
        lock.lock()
        defer { lock.unlock() }
        // The next fsync or close reports an error of this.
        if isFinal { try? flushChanges() }
        var information = try information
        let stamp = FileStamp(information)
        let isChanged = gathered.isEmpty && cached != nil && cached != stamp
        if isChanged { cached = stamp }
        information.st_size = Int(clamping: length(information, stamp))
        information.st_blksize = ChangedChunks.chunkSize
        return (information, isChanged)
    }

    private func length(_ information: stat, _ stamp: FileStamp) -> UInt64 {
        if let length = gathered.length { return length }
        if hasKey, let length = try? sealed?.length { return length }
        guard var info = info(stamp) else {
            return SealedFileInfo.length(ofFileSize: UInt64(clamping: max(0, information.st_size)))
        }
        // A change was interrupted. The length is known after it is finished.
        if info.fileSize != UInt64(clamping: information.st_size), sealed == nil,
            let file = try? openBelow(writing: true)
        {
            defer { file.close() }
            if let length = try? file.length { return length }
        }
        info = self.info(stamp) ?? info
        return info.length
    }

    /// Returns the file's header; nil if the file is not protected or may not be read.
    private func info(_ stamp: FileStamp) -> SealedFileInfo? {
        if let known, known.stamp == stamp { return known.info }
        guard let info = try? SealedFileInfo(path) else { return nil }
        known = (stamp, info)
        return info
    }

    /// The class of an open file.
    private var openClass: FileProtectionClass? {
        if hasKey, let found = try? sealed?.fileClass { return found }
        return try? SealedFileInfo(path).fileClass
    }

    var fileClass: FileProtectionClass {
        get throws(Errno) {
            lock.lock()
            defer { lock.unlock() }
            guard let found = openClass else { throw Errno(EIO) }
            return found
        }
    }

    func changeClass(to fileClass: FileProtectionClass) throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        try flushChanges()
        let file = try sealed != nil && isWritable ? usable() : openBelow(writing: true)
        defer { if file !== sealed { file.close() } }
        file.setDurability(.power)
        try Errno.of(file.changeClass(to: fileClass, keys: keys))
        known = nil
        noteChange()
    }

    /// Runs `body` after writing everything. `body` changes properties of the file below, but not its data.
    func settled(_ body: @autoclosure () throws(Errno) -> Void) throws(Errno) {
        lock.lock()
        defer { lock.unlock() }
        try flushChanges()
        try body()
        noteChange()
    }

    // MARK: Locking

    var isOpen: Bool {
        lock.lock()
        defer { lock.unlock() }
        return openCount > 0
    }

    /// Whether a program has the file open for writing.
    var isBeingWritten: Bool {
        lock.lock()
        defer { lock.unlock() }
        return sealed != nil && isWritable
    }

    /// Discards what the class does not allow while the vault is locked.
    ///
    /// - Parameter writing: Whether to write the collected data first.
    /// - Returns: Whether the kernel's cache of the file must be dropped, too.
    func discardKey(writing: Bool) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return discard(writing: writing)
    }

    /// Does the same for a file that no program writes to; nil if one does, or if an operation is running.
    func discardKeyIfIdle() -> Bool? {
        guard lock.lockIfAvailable() else { return nil }
        defer { lock.unlock() }
        return sealed != nil && isWritable ? nil : discard(writing: false)
    }

    private func discard(writing: Bool) -> Bool {
        let found = openClass
        // Also discards the key of an unreadable file: a program that damages the file below now and repairs it later
        // must not keep the key in memory.
        if found == .complete || found == nil {
            do throws(Errno) {
                if writing { try flushChanges() }
                if !gathered.isEmpty { gathered.lose(Errno(EBUSY)) }
            } catch {
                gathered.lose(error)
            }
            sealed?.discardKey()
            hasKey = false
        }
        return found == nil || found == .complete || found == .completeUnlessOpen && openCount == 0
    }
}

/// The size and time by which a change of a file below shows.
struct FileStamp: Equatable {
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ information: stat) {
        size = information.st_size
        (seconds, nanoseconds) = (information.st_mtim.tv_sec, information.st_mtim.tv_nsec)
    }
}
