/// The form of a database's pages, with the key: what is registered for a file.
package protocol PageForm: Sendable {
    /// The bytes that each page of a new database reserves for its seal.
    var reserved: Int { get }

    /// Whether the other form has the same key and the same settings.
    func isSame(as other: any PageForm) -> Bool

    /// Returns the pages of a file that a connection has opened.
    func store(in file: OpenFile) -> any PageStore
}

/// The pages of one connection's database, in a form.
///
/// Only the holder of the connection's lock uses it. A store keeps the key until ``forgetKey()``.
package protocol PageStore: AnyObject {
    /// Returns the room for pages; nil while the file is empty and has no page size.
    ///
    /// - Throws: ``VFSFailure`` for a file that is no database of the key.
    func open() throws(VFSFailure) -> PageRoom?

    /// Makes a database of an empty file. SQLite holds the file exclusively.
    func create(pageSize: Int) throws(VFSFailure) -> PageRoom

    /// Reads a page of the file. Returns false after the end of the file.
    func read(_ page: UInt32, into bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Bool

    /// Reads the bytes 24..<40 of the first page, in which SQLite sees whether anything changed since its last
    /// transaction. Returns nil if there is no first page.
    func changes() throws(VFSFailure) -> (UInt64, UInt64)?

    /// Writes a page to the file.
    func write(_ page: UInt32, _ bytes: UnsafeRawPointer) throws(VFSFailure)

    /// Takes the key for good, and wipes what was derived from it.
    func forgetKey()

    /// Does what the form needs at an event.
    func note(_ event: FileEvent) throws(VFSFailure)

    /// Whether ``FileEvent/sharedBarrier`` means anything to the form.
    var watchesSharedIndex: Bool { get }

    /// Returns the memory that SQLite gets for a part of the shared index of the log.
    func mapped(_ region: Int32, at address: UnsafeMutableRawPointer) throws(VFSFailure) -> UnsafeMutableRawPointer

    /// Returns whether SQLite gets a lock on the shared index if it is free.
    func admits(_ lock: SharedLock) -> Bool

    /// Returns the log that the connection begins to use.
    func log(_ frames: LogFrames) -> any LogForm

    /// Returns the journal that the connection begins to use.
    func journal(_ path: String) -> any JournalForm
}

/// What happens to a connection's database, besides reads and writes of its pages.
package enum FileEvent {
    /// The next read looks for changes of other connections.
    case transactionBegins
    /// A transaction is in the file, and SQLite still has its locks.
    case commits
    /// The lock for writing is about to go down to a level.
    case writingEnds(level: Int32)
    case synced
    /// SQLite has cut the file to a size.
    case cut(to: Int64)
    case closes
    case checkpointBegins, checkpointEnds
    /// The journal is about to become invalid: SQLite removes, cuts or overwrites it.
    case journalEnds
    /// SQLite is about to read the contents of a log of this size.
    case logOpens(size: Int64)
    /// The log is about to be removed, or cut to nothing. All of it is in the file.
    case logEnds
    case logCloses
    /// A lock on the shared index of the log is about to change.
    case sharedLockChanges(SharedLock)
    /// The lock is taken. The next read looks for changes of other connections.
    case sharedLockTaken(SharedLock)
    /// SQLite has written to the shared index of the log, or is about to read it.
    case sharedBarrier
    /// SQLite is about to unmap the shared index of the log.
    case unmaps
}

extension PageStore {
    package var watchesSharedIndex: Bool { false }

    package func mapped(_ region: Int32, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer { address }

    package func admits(_ lock: SharedLock) -> Bool { true }
}

/// A connection's log, in a form. It knows how a frame is sealed, and which frames are valid.
package protocol LogForm: AnyObject {
    /// Reads the header, when SQLite looks for the contents of the log.
    func readHeader(_ bytes: UnsafeMutableRawPointer) throws(VFSFailure) -> Int32

    /// Writes the header, with which a new log begins.
    func writeHeader(_ bytes: UnsafeRawPointer) throws(VFSFailure)

    /// Reads a valid page. Its frame is in the scratch memory afterwards.
    ///
    /// - Returns: The checksum of the frame as SQLite sees it; nil after the end of the log.
    func readFrame(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt64?

    /// Reads a page for SQLite.
    ///
    /// - Returns: Whether the log has the frame.
    func readPage(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> Bool

    /// Reads a frame with its header, as ``readFrame(_:into:)`` does. SQLite wants this when it looks for the contents
    /// of the log, and before it writes a new header for the frame.
    ///
    /// - Returns: The checksum for SQLite; nil for a frame that is not valid, where the log ends.
    func readWholeFrame(_ frame: UInt32, into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt64?

    /// Returns the checksum of a frame, from which SQLite computes that of the next frame.
    func checksum(of frame: UInt32) throws(VFSFailure) -> UInt64?

    func writeFrame(_ frame: UInt32, _ header: FrameHeader, _ page: UnsafeRawPointer) throws(VFSFailure)

    /// Writes another header for a frame whose page SQLite has just read.
    func rewriteHeader(_ frame: UInt32, _ header: FrameHeader) throws(VFSFailure)
}

/// A connection's journal, in a form. It knows how a record is sealed, and when a journal is valid.
package protocol JournalForm: AnyObject {
    /// Returns the header of the journal, or of a part of it, as it is written.
    ///
    /// - Parameter sector: SQLite's header.
    func header(_ sector: UnsafeRawPointer, at offset: Int64) throws(VFSFailure) -> JournalHeader

    /// Seals a record to the scratch memory.
    ///
    /// - Parameters:
    ///   - record: Page number, page, and room for a checksum.
    ///   - checksum: SQLite's checksum of the plaintext page.
    func seal(_ record: UnsafeRawPointer, checksum: UInt32) throws(VFSFailure)

    /// Opens the record in the scratch memory.
    ///
    /// - Parameter page: Gets the plaintext page.
    /// - Returns: SQLite's checksum of the plaintext page.
    func open(into page: UnsafeMutableRawPointer) throws(VFSFailure) -> UInt32

    /// Returns whether the journal with this header is no longer valid. SQLite asks this before it plays it back.
    func isOver(_ header: JournalHeader, willPlay: Bool) throws(VFSFailure) -> Bool
}
