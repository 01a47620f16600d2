import CSQLite
import DatabasePages
import Glibc
import KeychainModel

/// A connection's file of an encrypted database.
///
/// SQLite uses it from one thread at a time. Its lock is for those who take the key away meanwhile; the log and the journal of the
/// connection, which need key and index too, take the same one.
final class MainFile {
    let inner: FileSlot.File
    let place: RegisteredPlace
    let writing: Bool
    private let journalName: [CChar]
    private let logName: [CChar]
    private let mutex = FileLock()
    private(set) var descriptor: SharedDescriptor?
    /// Nil until the file is found not to be empty.
    var openPages: OpenPages?
    private var isRevoked = false

    /// Where SQLite keeps which connection is using the file.
    var connection: UnsafeMutablePointer<OpaquePointer?>?
    /// Whether that connection's temporary files are known to stay in memory.
    var temporaryFilesAreKept = false
    /// Whether a journal could still undo what was written to the file since the last flush, and with it this must not be in force.
    var journalIsLive = false
    /// The batch that the journal of the present transaction goes back to; 0 without one.
    var journalSequence: UInt64 = 0
    /// The pages that are in that journal, a bit for each.
    var journaledPages: [UInt64] = []
    /// The same of a transaction that somebody was interrupted in and that is being rolled back; 0 if none is.
    var interruptedSequence: UInt64 = 0
    /// Whether the file was cut since the last flush.
    var sizeChanged = false
    /// Whether the page that was read last lies behind the end of the file.
    var sealedIsPastEnd = false
    /// Whether the connection keeps a log, and has no journal.
    var logSeen = false
    /// Whether what is read from the log is on its way to the file, and the last frame of which that is true.
    var isCheckpointing = false
    var checkpointFrame: UInt32 = 0
    /// The frame of the log that was read last as a whole, to be given a new header.
    var wholeFrameRead: UInt32 = 0

    init(inner: FileSlot.File, place: RegisteredPlace, name: UnsafePointer<CChar>, writing: Bool) {
        (self.inner, self.place, self.writing) = (inner, place, writing)
        let path = String(cString: name)
        journalName = Array((path + "-journal").utf8CString)
        logName = Array((path + "-wal").utf8CString)
    }

    var path: String { place.path }

    /// Once the system's VFS has opened it: finds out whether it is a database of this key.
    func begin() throws(VFSFailure) {
        descriptor = try SharedDescriptor.acquire(path, writing: writing)
        place.add(self)
        OpenFiles.shared.add(self)
        mutex.lock()
        defer { mutex.unlock() }
        _ = try pages()
    }

    /// Before the system's VFS closes it.
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

    /// After that.
    func ended() {
        descriptor?.release()
        descriptor = nil
    }

    /// From any thread.
    func forgetKey() {
        mutex.lock()
        openPages = nil
        isRevoked = true
        mutex.unlock()
    }

    /// Notes why something failed and says it in SQLite's code.
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

    /// Before the journal or the log is removed.
    func willRemove(_ name: UnsafePointer<CChar>) -> Int32 {
        guarded { () throws(VFSFailure) in
            if strcmp(name, journalName) == 0 {
                try journalEnds()
            } else if lockLevel == SQLITE_LOCK_EXCLUSIVE, let pages = try pages() {
                // Only the last connection to close, or one that leaves the mode, removes a log; it is in the file then.
                try pages.noteLogEnds()
            }
            return SQLITE_OK
        }
    }

    private(set) var lockLevel = SQLITE_LOCK_NONE

    // MARK: State

    var number: Int32 { descriptor?.number ?? -1 }

    /// Key and index; nil while the file is empty.
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

    /// Key and index of a database that has pages.
    func existingPages() throws(VFSFailure) -> OpenPages {
        guard let pages = try pages() else { throw .notDatabase(path: path) }
        return pages
    }

    /// What the file begins with; nil for an empty one, and for one of which a power failure left zeros, which its journal will cut.
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

    /// Makes an empty file a database. SQLite has the file to itself.
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
        // First of all, so that whoever finds any page finds out how to open it.
        guard WholeAccess.write(number, header.bytes, DatabaseHeader.byteCount, at: 0) else {
            unlink(index.path)
            throw .system("write", path)
        }
        let pages = OpenPages(cipher: PageCipher(key: key, header: header), index: index)
        openPages = pages
        return pages
    }

    /// The database is gone: SQLite has cut the file to nothing.
    func forgetDatabase() {
        if let openPages { unlink(openPages.index.path) }
        openPages = nil
    }

    /// How many pages the file has.
    func pageCount(_ pages: OpenPages) throws(VFSFailure) -> UInt32 {
        var info = stat()
        guard fstat(number, &info) == 0 else { throw .system("read", path) }
        return UInt32(clamping: (Int64(info.st_size) + Int64(pages.size) - 1) / Int64(pages.size))
    }

    /// Puts what was written in force.
    func flush(durably: Bool) throws(VFSFailure) {
        guard let pages = openPages, writing else { return }
        guard durably || sizeChanged || pages.index.hasPending || interruptedSequence != 0 else { return }
        if interruptedSequence != 0 { try adoptFreePages(pages) }
        try pages.flush(pageCount: try pageCount(pages), durably: durably)
        (sizeChanged, interruptedSequence) = (false, 0)
    }

    /// The journal is about to be made void: from then on what was written is in force.
    func journalEnds() throws(VFSFailure) {
        if openPages == nil, journalIsLive, isRevoked { throw .revoked(path: path) }
        try flush(durably: false)
        (journalIsLive, journalSequence) = (false, 0)
    }

    /// What is sealed beside a page: which transaction overwrites it without a copy in a journal, 0 for all others.
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
                    // The next one to come plays the journal back, and what this connection knows of pages is void.
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

    /// A lock on the shared index of the log (xShmLock).
    func lockShared(_ offset: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
        // The locks of readers begin at 3; the first is that of readers of the file alone, which a checkpoint holds while it copies.
        let readers: Int32 = 3
        wholeFrameRead = 0
        if flags & SQLITE_SHM_UNLOCK != 0, flags & SQLITE_SHM_EXCLUSIVE != 0, offset == readers {
            // What SQLite is told of is the lock alone; pages that are not in force fail when they are read.
            _ = guarded { () throws(VFSFailure) in
                try flush(durably: false)
                return SQLITE_OK
            }
        }
        let code = inner.pointee.pMethods?.pointee.xShmLock?(inner, offset, count, flags) ?? SQLITE_IOERR
        if code == SQLITE_OK, flags & SQLITE_SHM_LOCK != 0 { transactionBegins() }
        return code
    }

    /// What other connections have put in force counts from here on.
    private func transactionBegins() {
        mutex.lock()
        openPages?.indexIsFresh = false
        mutex.unlock()
    }

    var characteristics: Int32 {
        // Nothing that would have SQLite leave out a journal or a sync, or trust in parts of sectors; and a power failure
        // changes no byte that was not being written, so that SQLite does not fill up sectors of a log.
        inner.characteristics() & (SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_IMMUTABLE)
            | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }
}
