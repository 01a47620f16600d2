import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of an encrypted database.
///
/// SQLite uses it from one thread at a time. Its lock is for other threads that revoke the key meanwhile. The
/// connection's log and journal also need key and index, and take the same lock.
final class MainFile: VFSFile {
    let inner: FileSlot.File
    let place: RegisteredPlace
    let writing: Bool
    private let journalName: [CChar]
    private let logName: [CChar]
    private let descriptor: SharedDescriptor
    private let mutex = ThreadLock()
    private var contents = Contents.unread
    /// The file beside the database that this connection uses.
    var sidecar = Sidecar.none
    private(set) var lockLevel = SQLITE_LOCK_NONE
    /// Nil until SQLite tells which connection uses the file.
    var connection: Connection?

    private enum Contents {
        /// Nobody has read the file, or it is empty.
        case unread
        case open(OpenPages)
        /// The key was taken for good.
        case revoked
    }

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

    var openPages: OpenPages? {
        if case .open(let pages) = contents { pages } else { nil }
    }

    var log: LogFile? {
        if case .log(let log) = sidecar { log } else { nil }
    }

    /// Checks that the file is a database of this key.
    func check() throws(VFSFailure) { _ = try pages() }

    override func close() -> Int32 {
        _ = answer(try flushUnlessJournaled())
        OpenFiles.shared.remove(self)
        place.remove(self)
        forgetKey()
        let code = inner.close()
        descriptor.release()
        return code
    }

    // MARK: Reading and writing

    override func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        try readPages(bytes, count, at: offset)
    }

    override func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        try writePage(bytes, count, at: offset)
        return SQLITE_OK
    }

    override func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        let code = inner.truncate(size)
        guard code == SQLITE_OK else { return code }
        guard size != 0 else {
            forgetDatabase()
            return SQLITE_OK
        }
        openPages?.wereCut = true
        // After a checkpoint, which may not be followed by a sync.
        if case .log = sidecar { try flush(durably: false) }
        return SQLITE_OK
    }

    override func sync(_ flags: Int32) throws(VFSFailure) -> Int32 {
        let code = inner.sync(flags)
        guard code == SQLITE_OK else { return code }
        try flush(durably: true)
        return SQLITE_OK
    }

    override func size(_ size: inout Int64) -> Int32 { inner.size(&size) }

    // MARK: Ending

    /// Removes the key. Any thread may call it.
    func forgetKey() {
        mutex.lock()
        contents = .revoked
        mutex.unlock()
    }

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
        if strcmp(name, journalName) == 0 { answer(try journalEnds()) } else { answer(try logEnds()) }
    }

    /// Notes that the log is in the file, because only the last connection removes a log, when it closes or leaves the
    /// mode.
    private func logEnds() throws(VFSFailure) {
        if lockLevel == SQLITE_LOCK_EXCLUSIVE { try pages()?.noteLogEnds() }
    }

    /// Called when the connection begins to use a log, and with nil when it ends that.
    func use(_ log: LogFile?) {
        mutex.lock()
        sidecar = log.map { .log($0) } ?? .none
        mutex.unlock()
    }

    // MARK: Contents

    private func key() throws(VFSFailure) -> SecretBytes {
        if case .revoked = contents { throw .revoked(path: path) }
        guard let key = place.key else { throw .revoked(path: path) }
        return key
    }

    /// Returns cipher and index; nil while the file is empty.
    func pages() throws(VFSFailure) -> OpenPages? {
        if let openPages { return openPages }
        let key = try key()
        guard let header = try header() else { return nil }
        let index: PageIndex
        do throws(PageIndexError) {
            index = try PageIndex.open(
                PageIndex.path(ofDatabase: path, header.database), database: header.database, key: key, writing: writing
            )
        } catch {
            throw .index(error)
        }
        let pages = OpenPages(cipher: PageCipher(key: key, header: header), index: index)
        contents = .open(pages)
        return pages
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
        let key = try key()
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
        contents = .open(pages)
        return pages
    }

    /// Forgets the database, after SQLite has cut the file to nothing.
    private func forgetDatabase() {
        guard case .open(let pages) = contents else { return }
        unlink(pages.index.path)
        contents = .unread
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
        if case .journal(.interrupted(let sequence)) = sidecar {
            try adoptFreePages(of: sequence, pages)
        } else if !durably, !pages.wereCut, !pages.index.hasPending {
            return
        }
        try pages.flush(pageCount: try pageCount(pages), durably: durably)
        pages.wereCut = false
        if case .journal(.interrupted) = sidecar { sidecar = .journal(.playedBack) }
    }

    /// Makes the written pages valid if no journal could undo them.
    func flushUnlessJournaled() throws(VFSFailure) {
        if case .journal = sidecar { return }
        try flush(durably: false)
    }

    /// Called before the journal becomes invalid. From then on the written pages are valid.
    func journalEnds() throws(VFSFailure) {
        guard case .journal = sidecar else { return try flush(durably: false) }
        if case .revoked = contents { throw .revoked(path: path) }
        try flush(durably: false)
        sidecar = .none
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

    /// Called before the lock for writing goes down to `level`.
    private func writingEnds(_ level: Int32) throws(VFSFailure) {
        guard case .journal = sidecar else { return try flush(durably: false) }
        guard level == SQLITE_LOCK_NONE else { return }
        // The next connection plays the journal back. This connection's pending versions are no longer valid.
        openPages?.index.discardPending()
        sidecar = .none
    }

    /// Takes or releases a lock on the shared index of the log (xShmLock).
    func lockShared(_ offset: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
        // The readers' locks begin at 3. The first one is for readers of the file only. A checkpoint holds it while it
        // copies.
        let readers: Int32 = 3
        let endsCheckpoint = flags & SQLITE_SHM_UNLOCK != 0 && flags & SQLITE_SHM_EXCLUSIVE != 0 && offset == readers
        // SQLite gets only the result of the lock. Pages that are not valid fail when they are read.
        _ = answer(try logLockChanges(endsCheckpoint))
        let code = inner.pointee.pMethods?.pointee.xShmLock?(inner, offset, count, flags) ?? SQLITE_IOERR
        if code == SQLITE_OK, flags & SQLITE_SHM_LOCK != 0 { transactionBegins() }
        return code
    }

    private func logLockChanges(_ endsCheckpoint: Bool) throws(VFSFailure) {
        log?.wholeFrameRead = nil
        if endsCheckpoint { try flush(durably: false) }
    }

    /// Makes the next read look for changes of other connections.
    private func transactionBegins() {
        mutex.lock()
        openPages?.indexIsFresh = false
        mutex.unlock()
    }

    override var sectorSize: Int32 { inner.sectorSize() }

    override var characteristics: Int32 {
        // Removes what would make SQLite leave out a journal or a sync, or rely on parts of sectors. Says that a power
        // failure changes no byte outside of a write, so that SQLite does not fill up sectors of a log.
        inner.characteristics() & (SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | SQLITE_IOCAP_IMMUTABLE)
            | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }
}
