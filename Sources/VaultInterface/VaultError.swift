import Access
import KeychainModel

/// Why a vault did not do what it was asked. Descriptions name no attribute and no value of any item.
package enum VaultError: Error, Equatable, CustomStringConvertible {
    case itemNotFound
    case duplicateItem
    case accessDenied(AccessDenied)
    /// The item's class key is locked, or a person would have to be asked and may not be.
    case interactionNotAllowed(reason: String)
    /// The class has no key at all, as the passcode-only class without a passcode.
    case classKeyAbsent(ProtectionClass)
    case authenticationFailed
    case userCanceled
    /// A request that makes no sense.
    case invalidRequest(reason: String)
    case valueTooLarge(size: Int, limit: Int)
    case attributesTooLarge(size: Int, limit: Int)
    /// Something this vault cannot do, such as enforcing a kind of access control.
    case unsupported(reason: String)
    /// A stored item does not verify.
    case corruptItem(row: Int64, reason: String)
    /// The vault as a whole cannot be read.
    case corruptVault(reason: String)
    /// Files are missing, misplaced or open to others.
    case unusableVault(reason: String)
    case readOnly(reason: String)
    case diskFull(reason: String)
    case inputOutput(reason: String)
    /// Other processes kept the store busy for the whole deadline.
    case busy
    case memoryUnavailable

    package var description: String {
        switch self {
        case .itemNotFound: "no such item"
        case .duplicateItem: "an item with this primary key exists already"
        case .accessDenied(let denied): denied.description
        case .interactionNotAllowed(let reason): reason
        case .classKeyAbsent(.whenPasscodeSetThisDeviceOnly):
            "items of class 'akpu' exist only while a passcode is set"
        case .classKeyAbsent(let protection): "the vault has no key for the class '\(protection.rawValue)'"
        case .authenticationFailed: "authentication failed"
        case .userCanceled: "authentication was canceled"
        case .invalidRequest(let reason): reason
        case .valueTooLarge(let size, let limit): "a value of \(size) bytes is more than the \(limit) an item can hold"
        case .attributesTooLarge(let size, let limit):
            "attributes of \(size) bytes are more than the \(limit) an item can hold"
        case .unsupported(let reason): reason
        case .corruptItem(let row, let reason):
            "item \(row) is damaged (\(reason)); restore the vault from a backup"
        case .corruptVault(let reason): "the vault cannot be read: \(reason)"
        case .unusableVault(let reason): reason
        case .readOnly(let reason): reason
        case .diskFull(let reason): reason
        case .inputOutput(let reason): reason
        case .busy: "other processes kept the vault busy; try again"
        case .memoryUnavailable: "out of memory"
        }
    }
}
