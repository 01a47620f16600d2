import Crypto
import FoundationEssentials
import SecureMemory

/// The place of keys that never leave it.
///
/// A keybag is bound to an enclave. Keys that the enclave derives cannot be derived without it, so a copy of only the
/// vault's files opens nothing.
package protocol Enclave: EnclaveKeyOperations, EnclaveCounter {
    var kind: EnclaveKind { get }

    /// Returns the contents of the file `device-secret`, from which the enclave can be opened again.
    func encoded() throws(EnclaveError) -> Data

    /// Derives a 256-bit key from the enclave's device secret, `input` and `context`.
    ///
    /// - Parameters:
    ///   - input: A secret to combine with the device secret, such as a stretched passcode; nil for a key that depends
    ///     only on the device.
    ///   - salt: Stored with the data that the key protects.
    ///   - context: The purpose. Different purposes get unrelated keys.
    func deriveKey(tangling input: LockedBytes?, salt: Data, context: String) throws(EnclaveError) -> SymmetricKey

    /// Makes the enclave guard a new passcode.
    ///
    /// - Parameter stretched: The stretched passcode.
    /// - Returns: The binding to store with the passcode, which is not secret, and the key to combine with the device
    ///   secret.
    func guardPasscode(stretched: LockedBytes) throws(EnclaveError) -> (binding: Data, key: LockedBytes)

    /// Returns the key of a passcode, to be combined with the device secret.
    ///
    /// An enclave that counts wrong passcodes itself counts one here. With any other enclave, a wrong passcode shows
    /// only when the key is used.
    ///
    /// - Parameter binding: The binding from ``guardPasscode(stretched:)``.
    /// - Throws: ``EnclaveError/wrongAuthorization`` and ``EnclaveError/lockedOut(retryAfter:)``.
    func passcodeKey(stretched: LockedBytes, binding: Data) throws(EnclaveError) -> LockedBytes

    /// Returns the longest time in seconds until the enclave checks a passcode again; 0 if it checks the next one.
    func lockoutTime() throws(EnclaveError) -> Int

    /// Wipes used authorizations that are still in memory.
    func forget()

    /// Ends the enclave's work for this process properly. The enclave may be used again.
    func close()
}

/// The kind of an enclave. Raw values are stored and never reused.
package enum EnclaveKind: UInt8, Sendable, CaseIterable {
    case software = 1
    case tpm2 = 2

    /// The name on the command line and in the vault's status.
    package var name: String { "\(self)" }
}

/// A number that an enclave only increments, for detecting a restored older copy of a file.
package protocol EnclaveCounter: Sendable {
    /// Returns a name for a new counter in this enclave.
    ///
    /// - Throws: ``EnclaveError/refused(reason:)`` if the enclave has no free one.
    func freeCounter() throws(EnclaveError) -> UInt32

    /// Makes a counter, unless it exists.
    ///
    /// - Parameter counter: From ``freeCounter()``. The caller stores it first, so that a program finds it again after
    ///   being killed: a counter with an unknown name takes its place for good.
    /// - Throws: ``EnclaveError/refused(reason:)`` if there is no room for a counter, or if the name belongs to
    ///   something else.
    func makeCounter(_ counter: UInt32) throws(EnclaveError)

    func value(ofCounter counter: UInt32) throws(EnclaveError) -> UInt64

    /// Increments the counter by one.
    func advance(counter: UInt32) throws(EnclaveError)

    /// Seals `secret`, of 1 to ``EnclaveLimits/sealedSize`` bytes, so that the enclave reveals it only while the
    /// counter has `value`, and then to every program that may use the enclave.
    ///
    /// - Parameter value: The present value, or a later one.
    /// - Returns: Bytes that only the enclave can interpret, at most ``EnclaveLimits/blobSize``.
    func seal(_ secret: LockedBytes, toCounter counter: UInt32, at value: UInt64) throws(EnclaveError) -> Data

    /// Returns the secret in `sealed`.
    ///
    /// - Throws: ``EnclaveError/otherCounterValue`` if the counter has another value, or if `sealed` belongs to another
    ///   counter or value; ``EnclaveError/refused(reason:)`` if there is no such counter.
    func unseal(_ sealed: Data, toCounter counter: UInt32, at value: UInt64) throws(EnclaveError) -> LockedBytes
}
