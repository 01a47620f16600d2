import Frames
import SQLCipherWire

/// The error of an operation on a SQLCipher file.
package enum SQLCipherError: Error, Equatable, CustomStringConvertible {
    /// The helper refused the request.
    case refused(RequestFailure)
    /// The program `keychain-sqlcipher` was not found or does not start.
    case helperMissing(reason: String)
    /// The helper ended during its work. The status is its exit status, or 128 plus the number of the signal.
    case helperEnded(status: Int32)
    /// The helper's bytes violate the protocol.
    case notUnderstood(FrameError)
    /// The database is closed, or another request is running.
    case misused(reason: String)
    /// An operation on a file failed.
    case file(path: String, reason: String)

    package var code: RequestFailure.Code? {
        guard case .refused(let failure) = self else { return nil }
        return failure.code
    }

    package var description: String {
        switch self {
        case .refused(let failure): failure.description
        case .helperMissing(let reason): reason
        case .helperEnded(let status) where status > 128:
            "keychain-sqlcipher was ended by signal \(status - 128): the database has everything that was "
                + "committed; open it again"
        case .helperEnded(let status):
            "keychain-sqlcipher ended with status \(status): the database has everything that was "
                + "committed; open it again"
        case .notUnderstood(let error):
            "the answer of keychain-sqlcipher is not understood (\(error)): install it again"
        case .misused(let reason): reason
        case .file(let path, let reason): "\(path): \(reason)"
        }
    }
}

extension RequestFailure: CustomStringConvertible {
    package var description: String {
        switch code {
        case .damaged: "the database is damaged: \(reason); restore it from a backup"
        case .busy: "another program uses the database: \(reason); try again when it has finished"
        case .full: "there is no room on the disk: \(reason); nothing was changed"
        case .readOnly: "the database cannot be written: \(reason)"
        case .inputOutput: "the file cannot be read or written: \(reason)"
        case .refused: "the helper does not allow this: \(reason)"
        default: reason
        }
    }
}
