import CommandKit
import ProtectedFiles
import StatusCodes

extension Failure {
    /// What went wrong with a file.
    init(_ error: SealedFileError) {
        switch error {
        case .refused(let refusal): self.init(refusal)
        case .notFound: self.init(status: errSecItemNotFound, error.description.escapedForTerminal)
        case .alreadyExists, .alreadyProtected:
            self.init(status: errSecDuplicateItem, error.description.escapedForTerminal)
        case .diskFull:
            self.init(status: errSecDiskFull, exitCode: ExitStatus.other, error.description.escapedForTerminal)
        case .wrongPassword: self.init(status: errSecAuthFailed, error.description.escapedForTerminal)
        case .damaged, .truncated: self.init(status: errSecDecode, error.description.escapedForTerminal)
        default: self.init(status: errSecIO, exitCode: ExitStatus.other, error.description.escapedForTerminal)
        }
    }
}

extension SealedFileError: ReportedError {
    package var failure: Failure { Failure(self) }
}
