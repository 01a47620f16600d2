import CLibrary
import CSQLite
import DatabasePages

/// The reason why an encrypted database could not be read or written, in more detail than SQLite's codes.
package enum VFSFailure: Error, Equatable, Sendable, CustomStringConvertible {
    case notRegistered(path: String)
    /// The key was revoked, for example by locking.
    case revoked(path: String)
    case notEncrypted(path: String)
    case notDatabase(path: String)
    /// The key does not open the first page. The form wrote the message.
    case wrongKey(path: String, message: String)
    case page(PageError)
    /// An older version of a page, or one that never became valid.
    case stalePage(page: UInt32)
    /// The file ends before a page that it should have.
    case missingPage(page: UInt32)
    case index(PageIndexError)
    /// The connection would write sorted data to the disk in plaintext.
    case attachedElsewhere(path: String)
    case foreignLog(path: String)
    /// A part of the log was copied into the file, and now the log lacks a frame of that part.
    case incompleteLog(frame: UInt32)
    case damagedFrame(frame: UInt32)
    case foreignJournal(path: String)
    case damagedJournal(path: String)
    case pageSizeChange(from: Int, to: Int)
    case unexpectedAccess(operation: String, offset: Int64, count: Int)
    /// A connection is using the database.
    case inUse(path: String)
    case diskFull(path: String)
    case system(operation: String, path: String, errno: Int32)
    case memoryUnavailable

    /// The code for SQLite.
    var code: Int32 {
        switch self {
        case .notRegistered, .attachedElsewhere: SQLITE_CANTOPEN
        case .revoked: SQLiteCode.ioAuthorization
        case .notEncrypted, .notDatabase, .wrongKey, .index(.wrongKey): SQLITE_NOTADB
        case .page(.memoryUnavailable), .index(.memoryUnavailable), .memoryUnavailable: SQLiteCode.ioNoMemory
        case .index(.diskFull), .diskFull: SQLITE_FULL
        case .index(.missing), .index(.foreign): SQLITE_CANTOPEN
        case .index(.inUse), .inUse: SQLITE_BUSY
        case .index(.readOnly): SQLITE_READONLY
        case .page, .stalePage, .missingPage, .index, .foreignLog, .incompleteLog, .damagedFrame, .foreignJournal,
            .damagedJournal:
            SQLiteCode.ioData
        case .pageSizeChange, .unexpectedAccess, .system: SQLITE_IOERR
        }
    }

    package var description: String {
        switch self {
        case .notRegistered(let path): "no key was given for \(path); open it as a protected database"
        case .revoked(let path): "the key of \(path) is locked; unlock the keychain and open the database again"
        case .notEncrypted(let path): "\(path) is a plain SQLite database; encrypt it first"
        case .notDatabase(let path): "\(path) is not an encrypted database"
        case .wrongKey(_, let message): message
        case .page(let error): error.description
        case .stalePage(let page): "page \(page) is an older version; restore the database from a backup"
        case .missingPage(let page): "the file ends before page \(page); restore the database from a backup"
        case .index(let error): error.description
        case .attachedElsewhere(let path):
            "\(path) is attached to a connection that keeps temporary files on the disk; open that with "
                + "?vfs=keychain, too"
        case .foreignLog(let path):
            "\(path) is not the write-ahead log of this database, or is of another time; put back the one that "
                + "belongs to it"
        case .incompleteLog(let frame):
            "the write-ahead log lacks frame \(frame), which the database depends on; put the whole log back beside it"
        case .damagedFrame(let frame): "frame \(frame) of the write-ahead log is damaged, or sealed with another key"
        case .foreignJournal(let path): "\(path) is not a journal of this database; put back the one that belongs to it"
        case .damagedJournal(let path):
            "\(path) is damaged; put back a whole copy or restore the database from a backup"
        case .pageSizeChange(let present, let wanted):
            "an encrypted database keeps its page size of \(present) bytes; use VACUUM INTO for one of \(wanted) bytes"
        case .unexpectedAccess(let operation, let offset, let count):
            "cannot \(operation) \(count) bytes at \(offset), which is not a page"
        case .inUse(let path): "\(path) is in use; close it in other programs and try again"
        case .diskFull(let path): "no space left to write \(path); free some and try again"
        case .system(let operation, let path, let errno):
            "cannot \(operation) \(path): \(String(cString: strerror(errno)))"
        case .memoryUnavailable: "out of memory"
        }
    }

    package static func system(_ operation: String, _ path: String) -> VFSFailure {
        let code = errno
        return code == ENOSPC || code == EDQUOT
            ? .diskFull(path: path) : .system(operation: operation, path: path, errno: code)
    }
}
