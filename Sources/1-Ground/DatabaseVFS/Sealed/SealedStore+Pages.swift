import Bytes
import CLibrary
import DatabasePages

extension SealedStore {
    func read(_ page: UInt32, into bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Bool {
        let pages = try existingPages()
        try pages.refreshOnce()
        switch try readSealed(page, pages, into: bytes) {
        case .afterEnd: return false
        case .gap: memset(bytes, 0, pages.size)
        case .written(let version):
            try pages.open(bytes, at: .main(page: page), into: bytes)
            if page == 1 { pages.firstPage = FirstPage(bytes, seal: version) }
        }
        return true
    }

    func changes() throws(VFSFailure) -> (UInt64, UInt64)? {
        let pages = try existingPages()
        try pages.refreshOnce()
        let room = pages.room
        guard case .written(let version) = try readSealed(1, pages, into: room.scratch) else { return nil }
        if let known = pages.firstPage, known.seal == version { return known.changes }
        try pages.open(room.scratch, at: .main(page: 1), into: room.clear)
        let firstPage = FirstPage(room.clear, seal: version)
        pages.firstPage = firstPage
        return firstPage.changes
    }

    func write(_ page: UInt32, _ bytes: UnsafeRawPointer) throws(VFSFailure) {
        let pages = try existingPages()
        let room = pages.room
        if page == 1 { try room.check(firstPage: bytes) }
        let version = try pages.seal(bytes, extra: extra(of: page), at: .main(page: page), into: room.scratch)
        try pages.note(version, of: page)
        try file.write(page, room, room.scratch)
        if page == 1 { pages.firstPage = FirstPage(bytes, seal: version) }
    }

    private enum SealedPage {
        case written(PageVersion)
        /// The page was never written: in a gap of the file or after its end.
        case gap, afterEnd
    }

    /// Reads the valid sealed page to `sealed`.
    private func readSealed(
        _ page: UInt32, _ pages: OpenPages, into sealed: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> SealedPage {
        var refreshed = false
        while true {
            let count = try file.read(page, pages.room, into: sealed)
            let expected = pages.index.version(of: page)
            if count < pages.size {
                if expected == nil { return .afterEnd }
                if refreshed { throw .missingPage(page: page) }
            } else if expected == nil, isZero(sealed, pages.size) {
                return .gap
            } else {
                let version = pages.version(of: sealed)
                if version == expected { return .written(version) }
                if refreshed {
                    // Checks for damage before staleness: an older version of the page would open.
                    try pages.open(sealed, at: .main(page: page), into: pages.room.clear)
                    throw .stalePage(page: page)
                }
            }
            try pages.refresh()
            refreshed = true
        }
    }

    /// Accepts, after a journal was played back, pages that the interrupted transaction wrote and that are not in its
    /// journal.
    ///
    /// SQLite leaves pages that were free out of a journal, because nothing refers to them. The versions that were
    /// written to them never became valid, so a program that reads every page, such as a backup, would find them stale.
    /// Their seal names the transaction that wrote them. Pages that a damaged journal failed to restore do not have
    /// this mark and stay refused.
    func adoptFreePages(
        of sequence: UInt64, _ pages: OpenPages, count: UInt32
    ) throws(VFSFailure) {
        for page in stride(from: 1 as UInt32, through: count, by: 1) {
            guard let expected = pages.index.version(of: page) else { continue }
            let (sealed, room) = (pages.room.scratch, pages.room)
            guard (try? file.read(page, room, into: sealed)) == room.size else { continue }
            let version = pages.version(of: sealed)
            guard version != expected,
                let extra = try? pages.open(sealed, at: .main(page: page), into: room.clear),
                extra == sequence
            else { continue }
            try pages.note(version, of: page)
        }
    }

    /// Returns the extra bytes for a page: the batch that the transaction started from if its journal has no copy of
    /// the page, otherwise 0.
    private func extra(of page: UInt32) -> UInt64 {
        guard case .journal(.own(let journaled)) = sidecar, !journaled.contains(page) else { return 0 }
        return journaled.sequence
    }

    private func isZero(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
        stride(from: 0, to: count, by: 8).allSatisfy { bytes.load(fromByteOffset: $0, as: UInt64.self) == 0 }
    }
}
