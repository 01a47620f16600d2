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

    init(path: String) { self.path = path }

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
        throw .alreadyExists(path: path)
    }

    /// Reads an index.
    ///
    /// - Parameter writing: False where the file may not be written.
    package static func open(
        _ path: String, database: DatabaseID, key: SecretBytes, writing: Bool = true
    ) throws(PageIndexError) -> PageIndex {
        throw .missing(path: path)
    }

    /// Reads what other connections have appended. At the start of each transaction, once SQLite has its lock; and before a
    /// page is called stale. One system call if there is nothing new.
    ///
    /// - Returns: Whether there was.
    @discardableResult
    package func refresh() throws(PageIndexError) -> Bool { throw .missing(path: path) }

    /// The seal of a page that is in force: the one that this connection wrote last, if it wrote one.
    package func version(of page: UInt32) -> PageVersion? { nil }

    /// Notes the seal of a page that is about to be written to the file, and takes room on the disk for ``flush(pageCount:walFrames:durably:)``.
    package func set(_ version: PageVersion, of page: UInt32) throws(PageIndexError) {}

    /// Whether something was set that was not flushed.
    package var hasPending: Bool { false }

    /// Appends what was set, which is from then on in force for all. The pages have to be in the file before, and on the
    /// disk if it is to be durable.
    ///
    /// In a transaction with a rollback journal this is the point at which it is committed: journals of the former ``sequence`` are
    /// over. Does nothing if nothing was set, the number of pages is the same and, if it is to be durable, the disk has all.
    ///
    /// - Parameters:
    ///   - pageCount: How many pages the file has now; pages behind are forgotten. Nil for as many as before, or up to
    ///     the last one that was set.
    ///   - walFrames: The number of the last frame of the present write-ahead log that was copied into the file, if any was.
    package func flush(pageCount: UInt32?, walFrames: UInt32 = 0, durably: Bool) throws(PageIndexError) {}

    /// Notes that a write-ahead log is begun, durably, before its header is written. What was in the former one has to be
    /// in the file.
    package func beginWAL(salts: UInt64) throws(PageIndexError) {}

    /// Notes, durably, that there is no write-ahead log any more, before it is removed or cut to nothing. What was in it has
    /// to be in the file.
    package func endWAL() throws(PageIndexError) {}

    /// Whether a write-ahead log with these salts in its header counts.
    package func standing(ofWAL salts: UInt64) -> LogStanding { .foreign }

    /// The salts of the present write-ahead log; 0 if there is none.
    package var walSalts: UInt64 { 0 }
    package var previousWALSalts: UInt64 { 0 }
    /// So many frames of the present write-ahead log are in the file in part: a log with fewer was cut, and pages of different
    /// times would come together.
    package var walFrames: UInt32 { 0 }
    /// The number of the last batch, which journals carry.
    package var sequence: UInt64 { 0 }
    /// How many pages the file has.
    package var pageCount: UInt32 { 0 }
}
