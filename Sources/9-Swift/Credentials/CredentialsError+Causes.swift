import Bytes
import Keychain
import PasswordHashes
import StoredKeys

extension CredentialsError {
    package init(_ cause: any Error, at place: String?) {
        switch cause {
        case let error as CredentialsError: self = error
        case let error as PasswordHashError: self.init(error)
        case let error as KeychainError: self.init(error)
        case let error as StoredKeyError: self.init(error)
        case is VaultMemoryError:
            self.init(.outOfMemory, message: "there is no memory for a password; try again")
        default: self.init(.keychain, message: "\(cause)")
        }
    }

    init(_ error: PasswordHashError) {
        switch error {
        case .unknownFormat:
            self.init(
                .unknownHash,
                message:
                    "what is stored for the account is no hash that is known here; have the person set a new password")
        case .tooExpensive:
            self.init(
                .tooExpensive,
                message:
                    "the hash takes more memory or time than one may; have the person set a new password, or lower the cost"
            )
        case .memoryUnavailable:
            self.init(.outOfMemory, message: "there is no memory for hashing a password; try again, or lower the cost")
        case .passwordTooLong:
            self.init(
                .passwordTooLong,
                message: "the password has more than \(HashedPassword.maximalPasswordSize) bytes; use a shorter one")
        case .libraryMissing(let message):
            self.init(.unsupported, message: message)
        }
    }

    init(_ error: KeychainError) {
        self.init(.keychain, message: error.message)
    }

    init(_ error: StoredKeyError) {
        self.init(.keychain, message: error.description)
    }
}
