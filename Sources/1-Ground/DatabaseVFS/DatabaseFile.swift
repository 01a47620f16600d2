import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database whose pages this VFS seals. A subclass for each format knows how.
///
/// SQLite uses it from one thread at a time. Its lock is for other threads that revoke the key meanwhile. The
/// connection's log and journal also need the key, and take the same lock.
class DatabaseFile: VFSFile {
    let inner: FileSlot.File
    let place: RegisteredPlace
    let writing: Bool
    private let journalName: [CChar]
    private let logName: [CChar]
    private let descriptor: SharedDescriptor
    let mutex = ThreadLock()
    private(set) var lockLevel = SQLITE_LOCK_NONE
    /// Nil until SQLite tells which connection uses the file.
    var connection: Connection?

    struct Connection {
        /// The place where SQLite stores the connection.
        let place: UnsafeMutablePointer<OpaquePointer?>
        /// Whether its temporary files are known to stay in memory.
        var keepsTemporaryFiles = false
    }

    /// Called after the system's VFS has opened the file.
    init(
        inner: FileSlot.File, place: RegisteredPlace, name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) {
        descriptor = try SharedDescriptor.acquire(place.path, writing: writing)
        (self.inner, self.place, self.writing) = (inner, place, writing)
        let path = String(cString: name)
        journalName = Array((path + "-journal").utf8CString)
        logName = Array((path + "-wal").utf8CString)
        super.init()
        place.add(self)
        OpenFiles.shared.add(self)
    }

    var path: String { place.path }
    var number: Int32 { descriptor.number }

    override func close() -> Int32 {
        OpenFiles.shared.remove(self)
        place.remove(self)
        forgetKey()
        let code = inner.close()
        descriptor.release()
        return code
    }

    override func size(_ size: inout Int64) -> Int32 { inner.size(&size) }

    // MARK: For each format

    /// Checks that the file is a database of this key.
    func check() throws(VFSFailure) {}

    /// Removes the key. Any thread may call it.
    func forgetKey() {}

    /// The bytes that each page of a new database reserves.
    var reserved: Int { 0 }

    /// Returns what seals the pages of the file, with room for them; nil while the file is empty and has no page size.
    func room() throws(VFSFailure) -> PageRoom? { nil }

    func openJournal(_ inner: FileSlot.File, _ name: UnsafePointer<CChar>) -> VFSFile { VFSFile() }

    func openLog(
        _ inner: FileSlot.File, _ name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) -> VFSFile { VFSFile() }

    /// Called when the connection begins to use a log, and with nil when it ends that.
    func use(_ log: LogFile?) {}

    /// Called before SQLite removes the journal or the log. Any thread may call it.
    func willRemoveJournal() throws(VFSFailure) {}
    func willRemoveLog() throws(VFSFailure) {}

    /// Makes the next read look for changes of other connections.
    func transactionBegins() {}

    /// Called before the lock for writing goes down to `level`.
    func writingEnds(_ level: Int32) throws(VFSFailure) {}

    /// Called when a checkpoint begins, and when it ends.
    func checkpointBegins() {}
    func checkpointEnds() throws(VFSFailure) {}

    /// Called when a transaction is written to the file, before SQLite releases its locks.
    func commits() throws(VFSFailure) {}

    /// Called before a lock on the shared index of the log changes.
    func sharedLockChanges(_ lock: SharedLock) throws(VFSFailure) {}

    /// Called after the connection has taken a lock on the shared index of the log.
    func sharedLockTaken(_ lock: SharedLock) {}

    /// Called when SQLite has written to the shared index of the log, or is about to read it.
    func sharedBarrier() throws(VFSFailure) {}

    /// Called when SQLite maps a part of the shared index of the log, and before it unmaps all of it.
    func mapped(_ region: Int32, at address: UnsafeMutableRawPointer?) {}
    func unmapped() {}

    // MARK: Failures

    /// Notes the reason of a failure and returns SQLite's code for it.
    func failed(_ failure: VFSFailure) -> Int32 {
        place.note(failure)
        return failure.code
    }

