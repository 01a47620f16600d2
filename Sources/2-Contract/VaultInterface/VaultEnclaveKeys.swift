import Access
import FoundationEssentials
import KeychainModel

/// Keys whose private half stays in the vault's enclave.
///
/// The vault does not keep them: whoever makes one stores its ``EnclaveKeyRecord`` and shows it for each use. The
/// record can only be used through this vault, while its protection class is open, and by whoever satisfies its
/// access control.
package protocol VaultEnclaveKeys: Sendable {
    /// Makes a key.
    ///
    /// - Parameters:
    ///   - options: An application password, if the access control has one.
    func makeEnclaveKey(
        _ kind: EnclaveKeyKind, accessControl: AccessControl, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> EnclaveKeyRecord

    /// Uses a key, asking a person if its access control wants one.
    ///
    /// - Returns: See ``EnclaveKeyOperation``.
    /// - Throws: ``VaultError/corruptVault(reason:)`` for a record that this vault did not make, or that was changed.
    func useEnclaveKey(
        _ key: EnclaveKeyRecord, for operation: EnclaveKeyOperation, options: AuthenticationOptions,
        as client: Client
    ) throws(VaultError) -> Data
}
