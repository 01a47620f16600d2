import Bytes
import CSQLite
import DatabasePages
import DatabaseVFS

/// The pages of one connection's database, in SQLCipher's form.
///
/// The form seals each page alone. Nothing shows that a page is the last version of it.
final class CipherStore: PageStore {
    private let file: OpenFile
    /// Nil after the key was taken for good.
    private var form: CipherPlace?
    /// Nil if nobody has read the file, and while it is empty.
    private var opened: OpenCipher?
    private var log: CipherLog?
    /// Whether SQLite copies frames of the log to the file. A page has the same form in both, so it stays sealed.
    private(set) var isCopyingFrames = false
    private var sharedIndex = SharedIndex()
    /// The connection's locks on the shared index, one bit for each.
    private var sharedLocks: UInt32 = 0
    /// Whether SQLite, which has no lock, has just read one copy of the shared index's header from before a change.
    private var readsFormerHeader = false

    init(_ file: OpenFile, _ form: CipherPlace) { (self.file, self.form) = (file, form) }

    func log(_ frames: LogFrames) -> any LogForm {
        let log = CipherLog(frames, of: self)
        self.log = log
        return log
    }

    func journal(_ path: String) -> any JournalForm { CipherJournal(of: self) }

    // MARK: Contents

    func forgetKey() { (form, opened) = (nil, nil) }

    private func existingForm() throws(VFSFailure) -> CipherPlace {
        guard let form else { throw .revoked(path: file.path) }
        return form
    }

    func open() throws(VFSFailure) -> PageRoom? { try pages()?.room }

    /// Returns what opens the pages; nil while the file is empty.
    private func pages() throws(VFSFailure) -> OpenCipher? {
        if let opened { return opened }
        let form = try existingForm()
        guard let start = try file.start() else { return nil }
        if form.plainHeaderSize == 0, start == DatabaseHeader.plainMagic { throw .notEncrypted(path: file.path) }
        let pages = OpenCipher(try form.pages(of: file.path, file.number))
        opened = pages
        return pages
    }

    /// Returns what opens the pages of a file that has pages.
    func existing() throws(VFSFailure) -> OpenCipher {
        guard let pages = try pages() else { throw .notDatabase(path: file.path) }
        return pages
    }

    func create(pageSize: Int) throws(VFSFailure) -> PageRoom {
        let pages = OpenCipher(try existingForm().newPages(of: file.path, pageSize: pageSize))
        opened = pages
        return pages.room
    }

    // MARK: Reading and writing

    func read(_ page: UInt32, into bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Bool {
        let pages = try existing()
        let room = pages.room
        guard try file.read(page, room, into: room.scratch) == room.size else { return false }
        try pages.open(room.scratch, number: page, into: bytes)
        if page == 1 { keepChanges(of: bytes, pages) }
        return true
    }

    func changes() throws(VFSFailure) -> (UInt64, UInt64)? {
        let pages = try existing()
        let room = pages.room
        let got = try file.read(room.scratch, room.reserved, at: Int64(room.size - room.reserved))
        let seal = UnsafeRawBufferPointer(start: room.scratch, count: room.reserved)
        if let known = pages.firstPage, got == room.reserved, known.seal.elementsEqual(seal) { return known.changes }
        pages.firstPage = nil
        return try read(1, into: room.clear) ? pages.firstPage?.changes : nil
    }

    /// Keeps the changes of a page whose seal is in the scratch memory.
    private func keepChanges(of page: UnsafeRawPointer, _ pages: OpenCipher) {
        let sealed = UnsafeRawBufferPointer(start: pages.room.scratch, count: pages.room.size)
        pages.firstPage = FirstPage(page, seal: Array(sealed.suffix(pages.room.reserved)))
    }

    func write(_ page: UInt32, _ bytes: UnsafeRawPointer) throws(VFSFailure) {
        let pages = try existing()
        let room = pages.room
        if isCopyingFrames {
            if page == 1 { pages.firstPage = nil }
            return try file.write(page, room, bytes)
        }
        if page == 1 { try room.check(firstPage: bytes) }
        try pages.seal(bytes, number: page, into: room.scratch)
        try file.write(page, room, room.scratch)
        if page == 1 { keepChanges(of: bytes, pages) }
    }

    // MARK: The log and its shared index

    func note(_ event: FileEvent) throws(VFSFailure) {
        switch event {
        case .transactionBegins: log?.transactionBegins()
        case .cut(to: 0): opened = nil
        case .logCloses: log = nil
        case .checkpointBegins: isCopyingFrames = true
        case .checkpointEnds: isCopyingFrames = false
        case .unmaps:
            mergeSharedIndex()
            sharedIndex = SharedIndex()
        case .sharedLockTaken(let lock):
            log?.transactionBegins()
            sharedLocks |= lock.bits
            mergeSharedIndex()
            if lock.isWriters { sharedIndex.beginWriting() }
        case .sharedLockChanges(let lock):
            mergeSharedIndex()
            if !lock.isTaken { sharedLocks &= ~lock.bits }
        case .sharedBarrier: readsFormerHeader = mergeSharedIndex() && sharedLocks == 0
        case .commits, .writingEnds, .synced, .cut, .closes, .journalEnds, .logOpens, .logEnds: break
        }
    }

    /// Returns the page in a frame according to the shared index; nil if the index is not mapped there.
    func page(inFrame frame: UInt32) -> UInt32? { sharedIndex.page(inFrame: frame) }

    var watchesSharedIndex: Bool { true }

    /// The checksum of the last sealed frame for other connections. They continue the log from there.
    func lastFrame(_ frame: UInt32) -> (salts: UInt64, checksum: LogChecksum)? { sharedIndex.lastFrame(frame) }

    func mapped(_ region: Int32, at address: UnsafeMutableRawPointer) throws(VFSFailure) -> UnsafeMutableRawPointer {
        guard let memory = sharedIndex.map(region, at: address) else { throw .page(.memoryUnavailable) }
        return memory
    }

    /// SQLite takes copies of the header that differ for the work of a writer, and asks for the writer's lock to find
    /// out. It reads them again if the lock is taken. With the lock it would stand in the way of a real writer.
    func admits(_ lock: SharedLock) -> Bool {
        defer { readsFormerHeader = false }
        return !(readsFormerHeader && lock.isWriters && lock.isTaken)
    }

    /// Returns whether SQLite gets another header. See ``SharedIndex/merge(_:)``.
    @discardableResult
    private func mergeSharedIndex() -> Bool {
        // Without the checksum of its last frame, the header is as SQLite made it. Then nobody continues the log from
        // the header.
        sharedIndex.merge { frame, pageSize in try? log?.stored(of: frame, pageSize) }
    }
}
