import Glibc
import KeychainModel

/// Which seal of each page of a database's file is in force, so that an older copy of a page is not taken for it; and which
/// write-ahead log belongs to the file.
///
/// Each connection has one of its own and uses it as it uses its connection: from one thread at a time. Appending takes a
/// lock on the index's file, so that any number of connections and processes may.
package final class PageIndex {
    /// What the salts of a write-ahead log's header say about it.
    package enum LogStanding: Sendable, Equatable {
        /// What it holds counts.
        case current
        /// It was copied into the file as a whole before its successor was begun: reads as an empty one.
        case finished
        /// It belongs to another database, or to another time of this one.
        case foreign
    }

    package let path: String
    private let database: DatabaseID
    private let key: SecretBytes
    private let isWritable: Bool
    private var log: IndexLog
    /// What was set and not flushed.
    private var pending: [UInt32: UInt64] = [:]
    /// The size of the file at which a compaction is tried again, after one that failed.
    private var compactionSize = 0

    private init(_ log: IndexLog, _ database: DatabaseID, _ key: SecretBytes, isWritable: Bool) {
        path = log.file.path
        (self.log, self.database, self.key, self.isWritable) = (log, database, key, isWritable)
    }

    /// Where the index of a database is: beside it, with its id in the name, so that another database takes its place and
    /// its index at once by a rename.
    package static func path(ofDatabase path: String, _ database: DatabaseID) -> String {
        "\(path)-\(database).pages"
    }

    /// Makes the index of a new database, durably.
    ///
    /// - Parameter mode: Who may use the file, whatever the umask says.
    package static func create(
        _ path: String, database: DatabaseID, key: SecretBytes, mode: mode_t = 0o600
    ) throws(PageIndexError) -> PageIndex {
        try create(path, database, key, mode, IndexState(sequence: 1), [])
    }

    /// Makes the index of a database that lost it, durably.
    ///
    /// - Parameters:
    ///   - versions: Of the pages of the file, from the first on; 0 for those that were never written.
    ///   - sequence: Of the rollback journal that is beside it; at least 1.
    ///   - walSalts: Of the write-ahead log that is beside it; 0 if there is none.
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

    /// Reads an index.
    ///
    /// - Parameter writing: False where the file may not be written.
    package static func open(
        _ path: String, database: DatabaseID, key: SecretBytes, writing: Bool = true
    ) throws(PageIndexError) -> PageIndex {
        let file = try IndexFile(path, flags: writing ? O_RDWR : O_RDONLY)
        return PageIndex(try IndexLog(file, key, database), database, key, isWritable: writing)
    }

    /// Removes the index of a database that is removed; nothing happens if there is none.
    package static func remove(_ path: String) throws(PageIndexError) {
        unlink(path + "-new")
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("remove", path) }
    }

    /// Reads what other connections have appended, at the start of each transaction, once SQLite has its lock. One short system
    /// call if there is nothing new.
    package func refreshIfLonger() throws(PageIndexError) {
        if !log.looksUnchanged { try refresh() }
    }

    /// Reads what other connections have appended, whatever it looks like: before a page is called stale, and before anything is
    /// appended.
    ///
    /// - Returns: Whether there was.
    @discardableResult
    package func refresh() throws(PageIndexError) -> Bool {
        switch try log.refresh() {
        case .none: return false
        case .read: return true
        case .other:
            let file = try IndexFile(path, flags: isWritable ? O_RDWR : O_RDONLY)
            let other = try IndexLog(file, key, database)
            // One that was cut in its place lacks a batch that its writer took back.
            if try !log.file.isInPlace(log.file.status), other.state.sequence < log.state.sequence {
                throw .older(path: path)
            }
            log = other
            return true
        }
    }

    // MARK: Pages

    /// The seal of a page that is in force: the one that this connection wrote last, if it wrote one.
    package func version(of page: UInt32) -> PageVersion? {
        if !pending.isEmpty, let version = pending[page] { return PageVersion(rawValue: version) }
        guard page != 0, page <= log.versions.count else { return nil }
        let version = log.versions[Int(page) - 1]
        return version == 0 ? nil : PageVersion(rawValue: version)
    }

    /// Notes the seal of a page that is about to be written to the file, and takes room on the disk for
    /// ``flush(pageCount:walFrames:durably:)``.
    ///
    /// - Throws: ``PageIndexError/diskFull(path:)``, with nothing noted.
    package func set(_ version: PageVersion, of page: UInt32) throws(PageIndexError) {
        guard isWritable else { throw .readOnly(path: path) }
        guard page != 0, version.rawValue != 0 else { throw .pageOutOfRange(page: page) }
        try log.reserve(pending.count + 1)
        pending[page] = version.rawValue
    }

    /// Whether something was set that was not flushed.
    package var hasPending: Bool { !pending.isEmpty }

    /// Forgets what was set and not flushed: for pages that were not written after all.
    package func discardPending() { pending.removeAll() }

    // MARK: Batches

    /// Appends what was set, which is from then on in force for all. The pages have to be in the file before, and on the
    /// disk if it is to be durable.
    ///
    /// In a transaction with a rollback journal this is the point at which it is committed: journals of the former ``sequence``
    /// are over. Does nothing if nothing was set, the number of pages is the same and, if it is to be durable, the disk has all.
    ///
    /// - Parameters:
    ///   - pageCount: How many pages the file has now; pages behind are forgotten. Nil for as many as before, or up to
    ///     the last one that was set.
    ///   - walFrames: The number of the last frame of the present write-ahead log that was copied into the file, if any was.
    /// - Throws: With nothing in force that was not before, and what was set still noted.
    package func flush(pageCount: UInt32?, walFrames: UInt32 = 0, durably: Bool) throws(PageIndexError) {
        // What is the same as before is so compared with what others have left.
        if pending.isEmpty { try refresh() }
        if pending.isEmpty, pageCount ?? log.state.pageCount == log.state.pageCount, walFrames <= log.state.walFrames {
            if durably, isWritable { try log.synchronize() }
            return
        }
        let last = pending.keys.max() ?? 0
        var entries = pending.map { IndexEntry(page: $0.key, version: $0.value) }
        if let pageCount { entries.removeAll { $0.page > pageCount } }
        entries.sort { $0.page < $1.page }
        try append(entries, durably: durably) { state in
            // As others have left it by now.
            state.pageCount = pageCount ?? max(state.pageCount, last)
            state.walFrames = max(state.walFrames, walFrames)
        }
        pending.removeAll(keepingCapacity: pending.count < 4096)
    }

    /// Notes that a write-ahead log is begun, durably, before its header is written. What was in the former one has to be
    /// in the file.
    ///
    /// - Parameter former: The salts of the header that is overwritten; 0 if the file is new or empty.
    /// - Throws: ``PageIndexError/foreign(path:)`` if that log does not belong to the database.
    package func beginWAL(salts: UInt64, over former: UInt64) throws(PageIndexError) {
        try append([], durably: true) { (state) throws(PageIndexError) in
            guard former == 0 || former == state.walSalts || former == state.previousWALSalts else {
                throw .foreign(path: path)
            }
            (state.previousWALSalts, state.walSalts, state.walFrames) = (former, salts, 0)
        }
    }

    /// Notes, durably, that there is no write-ahead log any more, before it is removed or cut to nothing. What was in it has
    /// to be in the file.
    package func endWAL() throws(PageIndexError) {
        try refresh()
        guard walSalts != 0 else { return }
        try append([], durably: true) { state in
            // Zero if another connection was faster.
            guard state.walSalts != 0 else { return }
            (state.previousWALSalts, state.walSalts, state.walFrames) = (state.walSalts, 0, 0)
        }
    }

    /// Appends a batch with everything that others appended known.
    private func append(
        _ entries: [IndexEntry], durably: Bool, _ change: (inout IndexState) throws(PageIndexError) -> Void
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

    /// Takes the lock of the file that has the name, and reads it to its end.
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
            // Another file has the name. Closing the former one has ended its lock; or, if it was the same file that was cut:
            file.unlock()
        }
    }

    /// Writes a file with nothing but what is in force in the place of this one, whose lock is held. The new file's lock is, too,
    /// until its name is on the disk: batches that others append to it could otherwise be lost with the name.
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
            // The batch is in the file that is there: most often there is no room for a second one.
            compactionSize = log.end + log.end / 2
        }
    }

    // MARK: State

    /// Whether a write-ahead log with these salts in its header counts.
    package func standing(ofWAL salts: UInt64) -> LogStanding {
        switch salts {
        case 0: .foreign
        case walSalts: .current
        case previousWALSalts: .finished
        default: .foreign
        }
    }

    /// The salts of the present write-ahead log; 0 if there is none.
    package var walSalts: UInt64 { log.state.walSalts }
    /// The salts of the log that may still be there because the header of the present one was not written.
    package var previousWALSalts: UInt64 { log.state.previousWALSalts }
    /// So many frames of the present write-ahead log are in the file in part: a log with fewer was cut, and pages of different
    /// times would come together.
    package var walFrames: UInt32 { log.state.walFrames }
    /// The number of the last batch, which journals carry.
    package var sequence: UInt64 { log.state.sequence }
    /// How many pages the file has.
    package var pageCount: UInt32 { log.state.pageCount }
}
