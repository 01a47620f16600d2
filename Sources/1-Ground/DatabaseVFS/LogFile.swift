import Bytes
import CLibrary
import CSQLite

/// A connection's file of a database's write-ahead log (https://sqlite.org/fileformat2.html, 4.1).
///
/// Everything has the offset that SQLite gives it. A frame is written as a whole, with its page sealed: its header is
/// held back until its page comes. Page number, size after commit and salts are plaintext. A form knows how a frame is
/// sealed, and which frames are valid.
final class LogFile: VFSFile {
    private let inner: FileSlot.File
    private let main: DatabaseFile
    private let frames: LogFrames
    private let form: any LogForm
    /// The frame whose header is held back.
    private var held: (frame: UInt32, header: FrameHeader)?
    /// The frame that was last read as a whole, before it gets a new header.
    var wholeFrameRead: UInt32?

    init(inner: FileSlot.File, main: DatabaseFile, frames: LogFrames, form: any LogForm) {
        (self.inner, self.main, self.frames, self.form) = (inner, main, frames, form)
    }

    func close() -> Int32 {
        main.endLog()
        frames.close()
        return inner.close()
    }

    func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 { main.answer(try body()) }

    var sectorSize: Int32 { inner.sectorSize() }

    var characteristics: Int32 { main.characteristics }

    /// Returns the frame at an offset, and the position in it.
    private func place(of offset: Int64, _ room: PageRoom) -> (frame: UInt32, start: Int) {
        let (frame, start) = (offset - Int64(FileFormat.logHeader)).quotientAndRemainder(
            dividingBy: Int64(FileFormat.frameHeader + room.size))
        return (UInt32(clamping: frame + 1), Int(start))
    }

    private func existingRoom() throws(VFSFailure) -> PageRoom {
        guard let room = try main.pages.open() else { throw .notDatabase(path: main.path) }
        return room
    }

    // MARK: Reading

    func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0, held == nil else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        let room = try existingRoom()
        if offset + Int64(count) <= Int64(FileFormat.logHeader) {
            return offset == 0 && count == FileFormat.logHeader
                ? try form.readHeader(bytes) : try frames.read(bytes, count, at: offset)
        }
        let (frame, start) = place(of: offset, room)
        switch (start, count) {
        case (FileFormat.frameHeader, room.size):
            guard try form.readPage(frame, into: bytes) else {
                memset(bytes, 0, count)
                return SQLiteCode.ioShortRead
            }
        case (0, FileFormat.frameHeader + room.size):
            guard let checksum = try form.readWholeFrame(frame, into: bytes + FileFormat.frameHeader) else {
                memset(bytes, 0, count)
                // The log ends before the first frame that is not valid, as with SQLite's own checksum. Zeros are not a
                // frame.
                return SQLITE_OK
            }
            memcpy(bytes, room.scratch, FileFormat.frameChecksum)
            bytes.store(bigEndian: checksum, at: FileFormat.frameChecksum)
            wholeFrameRead = frame
        case (FileFormat.frameChecksum, 8):
            guard let checksum = try form.checksum(of: frame) else { throw .damagedFrame(frame: frame) }
            bytes.store(bigEndian: checksum, at: 0)
        default:
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        return SQLITE_OK
    }

    // MARK: Writing

    func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let room = try existingRoom()
        if offset == 0, count == FileFormat.logHeader {
            held = nil
            try form.writeHeader(bytes)
            return SQLITE_OK
        }
        guard offset >= Int64(FileFormat.logHeader) else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let (frame, start) = place(of: offset, room)
        let (former, read) = (held, wholeFrameRead)
        (held, wholeFrameRead) = (nil, nil)
        switch (start, count) {
        case (0, FileFormat.frameHeader):
            let header = FrameHeader(bytes)
            if read == frame {
                try form.rewriteHeader(frame, header)
            } else {
                held = (frame, header)
            }
        case (FileFormat.frameHeader, room.size):
            if let former, former.frame == frame {
                try form.writeFrame(frame, former.header, bytes)
                break
            }
            // Replaces the page in a frame of the same transaction. SQLite writes a new header before it commits.
            guard let checksum = try form.readFrame(frame, into: room.clear) else {
                throw .damagedFrame(frame: frame)
            }
            try form.writeFrame(frame, FrameHeader(room.scratch, checksum: checksum), bytes)
        default:
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        return SQLITE_OK
    }

    // MARK: Size and durability

    func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        if size == 0 { try main.pages.note(.logEnds) }
        return inner.truncate(size)
    }

    func sync(_ flags: Int32) throws(VFSFailure) -> Int32 {
        guard held == nil else { throw .unexpectedAccess(operation: "sync", offset: 0, count: 0) }
        return inner.sync(flags)
    }

    func size(_ size: inout Int64) throws(VFSFailure) -> Int32 {
        let code = inner.size(&size)
        // Before SQLite reads the contents.
        if code == SQLITE_OK { try main.pages.note(.logOpens(size: size)) }
        return code
    }
}
