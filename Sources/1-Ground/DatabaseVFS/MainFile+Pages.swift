import Bytes
import CLibrary
import CSQLite
import DatabasePages

extension MainFile {
    func readPages(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) -> Int32 {
        guard let bytes, count > 0, offset >= 0 else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        if offset == 0, count == FileFormat.openingRead { return try readOpening(bytes, count) }
        guard let pages = try pages() else { return try readNothing(bytes, count) }
        let page = UInt32(clamping: offset / Int64(pages.size) + 1)
        let start = Int(offset % Int64(pages.size))
        guard start + count <= pages.size else {
            throw .unexpectedAccess(operation: "read", offset: offset, count: count)
        }
        if count == pages.size { return try readPage(page, pages, into: bytes) }
        if page == 1, start == 24, count == 16 { return try readChanges(bytes, pages) }
        // SQLite reads the start of a page if it needs only that part (SQLITE_DIRECT_OVERFLOW_READ).
        let code = try readPage(page, pages, into: pages.clear)
        memcpy(bytes, pages.clear + start, count)
        return code
    }

    /// Reads the first bytes before SQLite has a lock: the page may be half written, or about to be rolled back.
    private func readOpening(_ bytes: UnsafeMutableRawPointer, _ count: Int) throws(VFSFailure) -> Int32 {
        memset(bytes, 0, count)
        // Zeros for an empty file, so that its page size can still be chosen; see ``reserveBytesIfEmpty()``.
        guard let pages = try pages() else { return SQLiteCode.ioShortRead }
        let header = DatabaseHeader.synthetic(pageSize: pages.size, reserved: PageGeometry.reserved)
        _ = header.withUnsafeBytes { memcpy(bytes, $0.baseAddress ?? UnsafeRawPointer(bytes), min(count, $0.count)) }
        return SQLITE_OK
    }

    /// Reads from an empty file, or from a file that its journal will restore to empty.
    private func readNothing(_ bytes: UnsafeMutableRawPointer, _ count: Int) throws(VFSFailure) -> Int32 {
        var size: Int64 = 0
        guard inner.size(&size) == SQLITE_OK, size == 0 else { throw .notDatabase(path: path) }
        memset(bytes, 0, count)
        return SQLiteCode.ioShortRead
    }

    private func readPage(
        _ page: UInt32, _ pages: OpenPages, into bytes: UnsafeMutableRawPointer
    ) throws(VFSFailure) -> Int32 {
        try pages.refreshOnce()
        switch try readSealed(page, pages, into: bytes) {
        case .afterEnd:
            memset(bytes, 0, pages.size)
            return SQLiteCode.ioShortRead
        case .gap:
            memset(bytes, 0, pages.size)
        case .written(let version):
            try pages.open(bytes, at: .main(page: page), into: bytes)
            if page == 1 { keepChanges(of: bytes, version, pages) }
        }
        return SQLITE_OK
    }

    /// Reads the 16 bytes in which SQLite sees whether anything changed since its last transaction.
    private func readChanges(_ bytes: UnsafeMutableRawPointer, _ pages: OpenPages) throws(VFSFailure) -> Int32 {
        try pages.refreshOnce()
        guard case .written(let version) = try readSealed(1, pages, into: pages.scratch) else {
            memset(bytes, 0, 16)
            return SQLiteCode.ioShortRead
        }
        if pages.firstPage?.version != version {
            try pages.open(pages.scratch, at: .main(page: 1), into: pages.clear)
            keepChanges(of: pages.clear, version, pages)
        }
        if var changes = pages.firstPage?.changes { memcpy(bytes, &changes, 16) }
        return SQLITE_OK
    }

    private func keepChanges(of page: UnsafeRawPointer, _ version: PageVersion, _ pages: OpenPages) {
        pages.firstPage = (
            version,
            (
                page.loadUnaligned(fromByteOffset: 24, as: UInt64.self),
                page.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
            )
        )
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
            let count = WholeAccess.read(number, sealed, pages.size, at: Int64(page - 1) * Int64(pages.size))
            guard count >= 0 else { throw .system("read", path) }
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
                    try pages.open(sealed, at: .main(page: page), into: pages.clear)
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
    func adoptFreePages(of sequence: UInt64, _ pages: OpenPages) throws(VFSFailure) {
        let count = try pageCount(pages)
        for page in stride(from: 1 as UInt32, through: count, by: 1) {
            guard let expected = pages.index.version(of: page) else { continue }
            let offset = Int64(page - 1) * Int64(pages.size)
            guard WholeAccess.read(number, pages.scratch, pages.size, at: offset) == pages.size else { continue }
            let version = pages.version(of: pages.scratch)
            guard version != expected,
                let extra = try? pages.open(pages.scratch, at: .main(page: page), into: pages.clear),
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

    func writePage(_ bytes: UnsafeRawPointer?, _ count: Int, at offset: Int64) throws(VFSFailure) {
        guard let bytes, count > 0, offset >= 0, offset % Int64(count) == 0 else {
            throw .unexpectedAccess(operation: "write", offset: offset, count: count)
        }
        let pages = if let present = try pages() { present } else { try create(pageSize: count) }
        guard count == pages.size else { throw .pageSizeChange(from: pages.size, to: count) }
        let page = UInt32(clamping: offset / Int64(pages.size) + 1)
        if page == 1 {
            let stated = Int(bytes.loadUnaligned(fromByteOffset: 16, as: UInt16.self).bigEndian)
            guard stated == count & 0xFFFF || stated == 1 && count == 65_536 else {
                throw .pageSizeChange(from: pages.size, to: stated == 1 ? 65_536 : stated)
            }
        }
        let version = try pages.seal(
            bytes, extra: extra(of: page), at: .main(page: page), into: pages.scratch)
        try pages.note(version, of: page)
        guard WholeAccess.write(number, pages.scratch, pages.size, at: offset) else {
            throw .system("write", path)
        }
        if page == 1 { keepChanges(of: bytes, version, pages) }
    }
}
