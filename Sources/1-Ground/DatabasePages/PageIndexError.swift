import CLibrary

/// A fault of a database's page index.
package enum PageIndexError: Error, Equatable, CustomStringConvertible {
    case missing(path: String)
    case alreadyExists(path: String)
    /// The file is not an index, or it belongs to another database.
    case foreign(path: String)
    /// The index of this database does not open: the key is wrong.
    case wrongKey(path: String)
    /// A batch before the last one does not verify.
    case damaged(path: String)
    /// An older file replaced the index while it was in use.
    case older(path: String)
    /// A page number that no index can have.
    case pageOutOfRange(page: UInt32)
    /// Another process held the lock until the deadline.
    case inUse(path: String)
    case readOnly(path: String)
    case diskFull(path: String)
    case system(operation: String, path: String, errno: Int32)
    case memoryUnavailable

    package var description: String {
        switch self {
        case .missing(let path):
            "\(path), the page index of the database, does not exist; if the database was moved without it, finish "
                + "that with `keychain db move OLD NEW`; otherwise put it back beside the database, or make a new one "
                + "from the present pages with `keychain db recover`"
        case .alreadyExists(let path): "\(path) exists already"
        case .foreign(let path): "\(path) does not belong to this database"
        case .wrongKey(let path): "\(path) does not open with this key, or its beginning is damaged"
        case .damaged(let path): "\(path) is damaged; restore it and the database from a backup"
        case .older(let path):
            "an older file replaced \(path) while it was in use; put back the one that was there"
        case .pageOutOfRange(let page): "no database has a page \(page)"
        case .inUse(let path): "another process is writing to \(path); try again when it is done"
        case .readOnly(let path): "\(path) cannot be written"
        case .diskFull(let path): "no space left to write \(path); free some and try again"
        case .system(let operation, let path, let errno):
            "cannot \(operation) \(path): \(String(cString: strerror(errno)))"
        case .memoryUnavailable: "out of memory"
        }
    }
}
