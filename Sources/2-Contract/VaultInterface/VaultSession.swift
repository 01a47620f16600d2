import Access

/// The vault and the client that Apple's global functions act on.
package struct VaultSession: Sendable {
    package var vault: any Vault
    package var client: Client

    package init(vault: any Vault, client: Client) {
        self.vault = vault
        self.client = client
    }

    /// The session of the running task: what a test put in its place, else the process's own.
    package static func current() throws(VaultError) -> VaultSession {
        if let provider = override { return provider.session }
        return try ProcessVault.session()
    }

    /// Stands in for the process's vault within a task, so that tests do not see each other.
    @TaskLocal package static var override: (any VaultSessionProvider)?
}

/// Something that says, at each call, which vault and client to use.
package protocol VaultSessionProvider: Sendable {
    var session: VaultSession { get }
}
