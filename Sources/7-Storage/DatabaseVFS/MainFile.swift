import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of an encrypted database.
///
/// SQLite uses it from one thread at a time. Its lock is for other threads that revoke the key meanwhile. The
/// connection's log and journal also need key and index, and take the same lock.
final class MainFile {
    let inner: FileSlot.File
    let place: RegisteredPlace
    let writing: Bool
    private let journalName: [CChar]
    private let logName: [CChar]
    private let mutex = FileLock()
    private(set) var descriptor: SharedDescriptor?
    /// Nil until the file is found to be not empty.
    var openPages: OpenPages?
    private var isRevoked = false

    /// The place where SQLite stores the connection that uses the file.
    var connection: UnsafeMutablePointer<OpaquePointer?>?
    /// Whether that connection's temporary files are known to stay in memory.
    var temporaryFilesAreKept = false
    /// Whether a journal could still undo the writes since the last flush. Then they must not become valid yet.
    var journalIsLive = false
    /// The batch from which the present transaction's journal started; 0 without one.
    var journalSequence: UInt64 = 0
    /// The pages in that journal, one bit for each.
    var journaledPages: [UInt64] = []
    /// The same batch for an interrupted transaction that is being rolled back; 0 if there is none.
    var interruptedSequence: UInt64 = 0
    /// Whether the file was cut since the last flush.
    var sizeChanged = false
    /// Whether the last page that was read is after the end of the file.
    var sealedIsPastEnd = false
    /// Whether the connection uses a log and therefore no journal.
    var logSeen = false
    /// Whether a checkpoint is copying frames of the log to the file, and the last frame that it read.
    var isCheckpointing = false
    var checkpointFrame: UInt32 = 0
    /// The frame of the log that was last read as a whole, before it gets a new header.
    var wholeFrameRead: UInt32 = 0

    init(inner: FileSlot.File, place: RegisteredPlace, name: UnsafePointer<CChar>, writing: Bool) {
        (self.inner, self.place, self.writing) = (inner, place, writing)
        let path = String(cString: name)
        journalName = Array((path + "-journal").utf8CString)
        logName = Array((path + "-wal").utf8CString)
    }

    var path: String { place.path }

    /// Checks that the file is a database of this key. Called after the system's VFS has opened the file.
    func begin() throws(VFSFailure) {
        descriptor = try SharedDescriptor.acquire(path, writing: writing)
        place.add(self)
        OpenFiles.shared.add(self)
        mutex.lock()
        defer { mutex.unlock() }
        _ = try pages()
    }

    /// Called before the system's VFS closes the file.
    func end() {
        _ = guarded { () throws(VFSFailure) in
            if !journalIsLive { try flush(durably: false) }
            return SQLITE_OK
        }
        OpenFiles.shared.remove(self)
        place.remove(self)
        mutex.lock()
        openPages = nil
        mutex.unlock()
    }

    /// Called after the system's VFS has closed the file.
    func ended() {
        descriptor?.release()
        descriptor = nil
    }

    /// Removes the key. Any thread may call it.
    func forgetKey() {
        mutex.lock()
        openPages = nil
        isRevoked = true
        mutex.unlock()
    }

    /// Notes the reason of a failure and returns SQLite's code for it.
    func failed(_ failure: VFSFailure) -> Int32 {
        place.note(failure)
        return failure.code
    }

    @inline(__always)
    func guarded(_ body: () throws(VFSFailure) -> Int32) -> Int32 {
        mutex.lock()
        defer { mutex.unlock() }
        do throws(VFSFailure) { return try body() } catch { return failed(error) }
    }

    func isSidecar(_ name: UnsafePointer<CChar>) -> Bool {
        strcmp(name, journalName) == 0 || strcmp(name, logName) == 0
    }

