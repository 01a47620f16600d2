import Access
import FoundationEssentials
import KeychainModel

/// Why a vault did not do what it was asked. Descriptions name no attribute and no value of any item.
package enum VaultError: Error, Equatable, CustomStringConvertible {
    case itemNotFound
    /// The item is there, and its value is no longer read: it expired then.
    case itemExpired(Date)
    case duplicateItem
    case accessDenied(AccessDenied)
    /// The item's class key is locked, or a person would have to be asked and may not be.
    case interactionNotAllowed(reason: String)
    /// The item has a password of its own, and none was given.
    case itemPasswordMissing
    /// The class has no key at all, as the passcode-only class without a passcode.
    case classKeyAbsent(ProtectionClass)
    case authenticationFailed
    case userCanceled
    /// The item was bound to the fingers or faces of another time.
    case enrolmentChanged
    /// A person was asked for and not shown to be present, for another reason than those two.
    case presence(AuthenticationFailure)
    /// The passcode is not the right one; no other is looked at for so many seconds.
    case wrongPasscode(retryAfter: Int)
    /// Too many wrong passcodes were given: none is looked at for so many seconds.
    case passcodeDelayed(retryAfter: Int)
    case passcodeNotSet
    case passcodeIsSet
    /// A wrong passcode too many: the vault was erased as its owner had chosen.
    case erasedAfterWrongPasscodes
    /// A request that makes no sense.
    case invalidRequest(reason: String)
    case valueTooLarge(size: Int, limit: Int)
    case attributesTooLarge(size: Int, limit: Int)
    /// The access group would hold more than so many bytes, which is what the daemon's entitlements allow the program.
    case quotaExceeded(group: String, limit: Int)
    /// Something this vault cannot do, such as enforcing a kind of access control.
    case unsupported(reason: String)
    /// A stored item does not verify.
    case corruptItem(row: Int64, reason: String)
    /// A file's wrapped key does not open.
    case corruptFileKey
    /// A backup cannot be read.
    case corruptBackup(reason: String)
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
        case .itemExpired: "the item is expired; store a new value, or ask for expired ones"
        case .duplicateItem: "an item with this primary key exists already"
        case .accessDenied(let denied): denied.description
        case .interactionNotAllowed(let reason): reason
        case .itemPasswordMissing: "the item needs its own password; give it with LAContext.setCredential(_:type:)"
        case .classKeyAbsent(.whenPasscodeSetThisDeviceOnly):
            "items of class 'akpu' exist only while a passcode is set"
        case .classKeyAbsent(let protection): "the vault has no key for the class '\(protection.rawValue)'"
        case .authenticationFailed: "authentication failed"
        case .userCanceled: "authentication was canceled"
        case .enrolmentChanged:
            "the item can be used only with the fingers or faces that were enrolled when it was stored, and these have "
                + "changed; delete it and store it again"
        case .presence(let failure): failure.words
        case .wrongPasscode(0): "the passcode is wrong"
        case .wrongPasscode(let seconds): "the passcode is wrong; the next can be given in \(Self.words(seconds))"
        case .passcodeDelayed(let seconds):
            "too many wrong passcodes were given; the next can be given in \(Self.words(seconds))"
        case .passcodeNotSet: "no passcode is set; set one with `keychain passcode set`"
        case .passcodeIsSet: "a passcode is set already; change it with `keychain passcode change`"
        case .erasedAfterWrongPasscodes: "too many wrong passcodes were given: the vault was erased"
        case .invalidRequest(let reason): reason
        case .valueTooLarge(let size, let limit): "a value of \(size) bytes is more than the \(limit) an item can hold"
        case .attributesTooLarge(let size, let limit):
            "attributes of \(size) bytes are more than the \(limit) an item can hold"
        case .quotaExceeded(let group, 0):
            "the daemon's entitlements let this program store nothing in the access group '\(group)', because they limit "
                + "what it stores and it can choose the group's name; add the group to 'groups' in its rule"
        case .quotaExceeded(let group, let limit):
            "the access group '\(group)' may hold \(limit) bytes of items, and this would be more; delete some, or raise "
                + "'quota' in the daemon's entitlements"
        case .unsupported(let reason): reason
        case .corruptItem(let row, let reason):
            "item \(row) is damaged (\(reason)); restore the vault from a backup, or delete what is damaged with "
                + "`keychain status --delete-damaged`"
        case .corruptFileKey:
            "the file's key does not open: it was changed, or made for another file, class or vault; use the vault "
                + "that protected it, or restore the file from a backup"
        case .corruptBackup(let reason): "the backup cannot be read: \(reason); use another one"
        case .corruptVault(let reason): "the vault cannot be read: \(reason)"
        case .unusableVault(let reason): reason
        case .readOnly(let reason): reason
        case .diskFull(let reason): reason
        case .inputOutput(let reason): reason
        case .busy: "other processes kept the vault busy; try again"
        case .memoryUnavailable: "out of memory"
        }
    }

    private static func words(_ seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(seconds) seconds"
        case ..<7200: "\((seconds + 59) / 60) minutes"
        default: "\((seconds + 3599) / 3600) hours"
        }
    }
}

extension AuthenticationFailure {
    /// What happened and what to do.
    package var words: String {
        switch self {
        case .authenticationFailed: "authentication failed"
        case .userCancel: "authentication was canceled"
        case .userFallback: "another way to authenticate was asked for"
        case .systemCancel: "the system ended the authentication"
        case .appCancel: "the program ended the authentication"
        case .passcodeNotSet: "no passcode is set; set one with `keychain passcode set`"
        case .biometryNotAvailable: "there is no fingerprint reader; install and start fprintd, or use the passcode"
        case .biometryNotEnrolled: "no finger is enrolled; enroll one with `fprintd-enroll`, or use the passcode"
        case .biometryLockout: "the fingerprint reader waits for the passcode: unlock the vault with it"
        case .companionNotAvailable: "there is no paired device near"
        case .biometryNotPaired, .biometryDisconnected: "the fingerprint reader is not connected"
        case .invalidContext: "the authentication context was invalidated; make a new one"
        case .notInteractive: "a person has to be asked, and there is no terminal or display to ask on"
        }
    }
}
