import KeyCryptography
import KeychainModel
import VaultInterface

/// The authentication for the use of a key, from the search that found the key or from the call that made it.
package struct KeyUse: Sendable {
    package var authentication: AuthenticationOptions
    /// Stored with the key, because an authentication ends with its context.
    package var context: (any KeyUseContext)?

    /// Performs the operations of a key of the enclave; nil for the current vault.
    package var performing: EnclavePrivateKey.Performer?

    package init(
        authentication: AuthenticationOptions = .init(), context: (any KeyUseContext)? = nil,
        performing: EnclavePrivateKey.Performer? = nil
    ) {
        self.authentication = authentication
        self.context = context
        self.performing = performing
    }
}

/// An authentication context that is told in which vaults it is used.
package protocol KeyUseContext: Sendable {
    /// Called before each use of the key.
    func willUse(_ session: VaultSession)
}
