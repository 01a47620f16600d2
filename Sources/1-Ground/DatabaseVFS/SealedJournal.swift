import Bytes
import CSQLite
import DatabasePages

/// A journal in the format of this library.
///
/// A page is sealed together with its checksum. Unused bytes of a header hold the batch of the page index from which
/// the transaction started. A journal from an earlier batch is no longer valid.
final class SealedJournal: JournalFile {
    private let main: MainFile
    /// The batch that records are bound to.
    private var sequence: UInt64 = 0
    /// The pages in the journal, if this connection wrote the header.
    private var journaled: JournaledPages?

    init(inner: FileSlot.File, main: MainFile, name: UnsafePointer<CChar>) {
        self.main = main
        super.init(inner: inner, main: main, name: name)
    }

    override func writeHeader(
        _ bytes: UnsafeRawPointer, at offset: Int64, _ room: PageRoom?
    ) throws(VFSFailure) -> Int32 {
        var header = JournalHeader(sector: bytes)
        let pages = try main.pages()
        if offset == 0 {
            if let pages {
                try pages.refresh()
                // The batch that the journal goes back to must be on the disk, with the former number of pages, before
                // a page is overwritten. SQLite leaves the record count open if it does not sync.
                try pages.flush(pageCount: header.pageCount, durably: header.recordCount != .max)
            }
            sequence = pages?.index.sequence ?? 0
            let journaled = JournaledPages(sequence: sequence)
            self.journaled = journaled
            main.sidecar = .journal(.own(journaled))
        }
        header.bind(to: pages?.cipher.header.database, sequence: sequence)
        return header.bytes.withUnsafeBytes { sector in
            sector.baseAddress.map { inner.write($0, sector.count, at: offset) } ?? SQLITE_IOERR
        }
    }

    override func willEnd() throws(VFSFailure) {
        try main.journalEnds()
        journaled = nil
    }

    override func seal(_ record: UnsafeRawPointer, checksum: UInt32, _ room: PageRoom) throws(VFSFailure) {
        let pages = try main.existingPages()
        let number = record.bigEndian(at: 0, as: UInt32.self)
        pages.scratch.store(bigEndian: number, at: 0)
        _ = try pages.seal(
            record + 4, extra: UInt64(checksum), at: .journal(page: number, sequence: sequence),
            into: pages.scratch + 4)
        pages.scratch.store(bigEndian: 0 as UInt32, at: 4 + pages.size)
        journaled?.insert(number)
    }

    override func open(_ room: PageRoom, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt32 {
        let pages = try main.existingPages()
        let number = UnsafeRawPointer(pages.scratch).bigEndian(at: 0, as: UInt32.self)
        let extra = try pages.open(pages.scratch + 4, at: .journal(page: number, sequence: sequence), into: page)
        return UInt32(truncatingIfNeeded: extra)
    }

    /// Returns whether the journal's transaction was already committed or rolled back.
    override func isOver(_ room: PageRoom, willPlay: Bool) throws(VFSFailure) -> Bool {
        guard journaled == nil, let header = try readHeader(at: 0), header.isBegun else { return false }
        let pages = try main.existingPages()
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
}
