import Access
import Circle
import Enclave
import Items
import Keybag
import PrivateFiles
import Sealing
import VaultInterface

extension VaultError {
    /// The vault's error for whatever a lower part threw.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as VaultError: error
            case let error as AccessDenied: .accessDenied(error)
            case let error as StoreError: Self.cause(error)
            case let error as KeybagError: Self.cause(error)
            case let error as FileError: Self.cause(error)
            case let error as EnclaveError: Self.cause(error)
            case let error as CircleError: Self.cause(error)
            case let error as SealingError: .corruptVault(reason: error.reason)
            default: Self.cause(StoreError(error))
            }
    }

    /// The error after something was done that the disk may not have.
    ///
    /// - Parameters:
    ///   - done: What holds now, as in "the new passcode is in force".
    ///   - consequence: What may hold after a crash, and what to do.
    static func unflushed(_ done: String, _ flush: FileError, _ consequence: String) -> VaultError {
        .inputOutput(
            reason:
                "\(done), but the disk may not have it (\(flush)). After a crash or a power failure, \(consequence). Look "
                + "at the kernel's log before you rely on this disk")
    }

    private static func cause(_ error: StoreError) -> VaultError {
        switch error {
        case .corrupt(let reason):
            .corruptVault(reason: "the item store is damaged (\(reason)); restore the vault from a backup")
        case .malformedRow(let id, let reason): .corruptItem(row: id, reason: reason)
        case .otherKeybag:
            .unusableVault(reason: "the item store belongs to another keybag; restore both from the same backup")
        case .unknownFormat(let version):
            .corruptVault(reason: "the item store has format version \(version), which this version cannot read")
        case .busy: .busy
        case .diskFull:
            .diskFull(
                reason:
                    "no space left on the disk for the item store and its log; nothing was changed. Make room on the disk: "
                    + "deleting items needs some, too")
        case .readOnly: .readOnly(reason: "the item store cannot be written")
        case .inputOutput(let reason): .inputOutput(reason: "the item store: \(reason)")
        case .memoryUnavailable: .memoryUnavailable
        }
    }

    private static func cause(_ error: CircleError) -> VaultError {
        switch error {
        case .needsLater: .unsupported(reason: error.reason)
        case .notPermitted(let why): .invalidRequest(reason: "the circle does not permit it: \(why)")
        case .malformed, .unknownFormat, .forged, .outOfOrder:
            .corruptVault(
                reason: "what it knows of its circle is damaged (\(error.reason)); restore the vault from a backup")
        }
    }

    private static func cause(_ error: EnclaveError) -> VaultError {
        switch error {
        case .memoryUnavailable: .memoryUnavailable
        case .lockedOut(let seconds): .passcodeDelayed(retryAfter: seconds)
        case .wrongAuthorization: .authenticationFailed
        default: .unusableVault(reason: error.description)
        }
    }

    private static func cause(_ error: KeybagError) -> VaultError {
        switch error {
        case .enclave(let error): cause(error)
        case .locked: .interactionNotAllowed(reason: error.description)
        case .noClassKey(let protection): .classKeyAbsent(protection)
        case .memoryUnavailable: .memoryUnavailable
        case .passcodeMemoryUnavailable: .unusableVault(reason: error.description)
        case .wrongPasscode: .wrongPasscode(retryAfter: 0)
        case .rolledBack: .unusableVault(reason: error.description)
        case .wrongRecoveryKey: .invalidRequest(reason: error.description)
        case .malformed, .unknownVersion, .authenticationFailed, .otherEnclave:
            .corruptVault(reason: error.description)
        }
    }

    private static func cause(_ error: FileError) -> VaultError {
        switch error {
        case .diskFull: .diskFull(reason: error.description)
        case .readOnly: .readOnly(reason: error.description)
        case .lockTimeout: .busy
        case .unflushed: .inputOutput(reason: error.description)
        default: .unusableVault(reason: error.description)
        }
    }
}

extension AuditFailure {
    package init(_ error: VaultError) {
        self =
            switch error {
            case .accessDenied(let refusal): AuditFailure(refusal)
            case .itemNotFound: .notFound
            case .itemExpired: .expired
            case .duplicateItem: .duplicate
            case .interactionNotAllowed, .itemPasswordMissing, .classKeyAbsent: .locked
            case .authenticationFailed: .authenticationFailed
            case .userCanceled, .clientIsGone: .canceled
            case .presence(.userCancel), .presence(.systemCancel), .presence(.appCancel): .canceled
            case .presence(.authenticationFailed): .authenticationFailed
            case .wrongPasscode: .wrongPasscode
            case .passcodeDelayed: .delayed
            case .passcodeNotSet: .noPasscode
            case .erasedAfterWrongPasscodes: .erased
            // The client sends the key of a file. A wrong one is the client's fault, not the vault's.
            case .invalidRequest, .valueTooLarge, .attributesTooLarge, .unsupported, .passcodeIsSet, .corruptFileKey:
                .invalid
            case .corruptItem, .corruptVault, .corruptBackup: .damaged
            case .unusableVault, .readOnly, .diskFull, .quotaExceeded, .inputOutput, .busy: .storage
            default: .other
            }
    }
}
