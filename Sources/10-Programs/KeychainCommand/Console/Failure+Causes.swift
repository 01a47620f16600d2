import Attestation
import DatabaseFiles
import ItemFiles
import KeyCryptography
import MountedFolder
import ProtectedFiles
import StatusCodes
import SystemSQLite
import VaultInterface

extension Failure {
    /// What an error of a lower floor is to a person. Commands pass such errors on, and this turns them into messages.
    ///
    /// - Returns: Nil for other errors, such as those of the argument parser.
    init?(reporting error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as VaultError: self.init(error)
        case let error as KeyError: self.init(error)
        case let error as AttestationError: self.init(error)
        case let error as SealedFileError: self.init(error)
        case let error as ItemFileError: self.init(error)
        case let error as MountError: self.init(error)
        case let error as ProtectedDatabaseError: self.init(error)
        case let error as SQLiteError: self.init(ProtectedDatabaseError(error))
        default: return nil
        }
    }

    /// The same for any error.
    init(_ error: any Error) {
        self = Failure(reporting: error) ?? Failure(status: errSecParam, "\(error)".escapedForTerminal)
    }
}
