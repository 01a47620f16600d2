import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database's rollback journal (https://sqlite.org/fileformat2.html, 3).
///
/// Everything has the offset that SQLite gives it. A record (page number, page, checksum) is written as a whole. Its
/// page is sealed together with the checksum. Headers and the name of a super-journal are plaintext, because they
/// reveal nothing secret. Unused bytes of a header hold the batch of the page index from which the transaction started.
/// A journal from an earlier batch is no longer valid.
final class JournalFile: VFSFile {
    let inner: FileSlot.File
    let main: MainFile
    let path: String

    private enum Held {
        case nothing
        /// Four bytes: the number of the page that follows, or a part of a super-journal's name.
        case number(UInt32, offset: Int64)
        /// A page in `record`, after its number. The checksum follows.
        case page(offset: Int64)
    }

    private var held = Held.nothing
    /// Room for a plaintext record.
    private var record: (bytes: UnsafeMutableRawPointer, count: Int)?
    /// The offset from which the name of a super-journal is written in plaintext.
    private var plainFrom = Int64.max
    /// The batch that records are bound to.
    private var sequence: UInt64 = 0
    /// The pages in the journal, if this connection wrote the header.
    private var journaled: JournaledPages?
    /// The records that a header counts. They were completely written before the database was changed.
    private var counted: [Range<Int64>] = []
    /// The checksum of the last record that was read, and the offset at which SQLite reads it.
    private var checksum: (value: UInt32, offset: Int64)?

    init(inner: FileSlot.File, main: MainFile, name: UnsafePointer<CChar>) {
        (self.inner, self.main) = (inner, main)
        path = String(cString: name)
    }

    override func close() -> Int32 {
        _ = main.answer(try writeHeldNumber())
        wipeRecord()
        return inner.close()
    }

    override func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 { main.answer(try body()) }

    override var sectorSize: Int32 { inner.sectorSize() }

    override var characteristics: Int32 { main.characteristics }

    deinit { wipeRecord() }

    private func wipeRecord() {
        guard let record else { return }
        explicit_bzero(record.bytes, record.count)
        record.bytes.deallocate()
        self.record = nil
    }

    // MARK: Writing

    override func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        guard let pages = try main.pages() else { return try writeOfNewDatabase(bytes, count, at: offset) }
        switch held {
        case .page(let start):
            held = .nothing
            guard count == 4, offset == start + 4 + Int64(pages.size) else { break }
            return try writeRecord(checksum: bytes.bigEndian(at: 0, as: UInt32.self), at: start, pages)
        case .number(let number, let start) where count == pages.size && offset == start + 4:
            keep(bytes, number, pages)
            held = .page(offset: start)
            return SQLITE_OK
        case .number:
            try writeHeldNumber()
        case .nothing: break
        }
        if offset >= plainFrom { return inner.write(bytes, count, at: offset) }
        switch count {
        case 4:
            let number = bytes.bigEndian(at: 0, as: UInt32.self)
            // No record holds the page with the locked byte. Its number marks the name of a super-journal.
            if Int64(number) == FileFormat.lockedByte / Int64(pages.size) + 1 { plainFrom = offset }
            held = .number(number, offset: offset)
            return SQLITE_OK
        case JournalHeader.sector: return try writeHeader(bytes, at: offset, pages)
        case FileFormat.journalHeader where offset == 0:
            try main.journalEnds()
            journaled = nil
            return inner.write(bytes, count, at: offset)
        // The number of records in a header, or the byte that ends the remains of an older journal.
        case 12, 1: return inner.write(bytes, count, at: offset)
        default: throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
    }

    /// Writes the journal of a database's first transaction, which has no records.
    private func writeOfNewDatabase(
        _ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64
    ) throws(VFSFailure) -> Int32 {
        guard count <= JournalHeader.sector else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        if count == JournalHeader.sector { return try writeHeader(bytes, at: offset, nil) }
        return inner.write(bytes, count, at: offset)
    }

