import Bytes
import DatabasePages

/// A header of a rollback journal: the first sector, and one more after each part that was synced.
package struct JournalHeader {
    /// The size of a sector that SQLite assumes if a power failure changes no byte outside of a write.
    package static let sector = 512
    static let smallestSector = 32
    private static let marker = Array("KCJ1".utf8)
    /// The offset of the marker, the database's id and the number of a batch, after the fields of SQLite.
    private static let place = FileFormat.journalHeader
    private static let sequencePlace = place + 16

    private(set) var bytes: [UInt8]

    package init(sector: UnsafeRawPointer) {
        bytes = Array(UnsafeRawBufferPointer(start: sector, count: Self.sector))
    }

    /// Whether the header is valid: SQLite writes the magic number when the records are on the disk.
    package var isBegun: Bool { bytes.starts(with: FileFormat.journalMagic) }

    /// The number of records that follow; `UInt32.max` for all that exist.
    var recordCount: UInt32 { number(at: 8) }
    /// The former number of pages in the database.
    var pageCount: UInt32 { number(at: 16) }
    package var sectorSize: UInt32 { number(at: 20) }
    package var pageSize: UInt32 { number(at: 24) }

    /// The database and batch of the journal; nil for a journal that this VFS did not write.
    var binding: (database: DatabaseID?, sequence: UInt64)? {
        guard bytes[Self.place...].starts(with: Self.marker) else { return nil }
        let id = bytes[Self.place + 4..<Self.place + 4 + DatabaseID.byteCount]
        let sequence = bytes.withUnsafeBytes { $0.baseAddress?.bigEndian(at: Self.sequencePlace, as: UInt64.self) ?? 0 }
        return (id.allSatisfy { $0 == 0 } ? nil : DatabaseID(id), sequence)
    }

    /// - Parameter database: Nil for a new database.
    mutating func bind(to database: DatabaseID?, sequence: UInt64) {
        let id = database?.bytes ?? [UInt8](repeating: 0, count: DatabaseID.byteCount)
        bytes.replaceSubrange(Self.place..<Self.place + 4 + id.count, with: Self.marker + id)
        bytes.withUnsafeMutableBytes { $0.baseAddress?.store(bigEndian: sequence, at: Self.sequencePlace) }
    }

    private func number(at offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.baseAddress?.bigEndian(at: offset, as: UInt32.self) ?? 0 }
    }
}
