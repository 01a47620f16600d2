import Bytes

/// A journal in SQLCipher's format. The checksum of a record is over the sealed page.
final class CipherJournal: JournalFile {
    private let main: CipherFile

    init(inner: FileSlot.File, main: CipherFile, name: UnsafePointer<CChar>) {
        self.main = main
        super.init(inner: inner, main: main, name: name)
    }

    override func seal(_ record: UnsafeRawPointer, checksum: UInt32, _ room: PageRoom) throws(VFSFailure) {
        let open = try main.existing()
        let number = record.bigEndian(at: 0, as: UInt32.self)
        open.scratch.store(bigEndian: number, at: 0)
        try open.seal(record + 4, number: number, into: open.scratch + 4)
        let sum = checksum &- sampleSum(record + 4, open.size) &+ sampleSum(open.scratch + 4, open.size)
        open.scratch.store(bigEndian: sum, at: 4 + open.size)
    }

    override func open(_ room: PageRoom, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt32 {
        let open = try main.existing()
        let record = UnsafeRawPointer(open.scratch)
        try open.open(record + 4, number: record.bigEndian(at: 0, as: UInt32.self), into: page)
        let checksum = record.bigEndian(at: 4 + open.size, as: UInt32.self)
        return checksum &- sampleSum(record + 4, open.size) &+ sampleSum(page, open.size)
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
