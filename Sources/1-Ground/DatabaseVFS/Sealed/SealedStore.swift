import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// The pages of one connection's database, in the form of this library.
final class SealedStore: PageStore {
    let file: OpenFile
    /// Nil after the key was taken for good.
    private var form: SealedForm?
    /// Nil if nobody has read the file, and while it is empty.
    private(set) var opened: OpenPages?
    /// The file beside the database that this connection uses.
    var sidecar = Sidecar.none

    init(_ file: OpenFile, _ form: SealedForm) { (self.file, self.form) = (file, form) }

    private var log: SealedLog? {
        if case .log(let log) = sidecar { log } else { nil }
    }

    func log(_ frames: LogFrames) -> any LogForm {
        let log = SealedLog(frames, of: self)
        sidecar = .log(log)
        return log
    }

    func journal(_ path: String) -> any JournalForm { SealedJournal(path, of: self) }

    // MARK: Contents

    func forgetKey() { (form, opened) = (nil, nil) }

    private func existingForm() throws(VFSFailure) -> SealedForm {
        guard let form else { throw .revoked(path: file.path) }
        return form
    }

    func open() throws(VFSFailure) -> PageRoom? { try pages()?.room }

    /// Returns cipher and index; nil while the file is empty.
    func pages() throws(VFSFailure) -> OpenPages? {
        if let opened { return opened }
        let key = try existingForm().key
        guard let start = try file.start() else { return nil }
        guard let header = start.withUnsafeBytes({ DatabaseHeader($0) }) else {
            throw start == DatabaseHeader.plainMagic ? .notEncrypted(path: file.path) : .notDatabase(path: file.path)
        }
        let index: PageIndex
        do throws(PageIndexError) {
            index = try PageIndex.open(
                PageIndex.path(ofDatabase: file.path, header.database), database: header.database, key: key,
                writing: file.isWritable)
        } catch {
            throw .index(error)
        }
        let pages = OpenPages(cipher: PageCipher(key: key, header: header), index: index)
        opened = pages
        return pages
    }

    /// Returns cipher and index of a database that has pages.
    func existingPages() throws(VFSFailure) -> OpenPages {
        guard let pages = try pages() else { throw .notDatabase(path: file.path) }
        return pages
    }

    /// Makes a database of an empty file. SQLite holds the file exclusively.
    func create(pageSize: Int) throws(VFSFailure) -> PageRoom {
        let form = try existingForm()
        guard let geometry = PageGeometry(pageSize: pageSize) else {
            throw .unexpectedAccess(operation: "write", offset: 0, count: pageSize)
        }
        let header = DatabaseHeader(geometry: geometry, database: form.creating ?? DatabaseID())
        var info = stat()
        guard fstat(file.number, &info) == 0 else { throw .system("read", file.path) }
        let index: PageIndex
        do throws(PageIndexError) {
            index = try PageIndex.create(
                PageIndex.path(ofDatabase: file.path, header.database), database: header.database, key: form.key,
                mode: info.st_mode & 0o777)
        } catch {
            throw .index(error)
        }
        // Written first, so that every page is found together with what opens it.
        do throws(VFSFailure) {
            try file.write(header.bytes, DatabaseHeader.byteCount, at: 0)
        } catch {
            unlink(index.path)
            throw error
        }
        let pages = OpenPages(cipher: PageCipher(key: form.key, header: header), index: index)
        opened = pages
        return pages.room
    }

    /// Forgets the database, after SQLite has cut the file to nothing.
    private func forgetDatabase() {
        if let opened { unlink(opened.index.path) }
        opened = nil
    }

    // MARK: Events

    func note(_ event: FileEvent) throws(VFSFailure) {
        switch event {
        case .transactionBegins, .sharedLockTaken: opened?.indexIsFresh = false
        case .commits, .closes: try flushUnlessJournaled()
        case .writingEnds(let level): try writingEnds(level)
        case .synced: try flush(durably: true)
        case .cut(to: 0): forgetDatabase()
        case .cut:
            opened?.wereCut = true
            // After a checkpoint, which may not be followed by a sync.
            if case .log = sidecar { try flush(durably: false) }
        case .journalEnds: try journalEnds()
        case .logOpens(let size): try checkLog(size: size)
        case .logEnds: try pages()?.noteLogEnds()
        case .logCloses: sidecar = .none
        case .checkpointBegins: log?.checkpointFrame = 0
        case .checkpointEnds: try checkpointEnds()
        case .sharedLockChanges(let lock): if lock.endsCheckpoint { try flush(durably: false) }
        case .sharedBarrier, .unmaps: break
        }
    }

    /// Returns the number of pages in the file.
    private func pageCount(_ pages: OpenPages) throws(VFSFailure) -> UInt32 {
        var info = stat()
        guard fstat(file.number, &info) == 0 else { throw .system("read", file.path) }
        return UInt32(clamping: (Int64(info.st_size) + Int64(pages.size) - 1) / Int64(pages.size))
    }

    /// Makes the written pages valid.
    private func flush(durably: Bool) throws(VFSFailure) {
        guard let pages = opened, file.isWritable else { return }
        if case .journal(.interrupted(let sequence)) = sidecar {
            try adoptFreePages(of: sequence, pages, count: try pageCount(pages))
        } else if !durably, !pages.wereCut, !pages.index.hasPending {
            return
        }
        try pages.flush(pageCount: try pageCount(pages), durably: durably)
        pages.wereCut = false
        if case .journal(.interrupted) = sidecar { sidecar = .journal(.playedBack) }
    }

    /// Makes the written pages valid if no journal could undo them.
    private func flushUnlessJournaled() throws(VFSFailure) {
        if case .journal = sidecar { return }
        try flush(durably: false)
    }

    /// Called before the journal becomes invalid. From then on the written pages are valid.
    private func journalEnds() throws(VFSFailure) {
        guard case .journal = sidecar else { return try flush(durably: false) }
        _ = try existingForm()
        try flush(durably: false)
        sidecar = .none
    }

    private func writingEnds(_ level: Int32) throws(VFSFailure) {
        guard case .journal = sidecar else { return try flush(durably: false) }
        guard level == SQLITE_LOCK_NONE else { return }
        // The next connection plays the journal back. This connection's pending versions are no longer valid.
        opened?.index.discardPending()
        sidecar = .none
    }

    private func checkpointEnds() throws(VFSFailure) {
        defer { log?.checkpointFrame = nil }
        guard let pages = opened, pages.index.hasPending else { return }
        try pages.flush(pageCount: nil, walFrames: log?.checkpointFrame ?? 0, durably: false)
    }

    /// Refuses a log that lacks frames of a part that was copied into the file.
    private func checkLog(size: Int64) throws(VFSFailure) {
        guard let pages = try pages() else { return }
        try pages.refresh()
        let frames = pages.index.walFrames
        if frames > 0, size < LogFrames.offset(of: frames + 1, pages.room) { throw .incompleteLog(frame: frames) }
    }
}
