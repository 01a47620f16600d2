import Access
import VaultInterface

extension VaultError {
    /// The status with which Apple's functions report this error.
    package var osStatus: OSStatus {
        switch self {
        // To a program that knows nothing of expiry, an expired item is one that it has to get anew.
        case .itemNotFound, .itemExpired: errSecItemNotFound
        case .duplicateItem: errSecDuplicateItem
        case .accessDenied: errSecMissingEntitlement
        case .interactionNotAllowed, .itemPasswordMissing: errSecInteractionNotAllowed
        case .classKeyAbsent: errSecNotAvailable
        case .authenticationFailed, .enrolmentChanged: errSecAuthFailed
        case .userCanceled, .presence(.userCancel): errSecUserCanceled
        case .presence(.notInteractive), .passcodeDelayed: errSecInteractionNotAllowed
        case .presence, .wrongPasscode, .erasedAfterWrongPasscodes: errSecAuthFailed
        case .passcodeNotSet: errSecNotAvailable
        case .passcodeIsSet: errSecDuplicateItem
        case .invalidRequest: errSecParam
        case .valueTooLarge, .attributesTooLarge: errSecDataTooLarge
        case .quotaExceeded: errSecQuotaExceeded
        case .unsupported: errSecUnimplemented
        case .corruptItem, .corruptFileKey, .corruptBackup: errSecDecode
        case .corruptVault, .unusableVault, .busy: errSecNotAvailable
        case .readOnly: errSecReadOnly
        case .diskFull: errSecDiskFull
        case .inputOutput: errSecIO
        case .memoryUnavailable: errSecAllocate
        }
    }
}
