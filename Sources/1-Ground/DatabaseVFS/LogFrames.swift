import Bytes
import CLibrary
import CSQLite

/// The bytes of a log: a header, and frames of a header and a page each (https://sqlite.org/fileformat2.html, 4.1).
package struct LogFrames {
    package let path: String
    /// May be closed at any time, because no connection locks a log.
    private let descriptor: Int32

    init(_ name: UnsafePointer<CChar>, writing: Bool) throws(VFSFailure) {
        path = String(cString: name)
        descriptor = open(name, (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .system("open", path) }
    }

    func close() { CLibrary.close(descriptor) }

    /// Returns the offset of a frame. Frames count from 1.
    package static func offset(of frame: UInt32, _ room: PageRoom) -> Int64 { offset(of: frame, pageSize: room.size) }

    package static func offset(of frame: UInt32, pageSize: Int) -> Int64 {
        Int64(FileFormat.logHeader) + Int64(frame - 1) * Int64(FileFormat.frameHeader + pageSize)
    }

    /// Reads bytes as they are, and zeros after the end of the log. Returns SQLite's code.
    package func read(
        _ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64
    ) throws(VFSFailure) -> Int32 {
        let got = WholeAccess.read(descriptor, bytes, count, at: offset)
        guard got >= 0 else { throw .system("read", path) }
        guard got < count else { return SQLITE_OK }
        memset(bytes + got, 0, count - got)
        return SQLiteCode.ioShortRead
    }

    package func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) throws(VFSFailure) {
        guard WholeAccess.write(descriptor, bytes, count, at: offset) else { throw .system("write", path) }
    }

    /// Reads a sealed frame to the scratch memory of `room`. Returns false after the end of the log.
    package func readSealed(_ frame: UInt32, _ room: PageRoom) throws(VFSFailure) -> Bool {
        let count = FileFormat.frameHeader + room.size
        return try read(room.scratch, count, at: Self.offset(of: frame, room)) == SQLITE_OK
    }

    /// Writes the sealed frame in the scratch memory of `room`.
    package func writeSealed(_ frame: UInt32, _ room: PageRoom) throws(VFSFailure) {
        try write(room.scratch, FileFormat.frameHeader + room.size, at: Self.offset(of: frame, room))
    }
}

/// The header of a frame in a log.
package struct FrameHeader {
    package let page: UInt32
    /// The pages of the database after a commit; 0 in frames that do not commit.
    package let commit: UInt32
    /// Zeros while SQLite still has to rewrite headers of the transaction.
    package let salts: UInt64
    package let checksum: UInt64

    /// - Parameter checksum: Nil for the one in the header.
    package init(_ bytes: UnsafeRawPointer, checksum: UInt64? = nil) {
        page = bytes.bigEndian(at: 0, as: UInt32.self)
        commit = bytes.bigEndian(at: 4, as: UInt32.self)
        salts = bytes.bigEndian(at: FileFormat.frameSalts, as: UInt64.self)
        self.checksum = checksum ?? bytes.bigEndian(at: FileFormat.frameChecksum, as: UInt64.self)
    }

    /// Stores a header with the same page and commit.
    package func store(to bytes: UnsafeMutableRawPointer, salts: UInt64, checksum: UInt64) {
        bytes.store(bigEndian: page, at: 0)
        bytes.store(bigEndian: commit, at: 4)
        bytes.store(bigEndian: salts, at: FileFormat.frameSalts)
        bytes.store(bigEndian: checksum, at: FileFormat.frameChecksum)
    }
}