    /// Called before SQLite removes the journal or the log.
    func willRemove(_ name: UnsafePointer<CChar>) -> Int32 {
        guarded { () throws(VFSFailure) in
            if strcmp(name, journalName) == 0 {
                try journalEnds()
            } else if lockLevel == SQLITE_LOCK_EXCLUSIVE, let pages = try pages() {
                // Only the last connection removes a log when it closes or leaves the mode. The log is in the file
                // then.
                try pages.noteLogEnds()
            }
            return SQLITE_OK
        }
    }

    private(set) var lockLevel = SQLITE_LOCK_NONE

    // MARK: State

    var number: Int32 { descriptor?.number ?? -1 }

    /// Returns cipher and index; nil while the file is empty.
    func pages() throws(VFSFailure) -> OpenPages? {
        if let openPages { return openPages }
        guard !isRevoked, let key = place.key else { throw .revoked(path: path) }
        guard let header = try header() else { return nil }
        let index: PageIndex
        do throws(PageIndexError) {
            index = try PageIndex.open(
                PageIndex.path(ofDatabase: path, header.database), database: header.database, key: key, writing: writing
            )
        } catch {
            throw .index(error)
        }
        openPages = OpenPages(cipher: PageCipher(key: key, header: header), index: index)
        return openPages
    }

    /// Returns cipher and index of a database that has pages.
    func existingPages() throws(VFSFailure) -> OpenPages {
        guard let pages = try pages() else { throw .notDatabase(path: path) }
        return pages
    }

    /// Returns the header of the file; nil for an empty file, and for zeros after a power failure, which the journal
    /// will cut.
    private func header() throws(VFSFailure) -> DatabaseHeader? {
        var bytes = [UInt8](repeating: 0, count: DatabaseHeader.byteCount)
        let count = WholeAccess.read(number, &bytes, bytes.count, at: 0)
        guard count >= 0 else { throw .system("read", path) }
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = bytes.withUnsafeBytes({ DatabaseHeader($0) }) else {
            throw bytes == DatabaseHeader.plainMagic ? .notEncrypted(path: path) : .notDatabase(path: path)
        }
        return header
    }

    /// Makes a database of an empty file. SQLite holds the file exclusively.
    func create(pageSize: Int) throws(VFSFailure) -> OpenPages {
        guard !isRevoked, let key = place.key else { throw .revoked(path: path) }
        guard let geometry = PageGeometry(pageSize: pageSize) else {
            throw .unexpectedAccess(operation: "write", offset: 0, count: pageSize)
        }
        let header = DatabaseHeader(geometry: geometry, database: place.newDatabase)
        var info = stat()
        guard fstat(number, &info) == 0 else { throw .system("read", path) }
        let index: PageIndex
        do throws(PageIndexError) {
            index = try PageIndex.create(
                PageIndex.path(ofDatabase: path, header.database), database: header.database, key: key,
                mode: info.st_mode & 0o777)
        } catch {
            throw .index(error)
        }
        // Written first, so that every page is found together with what opens it.
        guard WholeAccess.write(number, header.bytes, DatabaseHeader.byteCount, at: 0) else {
            unlink(index.path)
            throw .system("write", path)
        }
        let pages = OpenPages(cipher: PageCipher(key: key, header: header), index: index)
        openPages = pages
        return pages
    }

    /// Forgets the database, after SQLite has cut the file to nothing.
    func forgetDatabase() {
        if let openPages { unlink(openPages.index.path) }
        openPages = nil
    }

    /// Returns the number of pages in the file.
    func pageCount(_ pages: OpenPages) throws(VFSFailure) -> UInt32 {
        var info = stat()
        guard fstat(number, &info) == 0 else { throw .system("read", path) }
        return UInt32(clamping: (Int64(info.st_size) + Int64(pages.size) - 1) / Int64(pages.size))
    }

