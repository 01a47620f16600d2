import StatusCodes
import VaultInterface

/// An error of a lower floor that commands show to a person.
package protocol ReportedError: Error {
    var failure: Failure { get }
}

extension Failure {
    /// What an error of a lower floor is to a person. Commands pass such errors on, and this turns them into messages.
    ///
    /// - Returns: Nil for other errors, such as those of the argument parser.
    package init?(reporting error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as VaultError: self.init(error)
        case let error as any ReportedError: self = error.failure
        default: return nil
        }
    }

    /// The same for any error.
    package init(_ error: any Error) {
        self = Failure(reporting: error) ?? Failure(status: errSecParam, "\(error)".escapedForTerminal)
    }
}
