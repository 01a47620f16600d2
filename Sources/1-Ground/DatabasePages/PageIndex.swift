import Bytes
import CLibrary

/// The record of the valid seal of each page, by which an older copy of a page is refused, and of the write-ahead log
/// that belongs to the file.
///
/// Each connection has its own index and uses it from one thread at a time, as it uses the connection. Appending locks
/// the index's file, so any number of connections and processes may append.
package final class PageIndex {
    /// The state of a write-ahead log, from the salts in its header.
    package enum LogStanding: Sendable, Equatable {
        /// The contents of the log are valid.
        case current
        /// The whole log was copied into the file before the next one began. It reads as empty.
        case finished
        /// The log belongs to another database or to another time of this one.
        case foreign
    }

    package let path: String
    private let database: DatabaseID
    private let key: SecretBytes
    private let isWritable: Bool
    private var log: IndexLog
    /// The versions that were set but not flushed.
    private var pending: [UInt32: UInt64] = [:]
    /// After a failed compaction, the file size in bytes at which to try again.
    private var compactionSize = 0

    private init(_ log: IndexLog, _ database: DatabaseID, _ key: SecretBytes, isWritable: Bool) {
        path = log.file.path
        (self.log, self.database, self.key, self.isWritable) = (log, database, key, isWritable)
    }

    /// Returns the path of a database's index, which is beside the database. The name contains the id, so that renaming
    /// another database over this one also replaces the index.
    package static func path(ofDatabase path: String, _ database: DatabaseID) -> String {
        "\(path)-\(database).pages"
    }

    /// Creates the index of a new database durably.
    ///
    /// - Parameter mode: The permissions of the file. The umask does not reduce them.
    package static func create(
        _ path: String, database: DatabaseID, key: SecretBytes, mode: mode_t = 0o600
    ) throws(PageIndexError) -> PageIndex {
        try create(path, database, key, mode, IndexState(sequence: 1), [])
    }

    /// Creates the index of a database that lost it, durably.
    ///
    /// - Parameters:
    ///   - versions: The versions of the pages from the first on; 0 for pages that were never written.
    ///   - sequence: The sequence of the rollback journal beside the database; at least 1.
    ///   - walSalts: The salts of the write-ahead log beside the database; 0 without one.
    package static func restore(
        _ path: String, database: DatabaseID, key: SecretBytes, versions: [UInt64], sequence: UInt64, walSalts: UInt64
    ) throws(PageIndexError) -> PageIndex {
        let state = IndexState(
            sequence: max(1, sequence), pageCount: UInt32(clamping: versions.count), walSalts: walSalts)
        return try create(path, database, key, 0o600, state, versions)
    }

    private static func create(
        _ path: String, _ database: DatabaseID, _ key: SecretBytes, _ mode: mode_t, _ state: IndexState,
        _ versions: [UInt64]
    ) throws(PageIndexError) -> PageIndex {
        let file = try IndexFile.replacement(of: path)
        do throws(PageIndexError) {
            try file.setMode(mode)
            let log = try IndexLog(new: file, key, database, state, versions)
            try file.link(to: path)
            file.unlock()
            return PageIndex(log, database, key, isWritable: true)
        } catch {
            if file.path != path { unlink(file.path) }
            throw error
        }
    }

    /// Opens an existing index.
    ///
    /// - Parameter writing: False if the file may not be written.
    package static func open(
        _ path: String, database: DatabaseID, key: SecretBytes, writing: Bool = true
    ) throws(PageIndexError) -> PageIndex {
        let file = try IndexFile(path, flags: writing ? O_RDWR : O_RDONLY)
        return PageIndex(try IndexLog(file, key, database), database, key, isWritable: writing)
    }

    /// Removes the index of a removed database, if there is one.
    package static func remove(_ path: String) throws(PageIndexError) {
        unlink(path + "-new")
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("remove", path) }
    }

    /// Reads the batches of other connections if the file has grown. Call it at the start of each transaction, when
    /// SQLite has its lock. Takes one short system call if there is nothing new.
    package func refreshIfLonger() throws(PageIndexError) {
        if !log.looksUnchanged { try refresh() }
    }

    /// Reads the batches of other connections, even if the file seems unchanged. Call it before a page counts as stale
    /// and before appending.
    ///
    /// - Returns: Whether there was anything new.
    @discardableResult
    package func refresh() throws(PageIndexError) -> Bool {
        switch try log.refresh() {
        case .none: return false
        case .read: return true
        case .other:
            let file = try IndexFile(path, flags: isWritable ? O_RDWR : O_RDONLY)
            let other = try IndexLog(file, key, database)
            // A file that was cut in place lacks a batch that its writer took back.
            if try !log.file.isInPlace(log.file.status), other.state.sequence < log.state.sequence {
                throw .older(path: path)
            }
            log = other
            return true
        }
    }

    // MARK: Pages

    /// Returns the valid version of a page: the last one that this connection set, or else the one in the file.
    package func version(of page: UInt32) -> PageVersion? {
        if !pending.isEmpty, let version = pending[page] { return PageVersion(rawValue: version) }
        guard page != 0, page <= log.versions.count else { return nil }
        let version = log.versions[Int(page) - 1]
        return version == 0 ? nil : PageVersion(rawValue: version)
    }

    /// Notes the version of a page before the page is written to the file. Reserves room on the disk for
    /// ``flush(pageCount:walFrames:durably:)``.
    ///
    /// - Throws: ``PageIndexError/diskFull(path:)``. Nothing is noted then.
    package func set(_ version: PageVersion, of page: UInt32) throws(PageIndexError) {
        guard isWritable else { throw .readOnly(path: path) }
        guard page != 0, version.rawValue != 0 else { throw .pageOutOfRange(page: page) }
        try log.reserve(pending.count + 1)
        pending[page] = version.rawValue
    }

    /// Whether there are versions that were set but not flushed.
    package var hasPending: Bool { !pending.isEmpty }

    /// Discards the versions that were set but not flushed, because their pages were not written.
    package func discardPending() { pending.removeAll() }

    // MARK: Batches

    /// Appends the versions that were set. From then on they are valid for all connections. Their pages must be in the
    /// file before; for a durable flush, on the disk.
    ///
    /// In a transaction with a rollback journal, this commits the transaction: journals with the previous ``sequence``
    /// are no longer valid. Does nothing if no version was set, the number of pages is unchanged and, for a durable
    /// flush, everything is on the disk.
    ///
    /// - Parameters:
    ///   - pageCount: The present number of pages in the file; versions of later pages are removed. Nil for the former
    ///     number, or the last page that was set if that is larger.
    ///   - walFrames: The last frame of the present write-ahead log that was copied into the file; 0 for none.
    /// - Throws: An error without any effect: the same versions stay valid, and the set versions stay noted.
    package func flush(pageCount: UInt32?, walFrames: UInt32 = 0, durably: Bool) throws(PageIndexError) {
        // Compares with the newest state, which other connections may have written.
        if pending.isEmpty { try refresh() }
        if pending.isEmpty, pageCount ?? log.state.pageCount == log.state.pageCount, walFrames <= log.state.walFrames {
            if durably, isWritable { try log.synchronize() }
            return
        }
        let last = pending.keys.max() ?? 0
        var entries = pending.map { PageVersionEntry(page: $0.key, version: $0.value) }
        if let pageCount { entries.removeAll { $0.page > pageCount } }
        entries.sort { $0.page < $1.page }
        try append(entries, durably: durably) { state in
            // The newest state, which other connections may have changed.
            state.pageCount = pageCount ?? max(state.pageCount, last)
            state.walFrames = max(state.walFrames, walFrames)
        }
        pending.removeAll(keepingCapacity: pending.count < 4096)
    }

    /// Records durably that a write-ahead log begins, before its header is written. The contents of the former log must
    /// be in the file.
    ///
    /// - Parameter former: The salts of the overwritten header; 0 if the file is new or empty.
    /// - Throws: ``PageIndexError/foreign(path:)`` if the former log does not belong to the database.
    package func beginWAL(salts: UInt64, over former: UInt64) throws(PageIndexError) {
        try append([], durably: true) { (state) throws(PageIndexError) in
            guard former == 0 || former == state.walSalts || former == state.previousWALSalts else {
                throw .foreign(path: path)
            }
            (state.previousWALSalts, state.walSalts, state.walFrames) = (former, salts, 0)
        }
    }

    /// Records durably that there is no write-ahead log any more, before the log is removed or truncated. Its contents
    /// must be in the file.
    package func endWAL() throws(PageIndexError) {
        try refresh()
        guard walSalts != 0 else { return }
        try append([], durably: true) { state in
            // Zero if another connection already did this.
            guard state.walSalts != 0 else { return }
            (state.previousWALSalts, state.walSalts, state.walFrames) = (state.walSalts, 0, 0)
        }
    }

    /// Appends a batch after reading those of all other connections.
    private func append(
        _ entries: [PageVersionEntry], durably: Bool, _ change: (inout IndexState) throws(PageIndexError) -> Void
    ) throws(PageIndexError) {
        guard isWritable else { throw .readOnly(path: path) }
        try lock()
        defer { log.file.unlock() }
        var state = log.state
        try change(&state)
        state.sequence += 1
        try log.append(entries, state, durably: durably)
        if log.end > max(2 * log.smallestSize + 65_536, compactionSize) { try compact() }
    }

    /// Takes the lock of the file with the name, and reads that file to its end.
    private func lock() throws(PageIndexError) {
        while true {
            let file = log.file
            try file.lock()
            do throws(PageIndexError) {
                try refresh()
            } catch {
                file.unlock()
                throw error
            }
            if log.file === file { return }
            // Another file has the name: closing the former one ended its lock. Or the same file was cut: release its
            // lock.
            file.unlock()
        }
    }

    /// Replaces the locked file with one that has only the valid entries. Also holds the new file's lock until its name
    /// is on the disk. Otherwise batches that others append to it could be lost with the name.
    private func compact() throws(PageIndexError) {
        var isInPlace = false
        do throws(PageIndexError) {
            let former = log
            let file = try IndexFile.replacement(of: path)
            do throws(PageIndexError) {
                try file.take(log.file.status)
                let compacted = try IndexLog(new: file, key, database, log.state, log.versions)
                try file.rename(to: path) {
                    log = compacted
                    (isInPlace, compactionSize) = (true, 0)
                    former.markReplaced()
                }
            } catch {
                if !isInPlace { unlink(file.path) }
                throw error
            }
        } catch {
            if isInPlace { throw error }
            // The batch is safe in the present file. In most cases there is no room on the disk for a second file.
            compactionSize = log.end + log.end / 2
        }
    }

    // MARK: State

    /// Returns the state of a write-ahead log with these salts in its header.
    package func standing(ofWAL salts: UInt64) -> LogStanding {
        switch salts {
        case 0: .foreign
        case walSalts: .current
        case previousWALSalts: .finished
        default: .foreign
        }
    }

    /// The salts of the present write-ahead log; 0 without one.
    package var walSalts: UInt64 { log.state.walSalts }
    /// The salts of the log that may still exist, because the header of the present one was not written.
    package var previousWALSalts: UInt64 { log.state.previousWALSalts }
    /// The number of frames of the present write-ahead log that may be in the file. A log with fewer frames was cut.
    /// With it, pages of different times would be mixed.
    package var walFrames: UInt32 { log.state.walFrames }
    /// The number of the last batch. Journals contain it.
    package var sequence: UInt64 { log.state.sequence }
    /// The number of pages in the file.
    package var pageCount: UInt32 { log.state.pageCount }
}
