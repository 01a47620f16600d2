import Vault

/// The OSStatus values of SecBase.h that the programs print or exit with.
enum SecurityStatus {
    static let unimplemented: Int32 = -4
    static let diskFull: Int32 = -34
    static let inputOutput: Int32 = -36
    static let parameter: Int32 = -50
    static let allocate: Int32 = -108
    static let userCanceled: Int32 = -128
    static let missingEntitlement: Int32 = -34018
    static let notAvailable: Int32 = -25291
    static let readOnly: Int32 = -25292
    static let authFailed: Int32 = -25293
    static let noSuchKeychain: Int32 = -25294
    static let duplicateItem: Int32 = -25299
    static let itemNotFound: Int32 = -25300
    static let dataTooLarge: Int32 = -25302
    static let interactionNotAllowed: Int32 = -25308
    static let decode: Int32 = -26275
}

extension VaultError {
    /// The status that Apple's functions return for this error.
    var status: Int32 {
        switch self {
        case .itemNotFound: SecurityStatus.itemNotFound
        case .duplicateItem: SecurityStatus.duplicateItem
        case .accessDenied: SecurityStatus.missingEntitlement
        case .interactionNotAllowed: SecurityStatus.interactionNotAllowed
        case .classKeyAbsent, .corruptVault, .unusableVault, .busy: SecurityStatus.notAvailable
        case .authenticationFailed: SecurityStatus.authFailed
        case .userCanceled: SecurityStatus.userCanceled
        case .invalidRequest: SecurityStatus.parameter
        case .valueTooLarge, .attributesTooLarge: SecurityStatus.dataTooLarge
        case .unsupported: SecurityStatus.unimplemented
        case .corruptItem: SecurityStatus.decode
        case .readOnly: SecurityStatus.readOnly
        case .diskFull: SecurityStatus.diskFull
        case .inputOutput: SecurityStatus.inputOutput
        case .memoryUnavailable: SecurityStatus.allocate
        }
    }
}