    /// Makes the written pages valid.
    func flush(durably: Bool) throws(VFSFailure) {
        guard let pages = openPages, writing else { return }
        guard durably || sizeChanged || pages.index.hasPending || interruptedSequence != 0 else { return }
        if interruptedSequence != 0 { try adoptFreePages(pages) }
        try pages.flush(pageCount: try pageCount(pages), durably: durably)
        (sizeChanged, interruptedSequence) = (false, 0)
    }

    /// Called before the journal becomes invalid. From then on the written pages are valid.
    func journalEnds() throws(VFSFailure) {
        if openPages == nil, journalIsLive, isRevoked { throw .revoked(path: path) }
        try flush(durably: false)
        (journalIsLive, journalSequence) = (false, 0)
    }

    /// Returns the extra bytes for a page: the batch that the transaction started from if no journal has a copy of the
    /// page, otherwise 0.
    func extra(ofPage page: UInt32) -> UInt64 {
        guard journalSequence != 0, interruptedSequence == 0 else { return 0 }
        let (word, bit) = Int(page).quotientAndRemainder(dividingBy: 64)
        return word < journaledPages.count && journaledPages[word] & 1 << UInt64(bit) != 0 ? 0 : journalSequence
    }

    func noteJournaled(_ page: UInt32) {
        let (word, bit) = Int(page).quotientAndRemainder(dividingBy: 64)
        if word >= journaledPages.count {
            journaledPages.append(contentsOf: repeatElement(0, count: word + 1 - journaledPages.count))
        }
        journaledPages[word] |= 1 << UInt64(bit)
    }

    // MARK: Locks

    func lock(_ level: Int32) -> Int32 {
        if level == SQLITE_LOCK_SHARED, !keepsTemporaryFiles() {
            return failed(.attachedElsewhere(path: path))
        }
        let code = inner.lock(level)
        guard code == SQLITE_OK else { return code }
        if lockLevel == SQLITE_LOCK_NONE { transactionBegins() }
        lockLevel = max(lockLevel, level)
        if level == SQLITE_LOCK_SHARED { reserveBytesIfEmpty() }
        return code
    }

    func unlock(_ level: Int32) -> Int32 {
        if writing, level <= SQLITE_LOCK_SHARED, lockLevel > SQLITE_LOCK_SHARED {
            let code = guarded { () throws(VFSFailure) in
                if !journalIsLive {
                    try flush(durably: false)
                } else if level == SQLITE_LOCK_NONE {
                    // The next connection plays the journal back. This connection's pending versions are no longer
                    // valid.
                    openPages?.index.discardPending()
                    (journalIsLive, journalSequence, interruptedSequence) = (false, 0, 0)
                }
                return SQLITE_OK
            }
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

    /// Takes or releases a lock on the shared index of the log (xShmLock).
    func lockShared(_ offset: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
        // The readers' locks begin at 3. The first one is for readers of the file only. A checkpoint holds it while it
        // copies.
        let readers: Int32 = 3
        wholeFrameRead = 0
        if flags & SQLITE_SHM_UNLOCK != 0, flags & SQLITE_SHM_EXCLUSIVE != 0, offset == readers {
            // SQLite gets only the result of the lock. Pages that are not valid fail when they are read.
            _ = guarded { () throws(VFSFailure) in
                try flush(durably: false)
                return SQLITE_OK
            }
        }
        let code = inner.pointee.pMethods?.pointee.xShmLock?(inner, offset, count, flags) ?? SQLITE_IOERR
        if code == SQLITE_OK, flags & SQLITE_SHM_LOCK != 0 { transactionBegins() }
        return code
    }

    /// From here on, the changes of other connections count.
    private func transactionBegins() {
        mutex.lock()
        openPages?.indexIsFresh = false
        mutex.unlock()
    }

    var characteristics: Int32 {
        // Removes what would make SQLite leave out a journal or a sync, or rely on parts of sectors. Says that a power
        // failure changes no byte outside of a write, so that SQLite does not fill up sectors of a log.
        inner.characteristics() & (SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_IMMUTABLE)
            | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }
}
