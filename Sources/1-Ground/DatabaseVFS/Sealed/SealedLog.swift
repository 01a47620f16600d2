import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A log in the format of this library.
///
/// A page is sealed together with the checksum of its frame, because the checksum would reveal something of the
/// contents. The seal binds the page to the plaintext of the frame's header.
final class SealedLog: LogForm {
    private let frames: LogFrames
    private let main: SealedStore
    /// The last frame that a checkpoint has copied to the database's file; nil while there is no checkpoint.
    var checkpointFrame: UInt32?

    init(_ frames: LogFrames, of main: SealedStore) { (self.frames, self.main) = (frames, main) }

    // MARK: Reading

    func readHeader(_ bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Int32 {
        let pages = try main.existingPages()
        let code = try frames.read(bytes, FileFormat.logHeader, at: 0)
        try pages.refresh()
        let isLog = UnsafeRawPointer(bytes).bigEndian(at: 0, as: UInt32.self) & ~1 == FileFormat.logMagic
        let standing: PageIndex.LogStanding =
            isLog
            ? pages.index.standing(ofWAL: UnsafeRawPointer(bytes).bigEndian(at: FileFormat.logSalts, as: UInt64.self))
            : .finished
        switch standing {
        case .current: return code
        case .foreign: throw .foreignLog(path: frames.path)
        case .finished:
            // Nothing in the log is valid. Then no frame of a present log may be in the file.
            guard pages.index.walFrames == 0 else { throw .incompleteLog(frame: 1) }
            memset(bytes, 0, FileFormat.logHeader)
            return code
        }
    }

    func readFrame(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt64? {
        let pages = try main.existingPages()
        let sealed = pages.room.scratch
        guard try frames.readSealed(frame, pages.room) else { return nil }
        let header = FrameHeader(sealed)
        try pages.refreshOnce()
        if header.salts != pages.index.walSalts {
            try pages.refresh()
            guard header.salts == pages.index.walSalts else { throw .damagedFrame(frame: frame) }
        }
        do throws(VFSFailure) {
            return try pages.open(
                sealed + FileFormat.frameHeader,
                at: .wal(page: header.page, frame: frame, commit: header.commit, salts: header.salts), into: page)
        } catch .page(.damaged) {
            throw .damagedFrame(frame: frame)
        }
    }

    func readPage(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> Bool {
        guard try readFrame(frame, into: page) != nil else { return false }
        checkpointFrame = checkpointFrame.map { max($0, frame) }
        return true
    }

    func readWholeFrame(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt64? {
        do throws(VFSFailure) {
            return try readFrame(frame, into: page)
        } catch {
            guard case .damagedFrame = error else { throw error }
            guard frame > (try main.existingPages().index.walFrames) else { throw .incompleteLog(frame: frame) }
            return nil
        }
    }

    func checksum(of frame: UInt32) throws(VFSFailure) -> UInt64? {
        try readFrame(frame, into: try main.existingPages().room.clear)
    }

    // MARK: Writing

    func writeFrame(
        _ frame: UInt32, _ header: FrameHeader, _ page: UnsafeRawPointer
    ) throws(VFSFailure) {
        let pages = try main.existingPages()
        try pages.refreshOnce()
        // SQLite leaves the salts out while it still has to rewrite headers.
        let salts = pages.index.walSalts
        let sealed = pages.room.scratch
        header.store(to: sealed, salts: salts, checksum: 0)
        _ = try pages.seal(
            page, extra: header.checksum,
            at: .wal(page: header.page, frame: frame, commit: header.commit, salts: salts),
            into: sealed + FileFormat.frameHeader)
        try frames.writeSealed(frame, pages.room)
    }

    func rewriteHeader(_ frame: UInt32, _ header: FrameHeader) throws(VFSFailure) {
        let page = try main.existingPages().room.clear
        guard try readFrame(frame, into: page) != nil else { throw .damagedFrame(frame: frame) }
        try writeFrame(frame, header, page)
    }

    /// Begins a new log. Records it in the index first.
    func writeHeader(_ bytes: UnsafeRawPointer) throws(VFSFailure) {
        let pages = try main.existingPages()
        try pages.refresh()
        let salts = bytes.bigEndian(at: FileFormat.logSalts, as: UInt64.self)
        if salts != pages.index.walSalts { try pages.noteLogBegins(salts: salts, over: try presentSalts(pages)) }
        try frames.write(bytes, FileFormat.logHeader, at: 0)
    }

    /// Returns the salts in the present header; 0 if there is none.
    private func presentSalts(_ pages: OpenPages) throws(VFSFailure) -> UInt64 {
        let header = UnsafeRawPointer(pages.room.scratch)
        guard try frames.read(pages.room.scratch, FileFormat.logHeader, at: 0) == SQLITE_OK,
            header.bigEndian(at: 0, as: UInt32.self) & ~1 == FileFormat.logMagic
        else { return 0 }
        return header.bigEndian(at: FileFormat.logSalts, as: UInt64.self)
    }
}
