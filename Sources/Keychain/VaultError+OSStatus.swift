import Vault

extension VaultError {
    /// Apple's status code (SecBase.h) for this error.
    var osStatus: Int32 {
        switch self {
        case .itemNotFound: -25300
        case .duplicateItem: -25299
        case .accessDenied: -34018
        case .interactionNotAllowed: -25308
        case .classKeyAbsent: -25291
        case .authenticationFailed: -25293
        case .userCanceled: -128
        case .invalidRequest: -50
        case .valueTooLarge, .attributesTooLarge: -25302
        case .unsupported: -4
        case .corruptItem: -26275
        case .corruptVault, .unusableVault, .busy: -25291
        case .readOnly: -25292
        case .diskFull: -34
        case .inputOutput: -36
        case .memoryUnavailable: -108
        }
    }
}
