import Bytes
import DatabasePages
import DatabaseVFS

/// A journal in SQLCipher's form. The checksum of a record is over the sealed page.
final class CipherJournal: JournalForm {
    private let main: CipherStore

    init(of main: CipherStore) { self.main = main }

    func header(_ sector: UnsafeRawPointer, at offset: Int64) -> JournalHeader { JournalHeader(sector: sector) }

    /// Returns false: SQLite decides by its own rules whether the journal is valid.
    func isOver(_ header: JournalHeader, willPlay: Bool) -> Bool { false }

    func seal(_ record: UnsafeRawPointer, checksum: UInt32) throws(VFSFailure) {
        let open = try main.existing()
        let (sealed, size) = (open.room.scratch, open.room.size)
        let number = record.bigEndian(at: 0, as: UInt32.self)
        sealed.store(bigEndian: number, at: 0)
        try open.seal(record + 4, number: number, into: sealed + 4)
        sealed.store(
            bigEndian: checksum &- sampleSum(record + 4, size) &+ sampleSum(sealed + 4, size), at: 4 + size)
    }

    func open(into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt32 {
        let open = try main.existing()
        let (record, size) = (UnsafeRawPointer(open.room.scratch), open.room.size)
        try open.open(record + 4, number: record.bigEndian(at: 0, as: UInt32.self), into: page)
        let checksum = record.bigEndian(at: 4 + size, as: UInt32.self)
        return checksum &- sampleSum(record + 4, size) &+ sampleSum(page, size)
    }

    /// Returns the sum of every 200th byte of a page, counted from its end. SQLite's checksum of a record is this sum
    /// and a random number (https://sqlite.org/fileformat2.html, 3).
    private func sampleSum(_ page: UnsafeRawPointer, _ size: Int) -> UInt32 {
        var sum: UInt32 = 0
        for place in stride(from: size - 200, to: 0, by: -200) {
            sum &+= UInt32(page.load(fromByteOffset: place, as: UInt8.self))
        }
        return sum
    }
}
