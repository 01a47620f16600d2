import Access
import KeyCryptography
import VaultInterface

/// The reason why the keychain does not provide a key.
package enum StoredKeyError: Error, CustomStringConvertible {
    /// The vault is locked for the key, or nobody can be asked.
    case locked(reason: String)
    case notAuthenticated
    case canceled
    case accessDenied
    case damaged(reason: String)
    case memoryUnavailable
    /// Any other error of the vault.
    case vault(VaultError)

    init(_ error: VaultError) {
        self =
            switch error {
            case .interactionNotAllowed, .itemPasswordMissing, .presence(.notInteractive), .passcodeDelayed:
                .locked(reason: error.description)
            case .userCanceled, .presence(.userCancel): .canceled
            case .authenticationFailed, .enrolmentChanged, .presence, .wrongPasscode, .erasedAfterWrongPasscodes:
                .notAuthenticated
            case .accessDenied: .accessDenied
            case .memoryUnavailable: .memoryUnavailable
            case .corruptItem, .corruptFileKey:
                .damaged(reason: "it does not verify; restore the keychain from a backup")
            default: .vault(error)
            }
    }

    init(_ error: KeyError) {
        switch error {
        case .refused(let cause as VaultError): self.init(cause)
        case .memoryUnavailable: self = .memoryUnavailable
        case .unsupported, .invalidInput, .undecipherable, .failed, .libraryMissing, .refused:
            self = .damaged(reason: "\(error) Restore the keychain from a backup.")
        }
    }

    package var description: String {
        switch self {
        case .locked(let reason): reason
        case .notAuthenticated:
            "the use of the key was not authenticated: the passcode was wrong, or none is set; try again"
        case .canceled: "the person who was asked refused the use of the key"
        case .accessDenied: "the program does not hold the access group of the key; have it granted"
        case .damaged(let reason): "the key is damaged: \(reason)"
        case .memoryUnavailable: "there is no memory for the key"
        case .vault(let error): error.description
        }
    }
}
