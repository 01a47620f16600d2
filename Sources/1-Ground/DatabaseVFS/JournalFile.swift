import Bytes
import CLibrary
import CSQLite
import DatabasePages

/// A connection's file of a database's rollback journal (https://sqlite.org/fileformat2.html, 3).
///
/// Everything has the offset that SQLite gives it. SQLite writes a record in three parts: page number, page, checksum.
/// The record is written as a whole, with its page sealed. Headers and the name of a super-journal are plaintext,
/// because they reveal nothing secret. A form knows how a record is sealed, and when a journal is valid.
final class JournalFile: VFSFile {
    private let inner: FileSlot.File
    private let main: DatabaseFile
    private let form: any JournalForm
    private let path: String

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
    /// The records that a header counts. They were completely written before the database was changed.
    private var counted: [Range<Int64>] = []
    /// The checksum of the last record that was read, and the offset at which SQLite reads it.
    private var checksum: (value: UInt32, offset: Int64)?

    init(inner: FileSlot.File, main: DatabaseFile, name: UnsafePointer<CChar>) {
        (self.inner, self.main) = (inner, main)
        path = String(cString: name)
        form = main.pages.journal(path)
    }

    // MARK: Memory

    func close() -> Int32 {
        _ = main.answer(try writeHeldNumber())
        wipeRecord()
        return inner.close()
    }

    func answer(_ body: @autoclosure () throws(VFSFailure) -> Int32) -> Int32 { main.answer(try body()) }

    var sectorSize: Int32 { inner.sectorSize() }

    var characteristics: Int32 { main.characteristics }

    deinit { wipeRecord() }

    private func wipeRecord() {
        guard let record else { return }
        explicit_bzero(record.bytes, record.count)
        record.bytes.deallocate()
        self.record = nil
    }

    // MARK: Writing

    func write(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        guard let room = try main.pages.open() else { return try writeOfNewDatabase(bytes, count, at: offset) }
        switch held {
        case .page(let start):
            held = .nothing
            guard count == 4, offset == start + 4 + Int64(room.size), let record else { break }
            try form.seal(record.bytes, checksum: bytes.bigEndian(at: 0, as: UInt32.self))
            return inner.write(room.scratch, room.size + 8, at: start)
        case .number(let number, let start) where count == room.size && offset == start + 4:
            keep(bytes, number, room)
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
            if Int64(number) == FileFormat.lockedByte / Int64(room.size) + 1 { plainFrom = offset }
            held = .number(number, offset: offset)
            return SQLITE_OK
        case JournalHeader.sector: return try beginPart(bytes, at: offset)
        case FileFormat.journalHeader where offset == 0:
            try main.pages.note(.journalEnds)
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
        if count == JournalHeader.sector { return try beginPart(bytes, at: offset) }
        return inner.write(bytes, count, at: offset)
    }

    private func beginPart(_ bytes: UnsafeRawPointer, at offset: Int64) throws(VFSFailure) -> Int32 {
        if offset == 0 { (plainFrom, counted, checksum) = (.max, [], nil) }
        return try form.header(bytes, at: offset).bytes.withUnsafeBytes { sector in
            sector.baseAddress.map { inner.write($0, sector.count, at: offset) } ?? SQLITE_IOERR
        }
    }

    private func keep(_ page: UnsafeRawPointer, _ number: UInt32, _ room: PageRoom) {
        let count = room.size + 8
        if record?.count != count {
            wipeRecord()
            record = (.allocate(byteCount: count, alignment: 16), count)
        }
        guard let record else { return }
        record.bytes.store(bigEndian: number, at: 0)
        memcpy(record.bytes + 4, page, room.size)
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

    // MARK: Reading

    func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        try writeHeldNumber()
        let room = try main.pages.open()
        if let room, count == room.size { return try readPage(into: bytes, at: offset, room) }
        if let checksum, count == 4, offset == checksum.offset {
            bytes.store(bigEndian: checksum.value, at: 0)
            return SQLITE_OK
        }
        // SQLite asks whether there is anything to roll back: it reads the first byte, and later the first header's
        // magic number.
        if room != nil, offset == 0, count == 1 || count == 8, let header = try readHeader(at: 0), header.isBegun,
            try form.isOver(header, willPlay: count == 8)
        {
            memset(bytes, 0, count)
            return SQLITE_OK
        }
        guard count < JournalHeader.sector || room == nil else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        let code = inner.read(bytes, count, at: offset)
        if code == SQLiteCode.ioShortRead, isCounted(offset) { throw .damagedJournal(path: path) }
        if let room, code == SQLITE_OK, count == 4, offset % Int64(JournalHeader.smallestSector) == 8 {
            try countRecords(UnsafeRawPointer(bytes).bigEndian(at: 0, as: UInt32.self), headerAt: offset - 8, room)
        }
        return code
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
        _ count: UInt32, headerAt offset: Int64, _ room: PageRoom
    ) throws(VFSFailure) {
        guard count > 0, count != .max, let header = try readHeader(at: offset), header.isBegun,
            let sector = offset == 0 ? header.sectorSize : try readHeader(at: 0)?.sectorSize
        else { return }
        let first = offset + Int64(sector)
        counted.append(first..<first + Int64(count) * Int64(room.size + 8))
    }

    private func isCounted(_ offset: Int64) -> Bool { counted.contains { $0.contains(offset) } }

    private func readPage(
        into bytes: UnsafeMutableRawPointer, at offset: Int64, _ room: PageRoom
    ) throws(VFSFailure) -> Int32 {
        guard offset >= 4 else { throw .unexpectedAccess(operation: "read", offset: offset, count: room.size) }
        let code = inner.read(room.scratch, room.size + 8, at: offset - 4)
        guard code == SQLITE_OK else {
            if code == SQLiteCode.ioShortRead, isCounted(offset) { throw .damagedJournal(path: path) }
            memset(bytes, 0, room.size)
            return code
        }
        do throws(VFSFailure) {
            checksum = (try form.open(into: bytes), offset + Int64(room.size))
            return SQLITE_OK
        } catch {
            guard case .page(.damaged) = error else { throw error }
            if isCounted(offset) { throw .damagedJournal(path: path) }
            // Remains of an older journal after the records of this transaction, in a persistent journal. SQLite stops
            // there.
            memset(bytes, 0, room.size)
            return SQLiteCode.ioShortRead
        }
    }

    // MARK: Size and durability

    func truncate(_ size: Int64) throws(VFSFailure) -> Int32 {
        try writeHeldNumber()
        if size == 0 { try main.pages.note(.journalEnds) }
        return inner.truncate(size)
    }

    func sync(_ flags: Int32) throws(VFSFailure) -> Int32 {
        try writeHeldNumber()
        return inner.sync(flags)
    }

    func size(_ size: inout Int64) -> Int32 {
        do throws(VFSFailure) { try writeHeldNumber() } catch { _ = main.failed(error) }
        return inner.size(&size)
    }
}
