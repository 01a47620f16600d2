import Bytes
import CSQLite

/// SQLite's codes that its header defines as expressions, which Swift does not import.
enum SQLiteCode {
    static let ioShortRead = SQLITE_IOERR | (2 << 8)
    static let ioDelete = SQLITE_IOERR | (10 << 8)
    static let ioNoMemory = SQLITE_IOERR | (12 << 8)
    /// The key was revoked.
    static let ioAuthorization = SQLITE_IOERR | (28 << 8)
    /// The read bytes are not the written ones.
    static let ioData = SQLITE_IOERR | (32 << 8)
}

/// Sizes and offsets in SQLite's files (https://sqlite.org/fileformat2.html).
package enum FileFormat {
    /// The bytes that SQLite reads without a lock when it opens a file.
    static let openingRead = 100
    package static let logHeader = 32
    package static let frameHeader = 24
    /// The offsets of the salts and of the checksum, in the header of a log and in that of a frame.
    package static let logSalts = 16
    package static let logChecksum = 24
    package static let frameSalts = 8
    package static let frameChecksum = 16
    /// The magic number of a log without its last bit, which names the byte order of checksums.
    static let logMagic: UInt32 = 0x377F_0682
    static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// The part of a journal's header that SQLite uses. The rest of the sector is zeros.
    static let journalHeader = 28
    /// The byte of a database that SQLite locks. Its page holds no data.
    static let lockedByte: Int64 = 0x4000_0000
}
