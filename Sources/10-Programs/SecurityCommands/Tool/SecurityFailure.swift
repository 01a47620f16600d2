import CommandKit
import StatusCodes
import VaultInterface

/// An error in the words and with the exit status of `security`.
enum SecurityFailure: Error {
    /// The arguments make no sense; the usage follows the message.
    case usage(String)
    /// What failed, as `security` names it, and why.
    case operation(String, status: Int32, reason: String)
    /// A failure without one of Apple's status codes.
    case other(String)
    /// A failure that was told already.
    case reported

    /// Exit statuses: 2 for usage, else the low byte of the OSStatus.
    var exitCode: Int32 {
        switch self {
        case .usage: 2
        case .operation(_, let status, _): status & 0xFF
        case .other, .reported: 1
        }
    }

    var message: String {
        switch self {
        case .usage(let message), .other(let message): message
        case .reported: ""
        case .operation(let name, _, let reason): "\(name): \(reason)"
        }
    }

    /// A failure with one of Apple's status codes, in Apple's words.
    static func status(_ status: Int32, during operation: String) -> SecurityFailure {
        .operation(operation, status: status, reason: SecurityWords.text(for: status))
    }

    /// Returns the vault's error in the words of `security`, which scripts look for.
    static func vault(_ error: VaultError, during operation: String) -> SecurityFailure {
        let reason =
            switch error {
            case .itemNotFound:
                SecurityWords.text(for: errSecItemNotFound)
                    + (OtherTool.served.map { $0.isUnknownCopy ? "\n" + $0.note : "" } ?? "")
            case .itemExpired(let date):
                SecurityWords.text(for: errSecItemNotFound) + "\n"
                    + "It is there, and expired at \(Timestamp(date).iso8601): `keychain get --expired` reads it."
            case .duplicateItem: SecurityWords.text(for: errSecDuplicateItem)
            case .interactionNotAllowed, .itemPasswordMissing: SecurityWords.text(for: errSecInteractionNotAllowed)
            case _ where error.osStatus == errSecAuthFailed: SecurityWords.text(for: errSecAuthFailed)
            case .userCanceled: SecurityWords.text(for: errSecUserCanceled)
            default: error.description
            }
        return .operation(operation, status: error.osStatus, reason: reason)
    }

    /// An error of `keychain` in the words of `security`.
    init(_ error: any Error) {
        self =
            error as? SecurityFailure ?? (error as? VaultError).map { .vault($0, during: "SecKeychain") }
            ?? .other(Failure(error).message)
    }
}

/// Runs `body`, and reports the vault's errors under the name of `operation`.
func securing<Result>(_ operation: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as VaultError {
        throw SecurityFailure.vault(error, during: operation)
    }
}
