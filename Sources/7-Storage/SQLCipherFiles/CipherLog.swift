import Bytes
import CLibrary
import CSQLite
import DatabasePages
import DatabaseVFS

/// A log in SQLCipher's form.
///
/// The checksums in the file are over sealed pages, and each continues the one before. SQLite computes them over
/// plaintext pages. A frame is written with the right checksum, and a frame that SQLite checks gets the one that SQLite
/// expects.
final class CipherLog: LogForm {
    private let frames: LogFrames
    private let main: CipherStore
    /// The last frame that SQLite checked, and the checksums up to it: in the log, and over plaintext.
    private var checked: (frame: UInt32, sealed: LogChecksum, plain: LogChecksum)?
    /// The last frame that was written in this transaction.
    private var written: (frame: UInt32, salts: UInt64, checksum: LogChecksum)?
    /// Whether checksums are over big-endian numbers; nil before the header was read.
    private var isBigEndian: Bool?

    init(_ frames: LogFrames, of main: CipherStore) { (self.frames, self.main) = (frames, main) }

    func transactionBegins() { (checked, written, isBigEndian) = (nil, nil, nil) }

    // MARK: Reading

    func readHeader(_ bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Int32 {
        let code = try frames.read(bytes, FileFormat.logHeader, at: 0)
        if code == SQLITE_OK {
            let header = Header(bytes)
            isBigEndian = header.isBigEndian
            checked = (0, header.checksum, header.checksum)
        }
        return code
    }

    func readFrame(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt64? {
        let open = try main.existing()
        guard try frames.readSealed(frame, open.room) else { return nil }
        let header = FrameHeader(open.room.scratch)
        try openPage(header.page, of: frame, open, into: page)
        return header.checksum
    }

    private func openPage(
        _ number: UInt32, of frame: UInt32, _ open: OpenCipher, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) {
        do throws(VFSFailure) {
            try open.open(open.room.scratch + FileFormat.frameHeader, number: number, into: page)
        } catch .page(.damaged) {
            throw .damagedFrame(frame: frame)
        }
    }

    func readPage(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> Bool {
        let room = try main.existing().room
        if main.isCopyingFrames {
            let place = LogFrames.offset(of: frame, room) + Int64(FileFormat.frameHeader)
            return try frames.read(page, room.size, at: place) == SQLITE_OK
        }
        guard try readFrame(frame, into: page) != nil else { return false }
        // The number in the frame's header is not sealed. The index has the page that SQLite looks for.
        if let expected = main.page(inFrame: frame), expected != FrameHeader(room.scratch).page {
            SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: page, count: room.size))
            throw .damagedFrame(frame: frame)
        }
        return true
    }

    func readWholeFrame(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt64? {
        let open = try main.existing()
        let (room, sealed) = (open.room, open.room.scratch)
        guard try frames.readSealed(frame, room) else { return nil }
        let header = FrameHeader(sealed)
        // SQLite reads frames one after the other when it checks them. Otherwise it wants to write another header with
        // a checksum over the page: it needs the page for nothing else, and ``rewriteHeader(_:_:)`` computes its own.
        guard var next = checked, next.frame + 1 == frame else {
            memset(page, 0, room.size)
            return header.checksum
        }
        try add(UnsafeRawBufferPointer(start: sealed, count: 8), to: &next.sealed)
        try add(UnsafeRawBufferPointer(start: sealed, count: 8), to: &next.plain)
        try add(UnsafeRawBufferPointer(start: sealed + FileFormat.frameHeader, count: room.size), to: &next.sealed)
        guard next.sealed.number == header.checksum else {
            checked = nil
            return nil
        }
        try openPage(header.page, of: frame, open, into: page)
        try add(UnsafeRawBufferPointer(start: page, count: room.size), to: &next.plain)
        next.frame = frame
        checked = next
        return next.plain.number
    }

    func checksum(of frame: UInt32) throws(VFSFailure) -> UInt64? {
        try stored(of: frame, main.existing().room.size)?.checksum.number
    }

    /// Returns the salts and the checksum of a frame as they are in the log; nil after its end.
    func stored(of frame: UInt32, _ pageSize: Int) throws(VFSFailure) -> (salts: UInt64, checksum: LogChecksum)? {
        if let written, written.frame == frame { return (written.salts, written.checksum) }
        var bytes = (UInt64(0), UInt64(0))
        let place = LogFrames.offset(of: frame, pageSize: pageSize) + Int64(FileFormat.frameSalts)
        guard try frames.read(&bytes, 16, at: place) == SQLITE_OK else { return nil }
        return (bytes.0.bigEndian, LogChecksum(number: bytes.1.bigEndian))
    }

    // MARK: Writing

    func writeHeader(_ bytes: UnsafeRawPointer) throws(VFSFailure) {
        try frames.write(bytes, FileFormat.logHeader, at: 0)
        let header = Header(bytes)
        isBigEndian = header.isBigEndian
        (checked, written) = (nil, (0, header.salts, header.checksum))
    }

    func writeFrame(
        _ frame: UInt32, _ header: FrameHeader, _ page: UnsafeRawPointer
    ) throws(VFSFailure) {
        let open = try main.existing()
        try open.seal(page, number: header.page, into: open.room.scratch + FileFormat.frameHeader)
        let checksum = try complete(header, of: frame, open.room)
        try frames.writeSealed(frame, open.room)
        written = (frame, header.salts, checksum)
    }

    /// Leaves the sealed page as it is: it does not depend on the header.
    func rewriteHeader(_ frame: UInt32, _ header: FrameHeader) throws(VFSFailure) {
        let room = try main.existing().room
        guard try frames.readSealed(frame, room), FrameHeader(room.scratch).page == header.page else {
            throw .damagedFrame(frame: frame)
        }
        let checksum = try complete(header, of: frame, room)
        try frames.write(room.scratch, FileFormat.frameHeader, at: LogFrames.offset(of: frame, room))
        written = (frame, header.salts, checksum)
    }

    /// Puts a header before the sealed page in the scratch memory. Returns its checksum.
    private func complete(
        _ header: FrameHeader, of frame: UInt32, _ room: PageRoom
    ) throws(VFSFailure) -> LogChecksum {
        let sealed = room.scratch
        header.store(to: sealed, salts: header.salts, checksum: 0)
        var checksum = LogChecksum(number: 0)
        // Without salts the frame is not valid yet: SQLite will write its header again.
        if header.salts != 0 {
            guard let former = try former(of: frame, header.salts, room) else { throw .damagedFrame(frame: frame - 1) }
            checksum = former
            try add(UnsafeRawBufferPointer(start: sealed, count: 8), to: &checksum)
            try add(UnsafeRawBufferPointer(start: sealed + FileFormat.frameHeader, count: room.size), to: &checksum)
        }
        sealed.store(bigEndian: checksum.number, at: FileFormat.frameChecksum)
        (checked, written) = (nil, nil)
        return checksum
    }

    // MARK: Checksums

    /// Returns the checksum that the one of a frame continues.
    private func former(of frame: UInt32, _ salts: UInt64, _ room: PageRoom) throws(VFSFailure) -> LogChecksum? {
        if frame == 1 { return try presentHeader().checksum }
        // The first frame of a transaction continues what the shared index names, without a look at the log.
        if written == nil, let last = main.lastFrame(frame - 1), last.salts == salts { return last.checksum }
        return try stored(of: frame - 1, room.size)?.checksum
    }

    private struct Header {
        let isBigEndian: Bool
        let salts: UInt64
        let checksum: LogChecksum

        init(_ bytes: UnsafeRawPointer) {
            isBigEndian = bytes.bigEndian(at: 0, as: UInt32.self) & 1 == 1
            salts = bytes.bigEndian(at: FileFormat.logSalts, as: UInt64.self)
            checksum = LogChecksum(number: bytes.bigEndian(at: FileFormat.logChecksum, as: UInt64.self))
        }
    }

    private func presentHeader() throws(VFSFailure) -> Header {
        var bytes = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        guard try frames.read(&bytes, FileFormat.logHeader, at: 0) == SQLITE_OK else {
            throw .system("read", frames.path)
        }
        return withUnsafeBytes(of: &bytes) { bytes in bytes.baseAddress.map { Header($0) } } ?? Header(&bytes)
    }

    private func add(_ bytes: UnsafeRawBufferPointer, to checksum: inout LogChecksum) throws(VFSFailure) {
        let isBig: Bool
        if let known = isBigEndian { isBig = known } else { isBig = try presentHeader().isBigEndian }
        isBigEndian = isBig
        checksum.add(bytes, bigEndian: isBig)
    }
}
