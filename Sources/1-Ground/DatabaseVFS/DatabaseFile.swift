import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database whose pages this VFS seals. Its form knows how.
///
/// SQLite uses it from one thread at a time. Its lock is for other threads that revoke the key meanwhile. The
/// connection's log and journal also need the key, and take the same lock.
final class DatabaseFile: VFSFile {
    let file: OpenFile
    let pages: any PageStore
    private let journalName: [CChar]
    private let logName: [CChar]
    let mutex = ThreadLock()
    /// The log that the connection uses.
    private var log: LogFile?
    /// The size of a page as long as the pages are open; 0 if it is not known. Used under the lock.
    private var pageSize = 0
    /// Nil until SQLite tells which connection uses the file.
    var connection: Connection?

    struct Connection {
        /// The place where SQLite stores the connection.
        let place: UnsafeMutablePointer<OpaquePointer?>
        /// Whether its temporary files are known to stay in memory.
        var keepsTemporaryFiles = false
    }

    /// Called after the system's VFS has opened the file.
    init(_ file: OpenFile, form: any PageForm, name: UnsafePointer<CChar>) {
        self.file = file
        pages = form.store(in: file)
        let path = String(cString: name)
        journalName = Array((path + "-journal").utf8CString)
        logName = Array((path + "-wal").utf8CString)
        file.place.add(self)
        OpenFiles.shared.add(self)
        // The place did not know of this file if the key was revoked a moment before.
        if file.place.isRevoked { forgetKey() }
    }

    private var inner: FileSlot.File { file.inner }
    var path: String { file.path }

    /// Checks that the file is a database of this key.
    func check() throws(VFSFailure) { _ = try pages.open() }

    func close() -> Int32 {
        _ = notify(.closes)
        OpenFiles.shared.remove(self)
        file.place.remove(self)
        forgetKey()
        return file.close()
    }

    /// Removes the key. Any thread may call it.
    func forgetKey() {
        mutex.lock()
        pageSize = 0
        pages.forgetKey()
        mutex.unlock()
    }

    // MARK: Failures and events

    /// Notes the reason of a failure and returns SQLite's code for it.
    func failed(_ failure: VFSFailure) -> Int32 {
        file.place.note(failure)
        return failure.code
    }

    /// Runs `body` under the lock.
    func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 {
        mutex.lock()
        defer { mutex.unlock() }
        do throws(VFSFailure) { return try body() } catch { return failed(error) }
    }

    func answer(_ body: @autoclosure () throws(VFSFailure) -> Void) -> Int32 {
        mutex.lock()
        defer { mutex.unlock() }
        do throws(VFSFailure) { try body() } catch { return failed(error) }
        return SQLITE_OK
    }

    func answerRead(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) -> Int32 {
        answer(try read(bytes, count, at: offset))
    }

    /// Tells the form of an event.
    func notify(_ event: FileEvent) -> Int32 { answer(try pages.note(event)) }

    // MARK: Reading and writing

