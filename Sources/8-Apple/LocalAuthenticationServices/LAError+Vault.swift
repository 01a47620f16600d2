import Access
import Foundation
import VaultInterface

extension LAError {
    /// The meaning of a vault's error for a caller that wanted a person to authenticate, in the vault's words.
    init(_ error: VaultError) {
        let code: Code =
            switch error {
            case .presence(let failure): Code(failure)
            case .userCanceled: .userCancel
            case .authenticationFailed, .wrongPasscode, .erasedAfterWrongPasscodes, .enrolmentChanged:
                .authenticationFailed
            case .interactionNotAllowed, .itemPasswordMissing: .notInteractive
            case .passcodeNotSet: .passcodeNotSet
            case .passcodeDelayed: .biometryLockout
            default: .systemCancel
            }
        self.init(code, saying: error.description)
    }

    init(_ failure: AuthenticationFailure) {
        self.init(VaultError.presence(failure))
    }

    init(_ code: Code, saying words: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: words])
    }
}

extension LAError.Code {
    init(_ failure: AuthenticationFailure) {
        self =
            switch failure {
            case .authenticationFailed: .authenticationFailed
            case .userCancel: .userCancel
            case .userFallback: .userFallback
            case .systemCancel: .systemCancel
            case .appCancel: .appCancel
            case .passcodeNotSet: .passcodeNotSet
            case .biometryNotAvailable: .biometryNotAvailable
            case .biometryNotEnrolled: .biometryNotEnrolled
            case .biometryLockout: .biometryLockout
            case .companionNotAvailable: .companionNotAvailable
            case .biometryNotPaired: .biometryNotPaired
            case .biometryDisconnected: .biometryDisconnected
            case .invalidContext: .invalidContext
            case .notInteractive: .notInteractive
            }
    }
}
