import Foundation
import KeychainServices
import VaultInterface

/// Why a key is not to be had from the keychain.
package enum StoredKeyError: Error, CustomStringConvertible {
    case locked
    case notAuthenticated
    case canceled
    case accessDenied
    case damaged(reason: String)
    case memoryUnavailable
    case vault(VaultError)
    case status(OSStatus)

    init(_ status: OSStatus) {
        self =
            switch status {
            case errSecInteractionNotAllowed: .locked
            case errSecAuthFailed: .notAuthenticated
            case errSecUserCanceled: .canceled
            case errSecMissingEntitlement: .accessDenied
            case errSecAllocate: .memoryUnavailable
            case errSecDecode: .damaged(reason: "it does not verify; restore the keychain from a backup")
            default: .status(status)
            }
    }

    init(_ error: Unmanaged<CFError>?) {
        guard let error = error?.takeRetainedValue() else {
            self = .damaged(reason: "the keychain did not say why; check it with `keychain status --verify`")
            return
        }
        self.init(OSStatus(truncatingIfNeeded: error.code))
    }

    package var description: String {
        switch self {
        case .locked: "the vault is locked for the key, or nobody can be asked; unlock it, and try again"
        case .notAuthenticated:
            "nobody proved to be allowed to use the key: a wrong passcode was given, or none is set; try again"
        case .canceled: "who was asked did not agree to the use of the key"
        case .accessDenied: "the program does not hold the access group of the key; have it granted"
        case .damaged(let reason): "the key is damaged: \(reason)"
        case .memoryUnavailable: "there is no memory for the key"
        case .vault(let error): error.description
        case .status(let status):
            "\((SecCopyErrorMessageString(status, nil) as String?) ?? "the keychain refused") (\(status))"
        }
    }
}
