import Crypto
import Foundation
import SecureMemory

/// The place where keys live that never leave it.
///
/// A keybag is bound to an enclave: what the enclave derives cannot be derived without it, so a copy
/// of the vault's files alone opens nothing.
package protocol Enclave: Sendable {
    var kind: EnclaveKind { get }

    /// A 256-bit key that depends on the enclave's device secret, on `input` and on `context`.
    ///
    /// - Parameters:
    ///   - input: What to tangle with the device secret, such as a key stretched from a passcode; nil
    ///     for a key that hangs on the device alone.
    ///   - salt: Stored with what the key protects.
    ///   - context: The purpose; different purposes get unrelated keys.
    func deriveKey(tangling input: LockedBytes?, salt: Data, context: String) throws(EnclaveError) -> SymmetricKey
}

/// What stands behind an enclave; raw values are stored and never reused.
package enum EnclaveKind: UInt8, Sendable {
    case software = 1
    case tpm2 = 2
}

/// Why an enclave could not do its work.
package enum EnclaveError: Error, Equatable, CustomStringConvertible {
    /// The stored device secret is not one; the vault cannot be opened without the original.
    case damagedDeviceSecret(reason: String)
    case memoryUnavailable

    package var description: String {
        switch self {
        case .damagedDeviceSecret(let reason):
            "the device secret is damaged (\(reason)); restore the file from a backup, or move the folder away to start anew"
        case .memoryUnavailable:
            "no locked memory for key material; raise the limit (ulimit -l) or free memory"
        }
    }
}
