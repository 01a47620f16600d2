import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database in SQLCipher's format.
///
/// The format seals each page alone. Nothing shows that a page is the last version of it.
final class CipherFile: DatabaseFile {
    private let cipher: CipherPlace
    private var contents = Contents.unread
    private var log: CipherLog?
    /// Whether SQLite copies frames of the log to the file. A page has the same form in both, so it stays sealed.
    private(set) var isCopyingFrames = false
    private var holdsWriterLock = false
    private var sharedIndex = SharedIndex()

    private enum Contents {
        /// Nobody has read the file, or it is empty.
        case unread
        case open(OpenCipher)
        /// The key was taken for good.
        case revoked
    }

    init(
        inner: FileSlot.File, place: RegisteredPlace, cipher: CipherPlace, name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) {
        self.cipher = cipher
        try super.init(inner: inner, place: place, name: name, writing: writing)
    }

    // MARK: Contents

    override func check() throws(VFSFailure) { _ = try opened() }

    override func forgetKey() {
        mutex.lock()
        contents = .revoked
        mutex.unlock()
    }

    override var reserved: Int { cipher.reserved }

    override func room() throws(VFSFailure) -> PageRoom? { try opened() }

    /// Returns what opens the pages; nil while the file is empty.
    func opened() throws(VFSFailure) -> OpenCipher? {
        switch contents {
        case .open(let open): return open
        case .revoked: throw .revoked(path: path)
        case .unread: break
        }
        guard let start = try readStart() else { return nil }
        if cipher.plainHeaderSize == 0, start == DatabaseHeader.plainMagic { throw .notEncrypted(path: path) }
        let open = OpenCipher(try cipher.pages(of: path, number))
        contents = .open(open)
        return open
    }

    /// Returns what opens the pages of a file that has pages.
    func existing() throws(VFSFailure) -> OpenCipher {
        guard let open = try opened() else { throw .notDatabase(path: path) }
        return open
    }

