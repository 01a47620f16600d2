import CommandKit
import DatabaseFiles
import StatusCodes

extension Failure {
    /// What went wrong with a database.
    init(_ error: ProtectedDatabaseError) {
        let message = error.message.escapedForTerminal
        switch error.code {
        case .locked: self.init(status: errSecInteractionNotAllowed, message)
        case .keyNotFound:
            self.init(status: errSecItemNotFound, message + (error.path.map(DatabaseKeyItems.wayBack) ?? ""))
        case .fileNotFound: self.init(status: errSecItemNotFound, message)
        case .fileExists, .alreadyEncrypted: self.init(status: errSecDuplicateItem, message)
        case .wrongKey, .damaged, .notDatabase: self.init(status: errSecDecode, message)
        case .authenticationFailed: self.init(status: errSecAuthFailed, message)
        case .userCanceled, .taskCanceled: self.init(status: errSecUserCanceled, message)
        case .accessDenied: self.init(status: errSecMissingEntitlement, message)
        case .notEncrypted, .invalidRequest, .unsupported: self.init(status: errSecParam, message)
        case .diskFull: self.init(status: errSecDiskFull, exitCode: ExitStatus.other, message)
        default: self.init(status: errSecIO, exitCode: ExitStatus.other, message)
        }
    }
}

extension ProtectedDatabaseError: ReportedError {
    package var failure: Failure { Failure(self) }
}