    func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        // Most reads are of a whole page.
        if count == pageSize, offset & Int64(count - 1) == 0 {
            let page = UInt32(clamping: offset >> Int64(count.trailingZeroBitCount) + 1)
            return try pages.read(page, into: bytes) ? SQLITE_OK : shortRead(bytes, count)
        }
        let isOpening = offset == 0 && count == FileFormat.openingRead
        guard let room = try pages.open() else { return try readNothing(bytes, count, isOpening: isOpening) }
        pageSize = room.size
        if isOpening { return readOpening(bytes, count, room) }
        let page = UInt32(clamping: offset / Int64(room.size) + 1)
        let start = Int(offset % Int64(room.size))
        guard start + count <= room.size else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        if page == 1, start == 24, count == 16 {
            guard var changes = try pages.changes() else { return shortRead(bytes, count) }
            memcpy(bytes, &changes, count)
            return SQLITE_OK
        }
        if count == room.size { return try pages.read(page, into: bytes) ? SQLITE_OK : shortRead(bytes, count) }
        // SQLite reads the start of a page if it needs only that part (SQLITE_DIRECT_OVERFLOW_READ).
        guard try pages.read(page, into: room.clear) else { return shortRead(bytes, count) }
        memcpy(bytes, room.clear + start, count)
        return SQLITE_OK
    }

    /// Reads the first bytes before SQLite has a lock: the page may be half written, or about to be rolled back.
    private func readOpening(_ bytes: UnsafeMutableRawPointer, _ count: Int, _ room: PageRoom) -> Int32 {
        let header = DatabaseHeader.synthetic(pageSize: room.size, reserved: room.reserved)
        header.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(from: $0) }
        return SQLITE_OK
    }

    /// Reads from an empty file, or from a file that its journal will restore to empty.
    private func readNothing(
        _ bytes: UnsafeMutableRawPointer, _ count: Int, isOpening: Bool
    ) throws(VFSFailure) -> Int32 {
        var size: Int64 = 0
        // Zeros for the first bytes of all, so that a page size can still be chosen; see ``reserveBytesIfEmpty()``.
        guard isOpening || inner.size(&size) == SQLITE_OK && size == 0 else { throw .notDatabase(path: path) }
        return shortRead(bytes, count)
    }

    private func shortRead(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        memset(bytes, 0, count)
        return SQLiteCode.ioShortRead
    }

    func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0, offset % Int64(count) == 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let room = if let present = try pages.open() { present } else { try pages.create(pageSize: count) }
        guard count == room.size else { throw .pageSizeChange(from: room.size, to: count) }
        try pages.write(UInt32(clamping: offset / Int64(count) + 1), bytes)
        return SQLITE_OK
    }

    func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        pageSize = 0
        let code = inner.truncate(size)
        if code == SQLITE_OK { try pages.note(.cut(to: size)) }
        return code
    }

    func sync(_ flags: Int32) throws(VFSFailure) -> Int32 {
        let code = inner.sync(flags)
        if code == SQLITE_OK { try pages.note(.synced) }
        return code
    }

    func size(_ size: inout Int64) -> Int32 { inner.size(&size) }

    var sectorSize: Int32 { inner.sectorSize() }

    var characteristics: Int32 {
        // Removes what would make SQLite leave out a journal or a sync, or rely on parts of sectors. Says that a power
        // failure changes no byte outside of a write, so that SQLite does not fill up sectors of a log.
        inner.characteristics() & (SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_IMMUTABLE)
            | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }

    // MARK: The log and the journal

    /// Returns the log that the connection begins to use.
    func openLog(
        _ inner: FileSlot.File, _ name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) -> LogFile {
        let frames = try LogFrames(name, writing: writing)
        mutex.lock()
        defer { mutex.unlock() }
        let log = LogFile(inner: inner, main: self, frames: frames, form: pages.log(frames))
        self.log = log
        return log
    }

    /// Called when the log is closed.
    func endLog() {
        log = nil
        _ = notify(.logCloses)
    }

    func isSidecar(_ name: UnsafePointer<CChar>) -> Bool {
        strcmp(name, journalName) == 0 || strcmp(name, logName) == 0
    }

    /// Called before SQLite removes the journal or the log. Any thread may call it.
    func willRemove(_ name: UnsafePointer<CChar>) -> Int32 {
        if strcmp(name, journalName) == 0 { return notify(.journalEnds) }
        // Only the last connection removes a log, when it closes or leaves the mode.
        return answer(try file.lockLevel == SQLITE_LOCK_EXCLUSIVE ? pages.note(.logEnds) : ())
    }

    // MARK: Locks

    func lock(_ level: Int32) -> Int32 {
        if level == SQLITE_LOCK_SHARED, !keepsTemporaryFiles() {
            return failed(.attachedElsewhere(path: path))
        }
        let code = inner.lock(level)
        guard code == SQLITE_OK else { return code }
        if file.lockLevel == SQLITE_LOCK_NONE { _ = notify(.transactionBegins) }
        file.lockLevel = max(file.lockLevel, level)
        if level == SQLITE_LOCK_SHARED { reserveBytesIfEmpty() }
        return code
    }

    func unlock(_ level: Int32) -> Int32 {
        if file.isWritable, level <= SQLITE_LOCK_SHARED, file.lockLevel > SQLITE_LOCK_SHARED {
            let code = notify(.writingEnds(level: level))
            if code != SQLITE_OK {
                _ = inner.unlock(level)
                file.lockLevel = level
                return code
            }
        }
        let code = inner.unlock(level)
        if code == SQLITE_OK { file.lockLevel = min(file.lockLevel, level) }
        return code
    }

    /// Takes or releases a lock on the shared index of the log (xShmLock).
    func lockShared(_ offset: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
        let lock = SharedLock(offset: offset, count: count, flags: flags)
        log?.wholeFrameRead = nil
        guard willChange(lock) else { return SQLITE_BUSY }
        let code = inner.pointee.pMethods?.pointee.xShmLock?(inner, offset, count, flags) ?? SQLITE_IOERR
        if code == SQLITE_OK, lock.isTaken { _ = notify(.sharedLockTaken(lock)) }
        return code
    }

    /// Returns whether the lock may change.
    private func willChange(_ lock: SharedLock) -> Bool {
        mutex.lock()
        defer { mutex.unlock() }
        guard pages.admits(lock) else { return false }
        // SQLite gets only the result of the lock. Pages that are not valid fail when they are read.
        do throws(VFSFailure) { try pages.note(.sharedLockChanges(lock)) } catch { _ = failed(error) }
        return true
    }

    func mapShared(
        _ region: Int32, _ size: Int32, _ extend: Int32,
        _ address: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        let code = inner.pointee.pMethods?.pointee.xShmMap?(inner, region, size, extend, address) ?? SQLITE_IOERR
        guard code == SQLITE_OK, let address, let memory = address.pointee else { return code }
        mutex.lock()
        defer { mutex.unlock() }
        do throws(VFSFailure) { address.pointee = try pages.mapped(region, at: memory) } catch { return failed(error) }
        return SQLITE_OK
    }

    func unmapShared(_ remove: Int32) -> Int32 {
        _ = notify(.unmaps)
        return inner.pointee.pMethods?.pointee.xShmUnmap?(inner, remove) ?? SQLITE_OK
    }

    /// A write to the shared index that is complete in memory before the next one (xShmBarrier).
    func placeBarrier() {
        if pages.watchesSharedIndex { _ = notify(.sharedBarrier) }
        inner.pointee.pMethods?.pointee.xShmBarrier?(inner)
    }
}

/// A change of locks on the shared index of the log (xShmLock).
package struct SharedLock {
    // Lock 0 is the writer's. The readers' locks begin at 3. The first of them is for readers of the file only, and a
    // checkpoint holds it while it copies (https://sqlite.org/walformat.html, 2.3).
    private let offset: Int32
    private let count: Int32
    private let flags: Int32

    init(offset: Int32, count: Int32, flags: Int32) { (self.offset, self.count, self.flags) = (offset, count, flags) }

    /// One bit for each of the locks.
    package var bits: UInt32 { ((1 << UInt32(clamping: count)) - 1) << UInt32(clamping: offset) }

    package var isTaken: Bool { flags & SQLITE_SHM_LOCK != 0 }
    package var isWriters: Bool { offset == 0 && flags & SQLITE_SHM_EXCLUSIVE != 0 }
    package var endsCheckpoint: Bool { offset == 3 && flags & SQLITE_SHM_EXCLUSIVE != 0 && !isTaken }
}
