import CSQLite
import SystemSQLite

/// The reason why the item store failed.
package enum StoreError: Error, Equatable {
    /// SQLite reports that the file is damaged, or the schema is not ours.
    case corrupt(reason: String)
    /// This software cannot have written the row.
    case malformedRow(id: Int64, reason: String)
    /// The rows are sealed with another keybag: another process erased the vault.
    case otherKeybag
    /// The store has a format version that this software does not know.
    case unknownFormat(Int)
    /// Other connections kept the store busy until the deadline.
    case busy
    case diskFull
    case readOnly
    case inputOutput(reason: String)
    case memoryUnavailable

    package init(_ error: any Error) {
        guard let error = error as? SQLiteError else {
            self = error as? StoreError ?? .inputOutput(reason: "\(type(of: error))")
            return
        }
        self =
            switch error.code {
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_MISMATCH,
                SQLITE_CONSTRAINT, SQLITE_TOOBIG:
                .corrupt(reason: error.message)
            // SQLITE_PROTOCOL: other connections held the log's locks for ten seconds.
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
            case SQLITE_FULL: .diskFull
            case SQLITE_READONLY, SQLITE_PERM: .readOnly
            case SQLITE_NOMEM: .memoryUnavailable
            // SQLITE_IOERR_SHMSIZE: the index of the log cannot be made, which readers need too.
            case SQLITE_IOERR where error.extendedCode == SQLITE_IOERR | 19 << 8: .diskFull
            default: .inputOutput(reason: error.message)
            }
    }
}
