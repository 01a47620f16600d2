import Access
import SystemBus
import VaultInterface

/// What a program gets instead of an answer.
struct SecretServiceError: Error {
    let name: String
    let message: String

    static func noObject(_ path: String) -> SecretServiceError {
        SecretServiceError(name: "org.freedesktop.Secret.Error.NoSuchObject", message: "there is no \(path)")
    }

    static let noSession = SecretServiceError(
        name: "org.freedesktop.Secret.Error.NoSession", message: "open a session first")

    static func unknownMethod(_ call: BusRequest) -> SecretServiceError {
        SecretServiceError(
            name: "org.freedesktop.DBus.Error.UnknownMethod",
            message: "there is no method \(call.member) of \(call.interface)")
    }

    static func limit(_ reason: String) -> SecretServiceError {
        SecretServiceError(name: "org.freedesktop.DBus.Error.LimitsExceeded", message: reason)
    }

    static func invalid(_ reason: String) -> SecretServiceError {
        SecretServiceError(name: "org.freedesktop.DBus.Error.InvalidArgs", message: reason)
    }

    static let malformed = invalid("the arguments are malformed, or too many")

    static func notSupported(_ reason: String) -> SecretServiceError {
        SecretServiceError(name: "org.freedesktop.DBus.Error.NotSupported", message: reason)
    }

    init(name: String, message: String) { (self.name, self.message) = (name, message) }

    init(_ error: any Error) {
        switch error {
        case let error as SecretServiceError: self = error
        case VaultError.interactionNotAllowed, VaultError.authenticationFailed, VaultError.userCanceled:
            self.init(
                name: "org.freedesktop.Secret.Error.IsLocked",
                message: "the keychain is locked: unlock it with `keychain unlock`")
        case VaultError.itemPasswordMissing:
            self.init(
                name: "org.freedesktop.DBus.Error.AccessDenied",
                message: "the item needs a password of its own, which this service cannot take: use `keychain get`")
        case VaultError.itemNotFound:
            self.init(name: "org.freedesktop.Secret.Error.NoSuchObject", message: "another call deleted it meanwhile")
        case VaultError.memoryUnavailable:
            self = .limit("there is no memory for it; the collection session takes 8 MiB")
        case VaultError.valueTooLarge, VaultError.attributesTooLarge, VaultError.quotaExceeded:
            self = .limit("\(error)")
        case VaultError.accessDenied(let denied):
            self.init(name: "org.freedesktop.DBus.Error.AccessDenied", message: denied.description)
        default: self.init(name: "org.freedesktop.DBus.Error.Failed", message: "\(error)")
        }
    }
}
