import Crypto
import FoundationEssentials
import SecureMemory

/// The place where keys live that never leave it.
///
/// A keybag is bound to an enclave: what the enclave derives cannot be derived without it, so a copy
/// of the vault's files alone opens nothing.
package protocol Enclave: EnclaveKeyOperations, EnclaveCounter {
    var kind: EnclaveKind { get }

    /// What has to be stored to have this enclave again: the contents of the file `device-secret`.
    func encoded() throws(EnclaveError) -> Data

    /// A 256-bit key that depends on the enclave's device secret, on `input` and on `context`.
    ///
    /// - Parameters:
    ///   - input: What to tangle with the device secret, such as a key stretched from a passcode; nil
    ///     for a key that hangs on the device alone.
    ///   - salt: Stored with what the key protects.
    ///   - context: The purpose; different purposes get unrelated keys.
    func deriveKey(tangling input: LockedBytes?, salt: Data, context: String) throws(EnclaveError) -> SymmetricKey

    /// Makes the enclave guard a new passcode.
    ///
    /// - Parameter stretched: What the passcode stretches to.
    /// - Returns: What to store with the passcode, which is no secret, and the key to tangle for it.
    func guardPasscode(stretched: LockedBytes) throws(EnclaveError) -> (binding: Data, key: LockedBytes)

    /// The key to tangle for a passcode.
    ///
    /// An enclave that counts wrong passcodes itself counts one here; another leaves it to who tangles the key
    /// to find out.
    ///
    /// - Parameter binding: What ``guardPasscode(stretched:)`` gave for it.
    /// - Throws: ``EnclaveError/wrongAuthorization`` and ``EnclaveError/lockedOut(retryAfter:)``.
    func passcodeKey(stretched: LockedBytes, binding: Data) throws(EnclaveError) -> LockedBytes

    /// For how many seconds at most the enclave looks at no passcode; 0 if it looks at the next one.
    func lockoutTime() throws(EnclaveError) -> Int

    /// Wipes what is left in memory of the authorizations that were used.
    func forget()

    /// Ends the enclave's work for this process in good order. It may be used again.
    func close()
}

/// What stands behind an enclave; raw values are stored and never reused.
package enum EnclaveKind: UInt8, Sendable, CaseIterable {
    case software = 1
    case tpm2 = 2

    /// The name on the command line and in the vault's status.
    package var name: String { "\(self)" }
}
