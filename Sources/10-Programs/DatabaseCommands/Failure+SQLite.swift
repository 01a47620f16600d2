import CSQLite
import CommandKit
import DatabaseFiles
import StatusCodes
import SystemSQLite
import VaultInterface

/// Runs `body`, and names the database in SQLite's errors, which do not.
func namingDatabase<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as SQLiteError {
        throw Failure(error, of: path)
    }
}

extension Failure {
    /// What SQLite said of a database.
    init(_ error: SQLiteError, of path: String) {
        let message = "\(path.escapedForTerminal): \(error.message.escapedForTerminal)"
        switch error.code {
        case SQLITE_FULL:
            self.init(status: errSecDiskFull, exitCode: ExitStatus.other, message + ": free some space, and try again")
        case SQLITE_BUSY:
            self.init(
                status: errSecIO, exitCode: ExitStatus.other, message + ": another program uses it, try again later")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR:
            self.init(
                status: errSecDecode, message + ": `keychain db verify` shows whether it is damaged")
        case SQLITE_READONLY: self.init(status: errSecParam, message + ": say --write to change it")
        default: self.init(status: errSecParam, message)
        }
    }
}

extension SQLiteError: ReportedError {
    package var failure: Failure { Failure(ProtectedDatabaseError(self)) }
}
