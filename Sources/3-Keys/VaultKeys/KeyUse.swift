import KeychainModel
import VaultInterface

/// On whose behalf a key is used: what the search that found it, or the call that made it, said.
package struct KeyUse: Sendable {
    package var authentication: AuthenticationOptions
    /// Kept with the key: what a person has shown ends with the context.
    package var context: (any KeyUseContext)?

    package init(authentication: AuthenticationOptions = .init(), context: (any KeyUseContext)? = nil) {
        self.authentication = authentication
        self.context = context
    }
}

/// An authentication context that wants to know in which vaults it is used.
package protocol KeyUseContext: Sendable {
    /// Called before each use of the key.
    func willUse(_ session: VaultSession)
}
