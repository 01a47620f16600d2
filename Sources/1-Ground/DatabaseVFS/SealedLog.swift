import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A log in the format of this library.
///
/// A page is sealed together with the checksum of its frame, because the checksum would reveal something of the
/// contents. The seal binds the page to the plaintext of the frame's header.
final class SealedLog: LogFile {
    private let main: MainFile
    /// The last frame that a checkpoint has copied to the database's file; nil while there is no checkpoint.
    var checkpointFrame: UInt32?

    init(
        inner: FileSlot.File, main: MainFile, name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) {
        self.main = main
        try super.init(inner: inner, main: main, name: name, writing: writing)
    }

    // MARK: Reading

    override func readHeader(_ bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Int32 {
        let pages = try main.existingPages()
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

    override func readFrame(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64? {
        let pages = try main.existingPages()
        guard try readSealed(frame, pages) else { return nil }
        let header = FrameHeader(pages.scratch, checksum: 0)
        try pages.refreshOnce()
        if header.salts != pages.index.walSalts {
            try pages.refresh()
            guard header.salts == pages.index.walSalts else { throw .damagedFrame(frame: frame) }
        }
        do throws(VFSFailure) {
            return try pages.open(
                pages.scratch + FileFormat.frameHeader,
                at: .wal(page: header.page, frame: frame, commit: header.commit, salts: header.salts), into: page)
        } catch .page(.damaged) {
            throw .damagedFrame(frame: frame)
        }
    }

    override func readPage(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> Bool {
        guard try readFrame(frame, room, into: page) != nil else { return false }
        checkpointFrame = checkpointFrame.map { max($0, frame) }
        return true
    }

    override func readWholeFrame(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64? {
        do throws(VFSFailure) {
            return try readFrame(frame, room, into: page)
        } catch {
            guard case .damagedFrame = error else { throw error }
            guard frame > (try main.existingPages().index.walFrames) else { throw .incompleteLog(frame: frame) }
            return nil
        }
    }

    // MARK: Writing

    override func writeFrame(
        _ frame: UInt32, _ header: FrameHeader, _ page: UnsafeRawPointer, _ room: PageRoom
    ) throws(VFSFailure) {
        let pages = try main.existingPages()
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
        try writeSealed(frame, pages)
    }

    /// Begins a new log. Records it in the index first.
    override func writeHeader(_ bytes: UnsafeRawPointer) throws(VFSFailure) {
        let pages = try main.existingPages()
        try pages.refresh()
        let salts = bytes.bigEndian(at: FileFormat.logSalts, as: UInt64.self)
        if salts != pages.index.walSalts { try pages.noteLogBegins(salts: salts, over: try presentSalts(pages)) }
        guard WholeAccess.write(descriptor, bytes, FileFormat.logHeader, at: 0) else { throw .system("write", path) }
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

    // MARK: Size

    override func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        if size == 0, let pages = try main.pages() { try pages.noteLogEnds() }
        return inner.truncate(size)
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