    /// Runs `body` under the lock.
    override func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 {
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

    func isSidecar(_ name: UnsafePointer<CChar>) -> Bool {
        strcmp(name, journalName) == 0 || strcmp(name, logName) == 0
    }

    /// Called before SQLite removes the journal or the log. Any thread may call it.
    func willRemove(_ name: UnsafePointer<CChar>) -> Int32 {
        if strcmp(name, journalName) == 0 { answer(try willRemoveJournal()) } else { answer(try willRemoveLog()) }
    }

    // MARK: Locks

    func lock(_ level: Int32) -> Int32 {
        if level == SQLITE_LOCK_SHARED, !keepsTemporaryFiles() {
            return failed(.attachedElsewhere(path: path))
        }
        let code = inner.lock(level)
        guard code == SQLITE_OK else { return code }
        if lockLevel == SQLITE_LOCK_NONE { beginTransaction() }
        lockLevel = max(lockLevel, level)
        if level == SQLITE_LOCK_SHARED { reserveBytesIfEmpty() }
        return code
    }

    func unlock(_ level: Int32) -> Int32 {
        if writing, level <= SQLITE_LOCK_SHARED, lockLevel > SQLITE_LOCK_SHARED {
            let code = answer(try writingEnds(level))
            if code != SQLITE_OK {
                _ = inner.unlock(level)
                lockLevel = level
                return code
            }
        }
        let code = inner.unlock(level)
        if code == SQLITE_OK { lockLevel = min(lockLevel, level) }
        return code
    }

    private func beginTransaction() {
        mutex.lock()
        transactionBegins()
        mutex.unlock()
    }

    /// A change of locks on the shared index of the log (xShmLock).
    struct SharedLock {
        // Lock 0 is the writer's. The readers' locks begin at 3. The first of them is for readers of the file only, and
        // a checkpoint holds it while it copies (https://sqlite.org/walformat.html, 2.3).
        private let offset: Int32
        private let flags: Int32

        init(offset: Int32, flags: Int32) { (self.offset, self.flags) = (offset, flags) }

        var isTaken: Bool { flags & SQLITE_SHM_LOCK != 0 }
        var isWriters: Bool { offset == 0 && flags & SQLITE_SHM_EXCLUSIVE != 0 }
        var endsCheckpoint: Bool { offset == 3 && flags & SQLITE_SHM_EXCLUSIVE != 0 && !isTaken }
    }

    /// Takes or releases a lock on the shared index of the log (xShmLock).
    func lockShared(_ offset: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
        let lock = SharedLock(offset: offset, flags: flags)
        // SQLite gets only the result of the lock. Pages that are not valid fail when they are read.
        _ = answer(try sharedLockChanges(lock))
        let code = inner.pointee.pMethods?.pointee.xShmLock?(inner, offset, count, flags) ?? SQLITE_IOERR
        if code == SQLITE_OK, lock.isTaken {
            beginTransaction()
            sharedLockTaken(lock)
        }
        return code
    }

    func mapShared(
        _ region: Int32, _ size: Int32, _ extend: Int32,
        _ address: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        let code = inner.pointee.pMethods?.pointee.xShmMap?(inner, region, size, extend, address) ?? SQLITE_IOERR
        if code == SQLITE_OK { mapped(region, at: address?.pointee) }
        return code
    }

    func unmapShared(_ remove: Int32) -> Int32 {
        unmapped()
        return inner.pointee.pMethods?.pointee.xShmUnmap?(inner, remove) ?? SQLITE_OK
    }

    /// A write to the shared index that is complete in memory before the next one (xShmBarrier).
    func placeBarrier() {
        _ = answer(try sharedBarrier())
        inner.pointee.pMethods?.pointee.xShmBarrier?(inner)
    }

    override var sectorSize: Int32 { inner.sectorSize() }

    override var characteristics: Int32 {
        // Removes what would make SQLite leave out a journal or a sync, or rely on parts of sectors. Says that a power
        // failure changes no byte outside of a write, so that SQLite does not fill up sectors of a log.
        inner.characteristics() & (SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_IMMUTABLE)
            | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }
}
