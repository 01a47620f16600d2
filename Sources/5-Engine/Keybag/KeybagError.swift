import Enclave
import KeychainModel

/// Why a keybag could not be read or a class key not be had.
package enum KeybagError: Error, Equatable, CustomStringConvertible {
    /// The stored keybag ends early, runs on, or has a field that cannot be.
    case malformed(reason: String)
    /// Written by a later version of this software.
    case unknownVersion(UInt16)
    /// Changed since it was written, or it belongs to another device secret.
    case authenticationFailed
    /// The keybag hangs on another kind of enclave than the one at hand.
    case otherEnclave(stored: UInt8)
    /// The class exists and its key is not available in the present lock state.
    case locked(ProtectionClass)
    /// The keybag has no key for the class.
    case noClassKey(ProtectionClass)
    case memoryUnavailable
    /// The passcode's key cannot be derived for want of memory.
    case passcodeMemoryUnavailable(mebibytes: Int)
    /// The enclave could not do its part.
    case enclave(EnclaveError)
    /// A newer keybag than this one was in use: somebody put back an older copy.
    case rolledBack
    /// The recovery key does not open the recovery record.
    case wrongRecoveryKey
    /// The passcode does not open the class keys.
    case wrongPasscode

    init(_ error: EnclaveError) {
        self =
            switch error {
            case .memoryUnavailable: .memoryUnavailable
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
            "checking the passcode takes \(mebibytes) MiB of memory, which is not to be had; free some"
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
