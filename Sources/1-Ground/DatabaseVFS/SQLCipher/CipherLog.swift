import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A log in SQLCipher's format.
///
/// The checksums in the file are over sealed pages, and each continues the one before. SQLite computes them over
/// plaintext pages. A frame is written with the right checksum, and a frame that SQLite checks gets the one that SQLite
/// expects.
final class CipherLog: LogFile {
    private let main: CipherFile
    /// The last frame that SQLite checked, and the checksums up to it: in the log, and over plaintext.
    private var checked: (frame: UInt32, sealed: LogChecksum, plain: LogChecksum)?
    /// The last frame that was written in this transaction.
    private var written: (frame: UInt32, salts: UInt64, checksum: LogChecksum)?
    /// Whether checksums are over big-endian numbers; nil before the header was read.
    private var isBigEndian: Bool?

    init(
        inner: FileSlot.File, main: CipherFile, name: UnsafePointer<CChar>, writing: Bool
    ) throws(VFSFailure) {
        self.main = main
        try super.init(inner: inner, main: main, name: name, writing: writing)
    }

    func transactionBegins() { (checked, written, isBigEndian) = (nil, nil, nil) }

    // MARK: Reading

    override func readHeader(_ bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Int32 {
        let code = try readAsIs(bytes, FileFormat.logHeader, at: 0)
        if code == SQLITE_OK {
            let header = Header(bytes)
            isBigEndian = header.isBigEndian
            checked = (0, header.checksum, header.checksum)
        }
        return code
    }

    override func readFrame(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64? {
        let open = try main.existing()
        guard try readSealed(frame, open) else { return nil }
        let header = FrameHeader(open.scratch, checksum: nil)
        try openPage(header.page, of: frame, open, into: page)
        return header.checksum
    }

    private func openPage(
        _ number: UInt32, of frame: UInt32, _ open: OpenCipher, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) {
        do throws(VFSFailure) {
            try open.open(open.scratch + FileFormat.frameHeader, number: number, into: page)
        } catch .page(.damaged) {
            throw .damagedFrame(frame: frame)
        }
    }

    override func readPage(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> Bool {
        let open = try main.existing()
        if main.isCopyingFrames {
            let place = offset(of: frame, open) + Int64(FileFormat.frameHeader)
            return try readAsIs(page, open.size, at: place) == SQLITE_OK
        }
        guard try readFrame(frame, open, into: page) != nil else { return false }
        // The number in the frame's header is not sealed. The index has the page that SQLite looks for.
        if let expected = main.page(inFrame: frame), expected != FrameHeader(open.scratch, checksum: nil).page {
            SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: page, count: open.size))
            throw .damagedFrame(frame: frame)
        }
        return true
    }

    override func readWholeFrame(
        _ frame: UInt32, _ room: PageRoom, into page: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> UInt64? {
        let open = try main.existing()
        guard try readSealed(frame, open) else { return nil }
        let header = FrameHeader(open.scratch, checksum: nil)
        // SQLite reads frames one after the other when it checks them, and otherwise uses only the page.
        guard var next = checked, next.frame + 1 == frame else {
            try openPage(header.page, of: frame, open, into: page)
            return header.checksum
        }
        try add(UnsafeRawBufferPointer(start: open.scratch, count: 8), to: &next.sealed)
        try add(UnsafeRawBufferPointer(start: open.scratch, count: 8), to: &next.plain)
        try add(
            UnsafeRawBufferPointer(start: open.scratch + FileFormat.frameHeader, count: open.size), to: &next.sealed)
        guard next.sealed.number == header.checksum else {
            checked = nil
            return nil
        }
        try openPage(header.page, of: frame, open, into: page)
        try add(UnsafeRawBufferPointer(start: page, count: open.size), to: &next.plain)
        next.frame = frame
        checked = next
        return next.plain.number
    }

    override func checksum(of frame: UInt32, _ room: PageRoom) throws(VFSFailure) -> UInt64? {
        try stored(of: frame, room)?.checksum.number
    }

    /// Returns the salts and the checksum of a frame as they are in the log; nil after its end.
    func stored(of frame: UInt32, _ room: PageRoom) throws(VFSFailure) -> (salts: UInt64, checksum: LogChecksum)? {
        if let written, written.frame == frame { return (written.salts, written.checksum) }
        var bytes = (UInt64(0), UInt64(0))
        let got = WholeAccess.read(
            descriptor, &bytes, 16, at: offset(of: frame, room) + Int64(FileFormat.frameSalts))
        guard got >= 0 else { throw .system("read", path) }
        return got == 16 ? (bytes.0.bigEndian, LogChecksum(number: bytes.1.bigEndian)) : nil
    }

    // MARK: Writing

    override func writeHeader(_ bytes: UnsafeRawPointer) throws(VFSFailure) {
        guard WholeAccess.write(descriptor, bytes, FileFormat.logHeader, at: 0) else { throw .system("write", path) }
        let header = Header(bytes)
        isBigEndian = header.isBigEndian
        (checked, written) = (nil, (0, header.salts, header.checksum))
    }

    override func writeFrame(
        _ frame: UInt32, _ header: FrameHeader, _ page: UnsafeRawPointer, _ room: PageRoom
    ) throws(VFSFailure) {
        let open = try main.existing()
        let sealed = open.scratch
        try open.seal(page, number: header.page, into: sealed + FileFormat.frameHeader)
        let checksum = try complete(header, of: frame, open)
        try writeSealed(frame, open)
        written = (frame, header.salts, checksum)
    }

    /// Leaves the sealed page as it is: it does not depend on the header.
    override func rewriteHeader(
        _ frame: UInt32, _ header: FrameHeader, _ room: PageRoom
    ) throws(VFSFailure) {
        let open = try main.existing()
        guard try readSealed(frame, open), FrameHeader(open.scratch, checksum: nil).page == header.page else {
            throw .damagedFrame(frame: frame)
        }
        let checksum = try complete(header, of: frame, open)
        guard WholeAccess.write(descriptor, open.scratch, FileFormat.frameHeader, at: offset(of: frame, open)) else {
            throw .system("write", path)
        }
        written = (frame, header.salts, checksum)
    }

    /// Puts a header before the sealed page in the scratch memory. Returns its checksum.
    private func complete(
        _ header: FrameHeader, of frame: UInt32, _ open: OpenCipher
    ) throws(VFSFailure) -> LogChecksum {
        let sealed = open.scratch
        sealed.store(bigEndian: header.page, at: 0)
        sealed.store(bigEndian: header.commit, at: 4)
        sealed.store(bigEndian: header.salts, at: FileFormat.frameSalts)
        var checksum = LogChecksum(number: 0)
        // Without salts the frame is not valid yet: SQLite will write its header again.
        if header.salts != 0 {
            let former = frame == 1 ? try presentHeader().checksum : try stored(of: frame - 1, open)?.checksum
            guard let former else { throw .damagedFrame(frame: frame - 1) }
            checksum = former
            try add(UnsafeRawBufferPointer(start: sealed, count: 8), to: &checksum)
            try add(
                UnsafeRawBufferPointer(start: sealed + FileFormat.frameHeader, count: open.size), to: &checksum)
        }
        sealed.store(bigEndian: checksum.number, at: FileFormat.frameChecksum)
        (checked, written) = (nil, nil)
        return checksum
    }

    // MARK: Checksums

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
        let got = WholeAccess.read(descriptor, &bytes, FileFormat.logHeader, at: 0)
        guard got == FileFormat.logHeader else { throw .system("read", path) }
        return withUnsafeBytes(of: &bytes) { bytes in bytes.baseAddress.map { Header($0) } } ?? Header(&bytes)
    }

    private func add(_ bytes: UnsafeRawBufferPointer, to checksum: inout LogChecksum) throws(VFSFailure) {
        let isBig: Bool
        if let known = isBigEndian { isBig = known } else { isBig = try presentHeader().isBigEndian }
        isBigEndian = isBig
        checksum.add(bytes, bigEndian: isBig)
    }
}
