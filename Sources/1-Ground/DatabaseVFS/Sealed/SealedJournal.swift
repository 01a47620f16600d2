import Bytes
import DatabasePages

/// A journal in the form of this library.
///
/// A page is sealed together with its checksum. Unused bytes of a header hold the batch of the page index from which
/// the transaction started. A journal from an earlier batch is no longer valid.
final class SealedJournal: JournalForm {
    private let path: String
    private let main: SealedStore
    /// The batch that records are bound to.
    private var sequence: UInt64 = 0

    init(_ path: String, of main: SealedStore) { (self.path, self.main) = (path, main) }

    /// The pages in the journal, if this connection wrote the header.
    private var journaled: JournaledPages? {
        if case .journal(.own(let pages)) = main.sidecar { pages } else { nil }
    }

    func header(_ sector: UnsafeRawPointer, at offset: Int64) throws(VFSFailure) -> JournalHeader {
        var header = JournalHeader(sector: sector)
        let pages = try main.pages()
        if offset == 0 {
            if let pages {
                try pages.refresh()
                // The batch that the journal goes back to must be on the disk, with the former number of pages, before
                // a page is overwritten. SQLite leaves the record count open if it does not sync.
                try pages.flush(pageCount: header.pageCount, durably: header.recordCount != .max)
            }
            sequence = pages?.index.sequence ?? 0
            main.sidecar = .journal(.own(JournaledPages(sequence: sequence)))
        }
        header.bind(to: pages?.cipher.header.database, sequence: sequence)
        return header
    }

    func seal(_ record: UnsafeRawPointer, checksum: UInt32) throws(VFSFailure) {
        let pages = try main.existingPages()
        let sealed = pages.room.scratch
        let number = record.bigEndian(at: 0, as: UInt32.self)
        sealed.store(bigEndian: number, at: 0)
        _ = try pages.seal(
            record + 4, extra: UInt64(checksum), at: .journal(page: number, sequence: sequence), into: sealed + 4)
        sealed.store(bigEndian: 0 as UInt32, at: 4 + pages.size)
        journaled?.insert(number)
    }

    func open(into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt32 {
        let pages = try main.existingPages()
        let record = UnsafeRawPointer(pages.room.scratch)
        let number = record.bigEndian(at: 0, as: UInt32.self)
        let extra = try pages.open(record + 4, at: .journal(page: number, sequence: sequence), into: page)
        return UInt32(truncatingIfNeeded: extra)
    }

    /// Returns whether the journal's transaction was already committed or rolled back.
    func isOver(_ header: JournalHeader, willPlay: Bool) throws(VFSFailure) -> Bool {
        guard journaled == nil else { return false }
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