    private func keep(_ page: UnsafeRawPointer, _ number: UInt32, _ pages: OpenPages) {
        let count = pages.size + 8
        if record?.count != count {
            wipeRecord()
            record = (.allocate(byteCount: count, alignment: 16), count)
        }
        guard let record else { return }
        record.bytes.store(bigEndian: number, at: 0)
        memcpy(record.bytes + 4, page, pages.size)
    }

    private func writeRecord(checksum: UInt32, at offset: Int64, _ pages: OpenPages) throws(VFSFailure) -> Int32 {
        guard let record else { throw .memoryUnavailable }
        let sealed = pages.scratch
        let number = UnsafeRawPointer(record.bytes).bigEndian(at: 0, as: UInt32.self)
        sealed.store(bigEndian: number, at: 0)
        _ = try pages.seal(
            record.bytes + 4, extra: UInt64(checksum), at: .journal(page: number, sequence: sequence), into: sealed + 4)
        sealed.store(bigEndian: 0 as UInt32, at: 4 + pages.size)
        journaled?.insert(number)
        return inner.write(sealed, pages.size + 8, at: offset)
    }

    private func writeHeldNumber() throws(VFSFailure) {
        guard case .number(let number, let offset) = held else {
            held = .nothing
            return
        }
        held = .nothing
        var bytes = number.bigEndian
        guard inner.write(&bytes, 4, at: offset) == SQLITE_OK else { throw .system("write", path) }
    }

    private func writeHeader(
        _ bytes: UnsafeRawPointer, at offset: Int64, _ pages: OpenPages?
    ) throws(VFSFailure) -> Int32 {
        var header = JournalHeader(sector: bytes)
        if offset == 0 {
            if let pages {
                try pages.refresh()
                // The batch that the journal goes back to must be on the disk, with the former number of pages, before
                // a page is overwritten. SQLite leaves the record count open if it does not sync.
                try pages.flush(pageCount: header.pageCount, durably: header.recordCount != .max)
            }
            sequence = pages?.index.sequence ?? 0
            (plainFrom, counted, checksum) = (.max, [], nil)
            let journaled = JournaledPages(sequence: sequence)
            self.journaled = journaled
            main.sidecar = .journal(.own(journaled))
        }
        header.bind(to: pages?.cipher.header.database, sequence: sequence)
        return header.bytes.withUnsafeBytes { sector in
            sector.baseAddress.map { inner.write($0, sector.count, at: offset) } ?? SQLITE_IOERR
        }
    }

    // MARK: Reading

