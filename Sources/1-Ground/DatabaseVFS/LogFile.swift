import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database's write-ahead log (https://sqlite.org/fileformat2.html, 4.1).
///
/// Everything has the offset that SQLite gives it. A frame is written as a whole, with its page sealed: its header is
/// held back until its page comes. Page number, size after commit and salts are plaintext. A subclass for each format
/// knows how a frame is sealed, and which frames are valid.
class LogFile: VFSFile {
    let inner: FileSlot.File
    private let main: DatabaseFile
    let path: String
    /// May be closed at any time, because no connection locks a log.
    let descriptor: Int32
    /// The frame whose header is held back.
    private var held: (frame: UInt32, header: FrameHeader)?
    /// The frame that was last read as a whole, before it gets a new header.
    var wholeFrameRead: UInt32?

    init(
        inner: FileSlot.File, main: DatabaseFile, name: UnsafePointer<CChar>, writing: Bool
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

    // MARK: For each format

    /// Reads the header, when SQLite looks for the contents of the log.
    func readHeader(_ bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Int32 {
        try readAsIs(bytes, FileFormat.logHeader, at: 0)
    }

    /// Writes the header, with which a new log begins.
    func writeHeader(_ bytes: UnsafeRawPointer) throws(VFSFailure) {}

    /// Reads a valid page. Its frame is in the scratch memory of `room` afterwards.
    ///
    /// - Returns: The checksum of the frame as SQLite sees it; nil after the end of the log.
    func readFrame(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64? { nil }

    /// Reads a page for SQLite.
    ///
    /// - Returns: Whether the log has the frame.
    func readPage(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> Bool { try readFrame(frame, room, into: page) != nil }

    /// Returns the checksum of a frame, from which SQLite computes that of the next frame.
    func checksum(of frame: UInt32, _ room: PageRoom) throws(VFSFailure) -> UInt64? {
        try readFrame(frame, room, into: room.clear)
    }

    /// Reads a frame with its header. SQLite does this when it looks for the contents of the log, and before it writes
    /// a new header for the frame.
    ///
    /// - Returns: The checksum for SQLite; nil for a frame that is not valid, where the log ends.
    func readWholeFrame(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64? { nil }

    func writeFrame(
        _ frame: UInt32, _ header: FrameHeader, _ page: UnsafeRawPointer, _ room: PageRoom
    ) throws(VFSFailure) {}

    /// Writes another header for a frame whose page SQLite has just read.
    func rewriteHeader(_ frame: UInt32, _ header: FrameHeader, _ room: PageRoom) throws(VFSFailure) {
        guard try readFrame(frame, room, into: room.clear) != nil else { throw .damagedFrame(frame: frame) }
        try writeFrame(frame, header, room.clear, room)
    }

    // MARK: Places

    /// Returns the offset of a frame. Frames count from 1.
    func offset(of frame: UInt32, _ room: PageRoom) -> Int64 {
        Int64(FileFormat.logHeader) + Int64(frame - 1) * Int64(FileFormat.frameHeader + room.size)
    }

    /// Returns the frame at an offset, and the position in it.
    private func place(of offset: Int64, _ room: PageRoom) -> (frame: UInt32, start: Int) {
        let (frame, start) = (offset - Int64(FileFormat.logHeader)).quotientAndRemainder(
            dividingBy: Int64(FileFormat.frameHeader + room.size))
        return (UInt32(clamping: frame + 1), Int(start))
    }

    private func existingRoom() throws(VFSFailure) -> PageRoom {
        guard let room = try main.room() else { throw .notDatabase(path: main.path) }
        return room
    }

    // MARK: Reading

    override func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0, held == nil else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        let room = try existingRoom()
        if offset + Int64(count) <= Int64(FileFormat.logHeader) {
            return offset == 0 && count == FileFormat.logHeader
                ? try readHeader(bytes) : try readAsIs(bytes, count, at: offset)
        }
        let (frame, start) = place(of: offset, room)
        switch (start, count) {
        case (FileFormat.frameHeader, room.size):
            guard try readPage(frame, room, into: bytes) else {
                memset(bytes, 0, count)
                return SQLiteCode.ioShortRead
            }
        case (0, FileFormat.frameHeader + room.size):
            guard let checksum = try readWholeFrame(frame, room, into: bytes + FileFormat.frameHeader) else {
                memset(bytes, 0, count)
                // The log ends before the first frame that is not valid, as with SQLite's own checksum. Zeros are not a
                // frame.
                return SQLITE_OK
            }
            memcpy(bytes, room.scratch, FileFormat.frameChecksum)
            bytes.store(bigEndian: checksum, at: FileFormat.frameChecksum)
            wholeFrameRead = frame
        case (FileFormat.frameChecksum, 8):
            guard let checksum = try checksum(of: frame, room) else { throw .damagedFrame(frame: frame) }
            bytes.store(bigEndian: checksum, at: 0)
        default:
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        return SQLITE_OK
    }

    func readAsIs(
        _ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64
    ) throws(VFSFailure) -> Int32 {
        let got = WholeAccess.read(descriptor, bytes, count, at: offset)
        guard got >= 0 else { throw .system("read", path) }
        guard got < count else { return SQLITE_OK }
        memset(bytes + got, 0, count - got)
        return SQLiteCode.ioShortRead
    }

    /// Reads a sealed frame to the scratch memory of `room`. Returns false after the end of the log.
    func readSealed(_ frame: UInt32, _ room: PageRoom) throws(VFSFailure) -> Bool {
        let count = FileFormat.frameHeader + room.size
        let got = WholeAccess.read(descriptor, room.scratch, count, at: offset(of: frame, room))
        guard got >= 0 else { throw .system("read", path) }
        return got == count
    }

    // MARK: Writing

    override func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let room = try existingRoom()
        if offset == 0, count == FileFormat.logHeader {
            held = nil
            try writeHeader(bytes)
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
            let header = FrameHeader(bytes, checksum: nil)
            if read == frame {
                try rewriteHeader(frame, header, room)
            } else {
                held = (frame, header)
            }
        case (FileFormat.frameHeader, room.size):
            if let former, former.frame == frame {
                try writeFrame(frame, former.header, bytes, room)
                break
            }
            // Replaces the page in a frame of the same transaction. SQLite writes a new header before it commits.
            guard let checksum = try readFrame(frame, room, into: room.clear) else {
                throw .damagedFrame(frame: frame)
            }
            try writeFrame(frame, FrameHeader(room.scratch, checksum: checksum), bytes, room)
        default:
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        return SQLITE_OK
    }

    /// Writes the sealed frame in the scratch memory of `room`.
    func writeSealed(_ frame: UInt32, _ room: PageRoom) throws(VFSFailure) {
        guard
            WholeAccess.write(descriptor, room.scratch, FileFormat.frameHeader + room.size, at: offset(of: frame, room))
        else { throw .system("write", path) }
    }

    // MARK: Size and durability

    override func truncate(_ size: Int64) throws(VFSFailure) -> Int32 { inner.truncate(size) }

    override func sync(_ flags: Int32) throws(VFSFailure) -> Int32 {
        guard held == nil else { throw .unexpectedAccess(operation: "sync", offset: 0, count: 0) }
        return inner.sync(flags)
    }

    override func size(_ size: inout Int64) throws(VFSFailure) -> Int32 { inner.size(&size) }
}

/// The header of a frame in a log.
struct FrameHeader {
    let page: UInt32
    /// The pages of the database after a commit; 0 in frames that do not commit.
    let commit: UInt32
    /// Zeros while SQLite still has to rewrite headers of the transaction.
    let salts: UInt64
    let checksum: UInt64

    /// - Parameter checksum: Nil for the one in the header.
    init(_ bytes: UnsafeRawPointer, checksum: UInt64?) {
        page = bytes.bigEndian(at: 0, as: UInt32.self)
        commit = bytes.bigEndian(at: 4, as: UInt32.self)
        salts = bytes.bigEndian(at: FileFormat.frameSalts, as: UInt64.self)
        self.checksum = checksum ?? bytes.bigEndian(at: FileFormat.frameChecksum, as: UInt64.self)
    }
}
