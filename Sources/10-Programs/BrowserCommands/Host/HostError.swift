import CommandKit
import VaultInterface

/// An error of the protocol, with the number by which the extension knows it.
enum HostError: Int, Error {
    case unknown = 0
    case databaseNotOpened = 1
    case publicKeyNotReceived = 3
    case cannotDecrypt = 4
    case denied = 6
    case associationFailed = 8
    case keyChangeFailed = 9
    case incorrectAction = 12
    case emptyMessage = 13
    case noAddress = 14
    case noLogins = 15
    case cannotCreateGroup = 17
    case noEntry = 18

    /// What the extension shows to a person.
    var message: String {
        switch self {
        case .unknown: "The keychain could not do it; the browser's log says why"
        case .databaseNotOpened: "The keychain is locked, or not made yet"
        case .publicKeyNotReceived: "The browser's public key is not known; connect again"
        case .cannotDecrypt: "The message cannot be decrypted"
        case .denied: "Refused, or there is no display to ask a person on"
        case .associationFailed: "The keychain does not know this browser; connect it again"
        case .keyChangeFailed: "The public key cannot be used"
        case .incorrectAction: "The keychain does not do this"
        case .emptyMessage: "The message is empty"
        case .noAddress: "The address is missing, or is not that of a web page"
        case .noLogins: "No logins found"
        case .cannotCreateGroup: "The keychain has no groups of logins"
        case .noEntry: "There is no such login for this page"
        }
    }

    init(_ error: any Error) {
        switch error {
        case let error as HostError: self = error
        case let error as VaultError:
            switch error {
            case .userCanceled, .authenticationFailed, .presence, .enrolmentChanged, .wrongPasscode, .passcodeDelayed:
                self = .denied
            case .interactionNotAllowed, .classKeyAbsent: self = .databaseNotOpened
            default: self = .unknown
            }
        default: self = .unknown
        }
    }
}
