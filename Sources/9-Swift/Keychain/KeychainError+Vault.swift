import Access
import Bytes
import ItemFiles
import KeychainServices
import VaultInterface

extension KeychainError {
    /// The public face of a vault's error: its own words, and what to do where they do not say.
    init(_ error: VaultError) {
        let (code, advice): (Code, String?) =
            switch error {
            case .itemNotFound: (.itemNotFound, "store it first")
            case .itemExpired: (.itemExpired, nil)
            case .duplicateItem: (.duplicateItem, "use set, which replaces")
            case .accessDenied: (.accessDenied, "see KeychainProgram.declare")
            case .interactionNotAllowed, .itemPasswordMissing: (.interactionNotAllowed, nil)
            case .classKeyAbsent: (.passcodeRequired, "set a passcode, or choose another accessibility")
            case .authenticationFailed: (.authenticationFailed, "try again")
            case .enrolmentChanged: (.authenticationFailed, nil)
            case .presence(.notInteractive), .passcodeDelayed: (.interactionNotAllowed, nil)
            case .presence, .wrongPasscode, .erasedAfterWrongPasscodes: (.authenticationFailed, nil)
            case .passcodeNotSet: (.passcodeRequired, nil)
            case .passcodeIsSet: (.duplicateItem, nil)
            case .userCanceled: (.userCanceled, "ask again when the person wants to go on")
            case .invalidRequest: (.invalidRequest, nil)
            case .valueTooLarge, .attributesTooLarge:
                (.tooLarge, "keep large data in a file, and only its key in the keychain")
            case .quotaExceeded: (.quotaExceeded, nil)
            case .unsupported: (.unsupported, nil)
            case .corruptItem, .corruptVault, .corruptFileKey, .corruptBackup: (.damaged, nil)
            case .unusableVault: (.unusableVault, nil)
            case .readOnly: (.readOnly, "make the vault's folder writable")
            case .diskFull: (.diskFull, "free some space and try again")
            case .inputOutput: (.inputOutput, nil)
            case .busy: (.busy, nil)
            case .memoryUnavailable: (.outOfMemory, "raise the limit of locked memory (ulimit -l)")
            }
        let message = advice.map { "\(error.description); \($0)" } ?? error.description
        self.init(code, status: error.osStatus, message: message)
    }

    static func invalidRequest(_ reason: String) -> KeychainError {
        KeychainError(VaultError.invalidRequest(reason: reason))
    }

    static func undecodable(as type: Any.Type) -> KeychainError {
        KeychainError(
            .undecodableValue, status: errSecDecode,
            message: "the stored value is not of type \(type); read it as the type it was stored as, or remove it")
    }

    static func unencodable(_ type: Any.Type) -> KeychainError {
        KeychainError(
            .unencodableValue, status: errSecParam,
            message: "a value of type \(type) could not be encoded; check how the type encodes itself")
    }

    /// Apple has no status of its own for an operation that was called off by its program.
    static let taskCanceled = KeychainError(
        .taskCanceled, status: errSecUserCanceled,
        message: "the task was canceled before the operation began; nothing was done")

    static func inputOutput(_ reason: String) -> KeychainError {
        KeychainError(VaultError.inputOutput(reason: reason))
    }

    package init(_ cause: any Error, at place: String?) {
        switch cause {
        case let error as KeychainError: self = error
        case let error as VaultError: self.init(error)
        case let error as ItemFileError: self.init(error)
        case is VaultMemoryError: self.init(VaultError.memoryUnavailable)
        default: self.init(VaultError.inputOutput(reason: "\(cause)"))
        }
    }
}
