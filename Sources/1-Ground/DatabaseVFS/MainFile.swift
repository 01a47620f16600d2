import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database in the format of this library (Documentation/Specify/Formats/Databases.md).
final class MainFile: DatabaseFile {
    private var contents = Contents.unread
    /// The file beside the database that this connection uses.
    var sidecar = Sidecar.none

    private enum Contents {
        /// Nobody has read the file, or it is empty.
        case unread
        case open(OpenPages)
        /// The key was taken for good.
        case revoked
    }

    var openPages: OpenPages? {
        if case .open(let pages) = contents { pages } else { nil }
    }

    var log: SealedLog? {
        if case .log(let log) = sidecar { log } else { nil }
    }

    override func check() throws(VFSFailure) { _ = try pages() }

    override var reserved: Int { PageGeometry.reserved }

    override func room() throws(VFSFailure) -> PageRoom? { try pages() }

    override func openJournal(_ inner: FileSlot.File, _ name: UnsafePointer<CChar>) -> VFSFile {
        SealedJournal(inner: inner, main: self, name: name)
    }

    override func openLog(
        _ inner: FileSlot.File, _ name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) -> VFSFile {
        try SealedLog(inner: inner, main: self, name: name, writing: writing)
    }

    override func close() -> Int32 {
        _ = answer(try flushUnlessJournaled())
        return super.close()
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

    // MARK: Ending

    override func forgetKey() {
        mutex.lock()
        contents = .revoked
        mutex.unlock()
    }

    /// Notes that the log is in the file, because only the last connection removes a log, when it closes or leaves the
    /// mode.
    override func willRemoveLog() throws(VFSFailure) {
        if lockLevel == SQLITE_LOCK_EXCLUSIVE { try pages()?.noteLogEnds() }
    }

    override func willRemoveJournal() throws(VFSFailure) { try journalEnds() }

    override func use(_ log: LogFile?) {
        mutex.lock()
        sidecar = (log as? SealedLog).map { .log($0) } ?? .none
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

    override func writingEnds(_ level: Int32) throws(VFSFailure) {
        guard case .journal = sidecar else { return try flush(durably: false) }
        guard level == SQLITE_LOCK_NONE else { return }
        // The next connection plays the journal back. This connection's pending versions are no longer valid.
        openPages?.index.discardPending()
        sidecar = .none
    }

    override func sharedLockChanges(_ lock: SharedLock) throws(VFSFailure) {
        log?.wholeFrameRead = nil
        if lock.endsCheckpoint { try flush(durably: false) }
    }

    override func checkpointBegins() { log?.checkpointFrame = 0 }

    override func checkpointEnds() throws(VFSFailure) {
        defer { log?.checkpointFrame = nil }
        guard let pages = openPages, pages.index.hasPending else { return }
        try pages.flush(pageCount: nil, walFrames: log?.checkpointFrame ?? 0, durably: false)
    }

    override func commits() throws(VFSFailure) { try flushUnlessJournaled() }

    override func transactionBegins() { openPages?.indexIsFresh = false }
}