    /// Returns the first 16 bytes; nil for an empty file, and for zeros after a power failure, which the journal will
    /// cut.
    private func readStart() throws(VFSFailure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: DatabaseHeader.byteCount)
        guard WholeAccess.read(number, &bytes, bytes.count, at: 0) >= 0 else { throw .system("read", path) }
        return bytes.allSatisfy { $0 == 0 } ? nil : bytes
    }

    override func openJournal(_ inner: FileSlot.File, _ name: UnsafePointer<CChar>) -> VFSFile {
        CipherJournal(inner: inner, main: self, name: name)
    }

    override func openLog(
        _ inner: FileSlot.File, _ name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) -> VFSFile {
        try CipherLog(inner: inner, main: self, name: name, writing: writing)
    }

    override func use(_ log: LogFile?) {
        mutex.lock()
        self.log = log as? CipherLog
        mutex.unlock()
    }

    // MARK: Reading

    override func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        guard let open = try opened() else {
            memset(bytes, 0, count)
            return SQLiteCode.ioShortRead
        }
        if offset == 0, count == FileFormat.openingRead { return readOpening(bytes, count, open) }
        let page = UInt32(clamping: offset / Int64(open.size) + 1)
        let start = Int(offset % Int64(open.size))
        guard start + count <= open.size else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        if count == open.size { return try readPage(page, open, into: bytes) }
        if page == 1, start == 24, count == 16 { return try readChanges(bytes, open) }
        // SQLite reads the start of a page if it needs only that part (SQLITE_DIRECT_OVERFLOW_READ).
        let code = try readPage(page, open, into: open.clear)
        memcpy(bytes, open.clear + start, count)
        return code
    }

    /// Reads the first bytes before SQLite has a lock: the page may be half written, or about to be rolled back.
    private func readOpening(_ bytes: UnsafeMutableRawPointer, _ count: Int, _ open: OpenCipher) -> Int32 {
        let header = DatabaseHeader.synthetic(pageSize: open.size, reserved: open.pages.format.reserved)
        header.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(from: $0) }
        return SQLITE_OK
    }

    private func readPage(
        _ page: UInt32, _ open: OpenCipher, into bytes: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> Int32 {
        let got = WholeAccess.read(number, open.scratch, open.size, at: Int64(page - 1) * Int64(open.size))
        guard got >= 0 else { throw .system("read", path) }
        guard got == open.size else {
            memset(bytes, 0, open.size)
            return SQLiteCode.ioShortRead
        }
        try open.open(open.scratch, number: page, into: bytes)
        if page == 1 { keepChanges(of: bytes, open) }
        return SQLITE_OK
    }

    /// Reads the 16 bytes in which SQLite sees whether anything changed since its last transaction.
    private func readChanges(_ bytes: UnsafeMutableRawPointer, _ open: OpenCipher) throws(VFSFailure) -> Int32 {
        let reserved = open.pages.format.reserved
        let got = WholeAccess.read(number, open.scratch, reserved, at: Int64(open.size - reserved))
        guard got >= 0 else { throw .system("read", path) }
        let seal = UnsafeRawBufferPointer(start: open.scratch, count: reserved)
        if open.firstPage.map({ got == reserved && $0.seal.elementsEqual(seal) }) != true {
            open.firstPage = nil
            let code = try readPage(1, open, into: open.clear)
            guard code == SQLITE_OK else {
                memset(bytes, 0, 16)
                return code
            }
        }
        if var changes = open.firstPage?.changes { memcpy(bytes, &changes, 16) }
        return SQLITE_OK
    }

    /// Keeps the changes of a page whose seal is in the scratch memory.
    private func keepChanges(of page: UnsafeRawPointer, _ open: OpenCipher) {
        let sealed = UnsafeRawBufferPointer(start: open.scratch, count: open.size)
        open.firstPage = (
            Array(sealed.suffix(open.pages.format.reserved)),
            (
                page.loadUnaligned(fromByteOffset: 24, as: UInt64.self),
                page.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
            )
        )
    }

    // MARK: Writing

    override func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0, offset % Int64(count) == 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let open = if let present = try opened() { present } else { try create(pageSize: count) }
        guard count == open.size else { throw .pageSizeChange(from: open.size, to: count) }
        let page = UInt32(clamping: offset / Int64(open.size) + 1)
        if isCopyingFrames {
            if page == 1 { open.firstPage = nil }
            guard WholeAccess.write(number, bytes, count, at: offset) else { throw .system("write", path) }
            return SQLITE_OK
        }
        if page == 1 {
            let stated = Int(bytes.loadUnaligned(fromByteOffset: 16, as: UInt16.self).bigEndian)
            guard stated == count & 0xFFFF || stated == 1 && count == 65_536 else {
                throw .pageSizeChange(from: open.size, to: stated == 1 ? 65_536 : stated)
            }
        }
        try open.seal(bytes, number: page, into: open.scratch)
        guard WholeAccess.write(number, open.scratch, open.size, at: offset) else { throw .system("write", path) }
        if page == 1 { keepChanges(of: bytes, open) }
        return SQLITE_OK
    }

    /// Makes a database of an empty file. SQLite holds the file exclusively.
    private func create(pageSize: Int) throws(VFSFailure) -> OpenCipher {
        let open = OpenCipher(try cipher.newPages(of: path, pageSize: pageSize))
        contents = .open(open)
        return open
    }

    override func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        let code = inner.truncate(size)
        if code == SQLITE_OK, size == 0, case .open = contents { contents = .unread }
        return code
    }

    override func sync(_ flags: Int32) throws(VFSFailure) -> Int32 { inner.sync(flags) }

    // MARK: The log and its shared index

    override func transactionBegins() { log?.transactionBegins() }

    override func checkpointBegins() { isCopyingFrames = true }
    override func checkpointEnds() throws(VFSFailure) { isCopyingFrames = false }

    override func mapped(_ region: Int32, at address: UnsafeMutableRawPointer?) { sharedIndex.map(region, at: address) }

    override func unmapped() { sharedIndex = SharedIndex() }

    /// Returns the page in a frame according to the shared index; nil if the index is not mapped there.
    func page(inFrame frame: UInt32) -> UInt32? { sharedIndex.page(inFrame: frame) }

    override func sharedLockTaken(_ lock: SharedLock) {
        if lock.isWriters { holdsWriterLock = true }
    }

    override func sharedLockChanges(_ lock: SharedLock) throws(VFSFailure) {
        log?.wholeFrameRead = nil
        defer { if lock.isWriters, !lock.isTaken { holdsWriterLock = false } }
        guard lock.isWriters && !lock.isTaken || lockLevel == SQLITE_LOCK_EXCLUSIVE else { return }
        try mendSharedIndex(copies: 0...1)
    }

    override func sharedBarrier() throws(VFSFailure) {
        guard holdsWriterLock || lockLevel == SQLITE_LOCK_EXCLUSIVE else { return }
        try mendSharedIndex(copies: 1...1)
    }

    /// Puts the checksum of the last sealed frame into the shared index, where SQLite put that of the plaintext frame.
    /// Other connections continue the log from there.
    private func mendSharedIndex(copies: ClosedRange<Int>) throws(VFSFailure) {
        guard let log, let open = try opened() else { return }
        for copy in copies {
            try sharedIndex.mend(copy: copy) { (frame) throws(VFSFailure) in try log.stored(of: frame, open) }
        }
    }
}