    override func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        try writeHeldNumber()
        let pages = try main.pages()
        if let pages, count == pages.size { return try readPage(into: bytes, at: offset, pages) }
        if let checksum, count == 4, offset == checksum.offset {
            bytes.store(bigEndian: checksum.value, at: 0)
            return SQLITE_OK
        }
        // SQLite asks whether there is anything to roll back: it reads the first byte, and later the first header's
        // magic number.
        if let pages, offset == 0, count == 1 || count == 8, journaled == nil, try isOver(pages, willPlay: count == 8) {
            memset(bytes, 0, count)
            return SQLITE_OK
        }
        guard count < JournalHeader.sector || pages == nil else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        let code = inner.read(bytes, count, at: offset)
        if code == SQLiteCode.ioShortRead, isCounted(offset) { throw .damagedJournal(path: path) }
        if let pages, code == SQLITE_OK, count == 4, offset % Int64(JournalHeader.smallestSector) == 8 {
            try countRecords(UnsafeRawPointer(bytes).bigEndian(at: 0, as: UInt32.self), headerAt: offset - 8, pages)
        }
        return code
    }

    /// Returns whether the journal's transaction was already committed or rolled back.
    private func isOver(_ pages: OpenPages, willPlay: Bool) throws(VFSFailure) -> Bool {
        guard let header = try readHeader(at: 0), header.isBegun else { return false }
        try pages.refresh()
        guard let binding = header.binding else { throw .foreignJournal(path: path) }
        let isOfNewDatabase = binding.database == nil
        guard isOfNewDatabase || binding.database == pages.cipher.header.database else {
            throw .foreignJournal(path: path)
        }
        if isOfNewDatabase ? pages.index.pageCount != 0 : binding.sequence < pages.index.sequence { return true }
        guard isOfNewDatabase || binding.sequence == pages.index.sequence else { throw .foreignJournal(path: path) }
        guard header.pageCount == pages.index.pageCount else { throw .damagedJournal(path: path) }
        if willPlay {
            sequence = binding.sequence
            main.sidecar = .journal(isOfNewDatabase ? .playedBack : .interrupted(sequence: sequence))
        }
        return false
    }

    /// Returns a header; nil if the journal ends before it.
    private func readHeader(at offset: Int64) throws(VFSFailure) -> JournalHeader? {
        let result = withUnsafeTemporaryAllocation(byteCount: JournalHeader.sector, alignment: 8) {
            sector -> Result<JournalHeader?, VFSFailure> in
            guard let base = sector.baseAddress else { return .success(nil) }
            let code = inner.read(base, JournalHeader.sector, at: offset)
            if code == SQLITE_OK { return .success(JournalHeader(sector: base)) }
            // A read error must not count as a missing journal.
            return code == SQLiteCode.ioShortRead ? .success(nil) : .failure(.system("read", path))
        }
        return try result.get()
    }

    /// Notes the records that follow a header, when SQLite reads their number.
    private func countRecords(
        _ count: UInt32, headerAt offset: Int64, _ pages: OpenPages
    ) throws(VFSFailure) {
        guard count > 0, count != .max, let header = try readHeader(at: offset), header.isBegun,
            let sector = offset == 0 ? header.sectorSize : try readHeader(at: 0)?.sectorSize
        else { return }
        let first = offset + Int64(sector)
        counted.append(first..<first + Int64(count) * Int64(pages.size + 8))
    }

    private func isCounted(_ offset: Int64) -> Bool { counted.contains { $0.contains(offset) } }

    private func readPage(
        into bytes: UnsafeMutableRawPointer, at offset: Int64, _ pages: OpenPages
    ) throws(VFSFailure) -> Int32 {
        guard offset >= 4 else { throw .unexpectedAccess(operation: "read", offset: offset, count: pages.size) }
        let code = inner.read(pages.scratch, pages.size + 4, at: offset - 4)
        guard code == SQLITE_OK else {
            if code == SQLiteCode.ioShortRead, isCounted(offset) { throw .damagedJournal(path: path) }
            memset(bytes, 0, pages.size)
            return code
        }
        let number = UnsafeRawPointer(pages.scratch).bigEndian(at: 0, as: UInt32.self)
        do throws(VFSFailure) {
            let extra = try pages.open(
                pages.scratch + 4, at: .journal(page: number, sequence: sequence), into: bytes)
            checksum = (UInt32(truncatingIfNeeded: extra), offset + Int64(pages.size))
            return SQLITE_OK
        } catch {
            guard case .page(.damaged) = error else { throw error }
            if isCounted(offset) { throw .damagedJournal(path: path) }
            // Remains of an older journal after the records of this transaction, in a persistent journal. SQLite stops
            // there.
            memset(bytes, 0, pages.size)
            return SQLiteCode.ioShortRead
        }
    }

    // MARK: Size and durability

    override func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        try writeHeldNumber()
        if size == 0 {
            try main.journalEnds()
            journaled = nil
        }
        return inner.truncate(size)
    }

    override func sync(_ flags: Int32) throws(VFSFailure) -> Int32 {
        try writeHeldNumber()
        return inner.sync(flags)
    }

    override func size(_ size: inout Int64) -> Int32 {
        do throws(VFSFailure) { try writeHeldNumber() } catch { _ = main.failed(error) }
        return inner.size(&size)
    }
}
