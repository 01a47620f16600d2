import Enclave
import KeychainModel

/// The reason why a keybag could not be read, or why a class key is not available.
package enum KeybagError: Error, Equatable, CustomStringConvertible {
    /// The stored keybag ends early, is too long, or has an invalid field.
    case malformed(reason: String)
    /// A later version of this software wrote the keybag.
    case unknownVersion(UInt16)
    /// The keybag was changed after it was written, or it belongs to another device secret.
    case authenticationFailed
    /// The keybag belongs to another kind of enclave than the present one.
    case otherEnclave(stored: UInt8)
    /// The class has a key, but the present lock state does not permit it.
    case locked(ProtectionClass)
    /// The keybag has no key for the class.
    case noClassKey(ProtectionClass)
    case memoryUnavailable
    /// There is not enough memory to derive the passcode's key.
    case passcodeMemoryUnavailable(mebibytes: Int)
    /// The enclave failed.
    case enclave(EnclaveError)
    /// A newer keybag was in use: someone restored an older copy.
    case rolledBack
    /// The recovery key does not open the recovery record.
    case wrongRecoveryKey
    /// The passcode does not open the class keys.
    case wrongPasscode

    init(_ error: EnclaveError) {
        self =
            switch error {
            case .memoryUnavailable: .memoryUnavailable
            case .otherCounterValue: .rolledBack
            default: .enclave(error)
            }
    }

    package var description: String {
        switch self {
        case .malformed(let reason):
            "the keybag is damaged (\(reason)); restore it from a backup"
        case .unknownVersion(let version):
            "the keybag has format version \(version), which this version cannot read; update the software"
        case .authenticationFailed:
            "the keybag was changed, or belongs to another device secret; restore keybag and device-secret together"
        case .otherEnclave(let stored):
            "the keybag belongs to enclave kind \(stored), which is not the one in use"
        case .locked:
            "the vault is locked; unlock it"
        case .noClassKey(.whenPasscodeSetThisDeviceOnly):
            "no passcode is set, so the class 'akpu' has no key; set a passcode first"
        case .noClassKey(let protection):
            "the keybag has no key for the class '\(protection.rawValue)'"
        case .memoryUnavailable:
            "no locked memory for class keys; raise the limit (ulimit -l) or free memory"
        case .passcodeMemoryUnavailable(let mebibytes):
            "checking the passcode takes \(mebibytes) MiB of memory, which is not available; free some"
        case .enclave(let error): error.description
        case .rolledBack:
            "the keybag is older than the one that was last in use: somebody put back an older copy; if that was you, "
                + "go on from it with a recovery key (keychain recovery restore)"
        case .wrongRecoveryKey:
            "this is not the vault's recovery key, or the file 'recovery' was changed; nothing was changed"
        case .wrongPasscode: "the passcode is wrong"
        }
    }
}
