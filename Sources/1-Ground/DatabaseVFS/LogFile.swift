import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database's write-ahead log (https://sqlite.org/fileformat2.html, 4.1).
///
/// Everything has the offset that SQLite gives it. A frame is written as a whole: its header is held back until its
/// page comes. Page number, size after commit and salts are plaintext, and the seal binds the page to them. The
/// checksum is sealed, because it would reveal something of the contents.
final class LogFile: VFSFile {
    let inner: FileSlot.File
    let main: MainFile
    let path: String
    /// May be closed at any time, because no connection locks a log.
    private let descriptor: Int32
    /// The frame whose header is held back.
    private var held: (frame: UInt32, header: FrameHeader)?
    /// The frame that was last read as a whole, before it gets a new header.
    var wholeFrameRead: UInt32?
    /// The last frame that a checkpoint has copied to the database's file; nil while there is no checkpoint.
    var checkpointFrame: UInt32?

    private struct FrameHeader {
        let page: UInt32
        let commit: UInt32
        let checksum: UInt64
    }

    init(
        inner: FileSlot.File, main: MainFile, name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) {
        (self.inner, self.main) = (inner, main)
        path = String(cString: name)
        descriptor = open(name, (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .system("open", path) }
        super.init()
        main.use(self)
    }

    override func close() -> Int32 {
        main.use(nil)
        CLibrary.close(descriptor)
        return inner.close()
    }

    override func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 { main.answer(try body()) }

    override var sectorSize: Int32 { inner.sectorSize() }

    override var characteristics: Int32 { main.characteristics }

    /// Returns the offset of a frame. Frames count from 1.
    private func offset(of frame: UInt32, _ pages: OpenPages) -> Int64 {
        Int64(FileFormat.logHeader) + Int64(frame - 1) * Int64(FileFormat.frameHeader + pages.size)
    }

    /// Returns the frame at an offset, and the position in it.
    private func place(of offset: Int64, _ pages: OpenPages) -> (frame: UInt32, start: Int) {
        let (frame, start) = (offset - Int64(FileFormat.logHeader)).quotientAndRemainder(
            dividingBy: Int64(FileFormat.frameHeader + pages.size))
        return (UInt32(clamping: frame + 1), Int(start))
    }

    // MARK: Reading

    override func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0, held == nil else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        let pages = try main.existingPages()
        if offset + Int64(count) <= Int64(FileFormat.logHeader) {
            return offset == 0 && count == FileFormat.logHeader
                ? try readHeader(bytes, pages) : try readAsIs(bytes, count, at: offset)
        }
        let (frame, start) = place(of: offset, pages)
        switch (start, count) {
        case (FileFormat.frameHeader, pages.size):
            guard try readFrame(frame, pages, into: bytes) != nil else {
                memset(bytes, 0, count)
                return SQLiteCode.ioShortRead
            }
            checkpointFrame = checkpointFrame.map { max($0, frame) }
        case (0, FileFormat.frameHeader + pages.size):
            return try readWholeFrame(frame, pages, into: bytes)
        case (FileFormat.frameChecksum, 8):
            guard let checksum = try readFrame(frame, pages, into: pages.clear) else {
                throw .damagedFrame(frame: frame)
            }
            bytes.store(bigEndian: checksum, at: 0)
        default:
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        return SQLITE_OK
    }

    private func readAsIs(
        _ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64
    ) throws(VFSFailure) -> Int32 {
        let got = WholeAccess.read(descriptor, bytes, count, at: offset)
        guard got >= 0 else { throw .system("read", path) }
        guard got < count else { return SQLITE_OK }
        memset(bytes + got, 0, count - got)
        return SQLiteCode.ioShortRead
    }

    /// Reads the header, when SQLite looks for the contents of the log.
    private func readHeader(_ bytes: UnsafeMutableRawPointer, _ pages: OpenPages) throws(VFSFailure) -> Int32 {
        let code = try readAsIs(bytes, FileFormat.logHeader, at: 0)
        try pages.refresh()
        let isLog = UnsafeRawPointer(bytes).bigEndian(at: 0, as: UInt32.self) & ~1 == FileFormat.logMagic
        let standing: PageIndex.LogStanding =
            isLog
            ? pages.index.standing(ofWAL: UnsafeRawPointer(bytes).bigEndian(at: FileFormat.logSalts, as: UInt64.self))
            : .finished
        switch standing {
        case .current: return code
        case .foreign: throw .foreignLog(path: path)
        case .finished:
            // Nothing in the log is valid. Then no frame of a present log may be in the file.
            guard pages.index.walFrames == 0 else { throw .incompleteLog(frame: 1) }
            memset(bytes, 0, FileFormat.logHeader)
            return code
        }
    }

    /// Reads a valid page.
    ///
    /// - Returns: The checksum of its frame; nil after the end of the log.
    private func readFrame(
        _ frame: UInt32, _ pages: OpenPages, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64? {
        let count = FileFormat.frameHeader + pages.size
        let got = WholeAccess.read(descriptor, pages.scratch, count, at: offset(of: frame, pages))
        guard got >= 0 else { throw .system("read", path) }
        guard got == count else { return nil }
        let header = UnsafeRawPointer(pages.scratch)
        let salts = header.bigEndian(at: FileFormat.frameSalts, as: UInt64.self)
        try pages.refreshOnce()
        if salts != pages.index.walSalts {
            try pages.refresh()
            guard salts == pages.index.walSalts else { throw .damagedFrame(frame: frame) }
        }
        do throws(VFSFailure) {
            return try pages.open(
                header + FileFormat.frameHeader,
                at: .wal(
                    page: header.bigEndian(at: 0, as: UInt32.self), frame: frame,
                    commit: header.bigEndian(at: 4, as: UInt32.self), salts: salts),
                into: page)
        } catch .page(.damaged) {
            throw .damagedFrame(frame: frame)
        }
    }

    /// Reads a frame with its header. SQLite does this when it looks for the contents of the log, and before it writes
    /// a new header for the frame.
    private func readWholeFrame(
        _ frame: UInt32, _ pages: OpenPages, into bytes: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> Int32 {
        let count = FileFormat.frameHeader + pages.size
        do throws(VFSFailure) {
            guard let checksum = try readFrame(frame, pages, into: bytes + FileFormat.frameHeader) else {
                memset(bytes, 0, count)
                return SQLiteCode.ioShortRead
            }
            memcpy(bytes, pages.scratch, FileFormat.frameChecksum)
            bytes.store(bigEndian: checksum, at: FileFormat.frameChecksum)
            wholeFrameRead = frame
            return SQLITE_OK
        } catch {
            guard case .damagedFrame = error else { throw error }
            // As with SQLite's own checksum, the log ends before the first incomplete frame. Zeros are not a frame.
            guard frame > pages.index.walFrames else { throw .incompleteLog(frame: frame) }
            memset(bytes, 0, count)
            return SQLITE_OK
        }
    }

    // MARK: Writing

    override func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let pages = try main.existingPages()
        if offset == 0, count == FileFormat.logHeader {
            held = nil
            return try writeHeader(bytes, pages)
        }
        guard offset >= Int64(FileFormat.logHeader) else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let (frame, start) = place(of: offset, pages)
        let (former, read) = (held, wholeFrameRead)
        (held, wholeFrameRead) = (nil, nil)
        switch (start, count) {
        case (0, FileFormat.frameHeader):
            let header = FrameHeader(
                page: bytes.bigEndian(at: 0, as: UInt32.self), commit: bytes.bigEndian(at: 4, as: UInt32.self),
                checksum: bytes.bigEndian(at: FileFormat.frameChecksum, as: UInt64.self))
            if read == frame {
                // Writes another header for a frame whose page SQLite has just read.
                guard try readFrame(frame, pages, into: pages.clear) != nil else {
                    throw .damagedFrame(frame: frame)
                }
                try writeFrame(frame, header, pages.clear, pages)
            } else {
                held = (frame, header)
            }
        case (FileFormat.frameHeader, pages.size):
            if let former, former.frame == frame {
                try writeFrame(frame, former.header, bytes, pages)
                break
            }
            // Replaces the page in a frame of the same transaction. SQLite writes a new header before it commits.
            guard let checksum = try readFrame(frame, pages, into: pages.clear) else {
                throw .damagedFrame(frame: frame)
            }
            let present = UnsafeRawPointer(pages.scratch)
            let header = FrameHeader(
                page: present.bigEndian(at: 0, as: UInt32.self), commit: present.bigEndian(at: 4, as: UInt32.self),
                checksum: checksum)
            try writeFrame(frame, header, bytes, pages)
        default:
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        return SQLITE_OK
    }

    private func writeFrame(
        _ frame: UInt32, _ header: FrameHeader, _ page: UnsafeRawPointer, _ pages: OpenPages
    ) throws(VFSFailure) {
        try pages.refreshOnce()
        // SQLite leaves the salts out while it still has to rewrite headers.
        let salts = pages.index.walSalts
        let sealed = pages.scratch
        sealed.store(bigEndian: header.page, at: 0)
        sealed.store(bigEndian: header.commit, at: 4)
        sealed.store(bigEndian: salts, at: FileFormat.frameSalts)
        sealed.store(bigEndian: 0 as UInt64, at: FileFormat.frameChecksum)
        _ = try pages.seal(
            page, extra: header.checksum,
            at: .wal(page: header.page, frame: frame, commit: header.commit, salts: salts),
            into: sealed + FileFormat.frameHeader)
        guard
            WholeAccess.write(descriptor, sealed, FileFormat.frameHeader + pages.size, at: offset(of: frame, pages))
        else { throw .system("write", path) }
    }

    /// Begins a new log. Records it in the index first.
    private func writeHeader(_ bytes: UnsafeRawPointer, _ pages: OpenPages) throws(VFSFailure) -> Int32 {
        try pages.refresh()
        let salts = bytes.bigEndian(at: FileFormat.logSalts, as: UInt64.self)
        if salts != pages.index.walSalts { try pages.noteLogBegins(salts: salts, over: try presentSalts(pages)) }
        guard WholeAccess.write(descriptor, bytes, FileFormat.logHeader, at: 0) else { throw .system("write", path) }
        return SQLITE_OK
    }

    /// Returns the salts in the present header; 0 if there is none.
    private func presentSalts(_ pages: OpenPages) throws(VFSFailure) -> UInt64 {
        let got = WholeAccess.read(descriptor, pages.scratch, FileFormat.logHeader, at: 0)
        guard got >= 0 else { throw .system("read", path) }
        let header = UnsafeRawPointer(pages.scratch)
        guard got == FileFormat.logHeader, header.bigEndian(at: 0, as: UInt32.self) & ~1 == FileFormat.logMagic else {
            return 0
        }
        return header.bigEndian(at: FileFormat.logSalts, as: UInt64.self)
    }

    // MARK: Size and durability

    override func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        if size == 0, let pages = try main.pages() { try pages.noteLogEnds() }
        return inner.truncate(size)
    }

    override func sync(_ flags: Int32) throws(VFSFailure) -> Int32 {
        guard held == nil else { throw .unexpectedAccess(operation: "sync", offset: 0, count: 0) }
        return inner.sync(flags)
    }

    /// Checks the size before SQLite reads the contents of the log.
    override func size(_ size: inout Int64) throws(VFSFailure) -> Int32 {
        var bytes: Int64 = 0
        let code = inner.size(&bytes)
        size = bytes
        guard code == SQLITE_OK else { return code }
        guard let pages = try main.pages() else { return SQLITE_OK }
        try pages.refresh()
        let frames = pages.index.walFrames
        if frames > 0, bytes < offset(of: frames + 1, pages) { throw .incompleteLog(frame: frames) }
        return SQLITE_OK
    }
}
