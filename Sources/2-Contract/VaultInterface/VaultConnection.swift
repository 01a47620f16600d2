import Access

/// A vault that a daemon serves. Linked and found by its name like the engine.
package protocol VaultConnection: Vault {
    /// Connects to the daemon that listens on the socket at `path`; nil if none does.
    static func connect(toSocket path: String) throws(VaultError) -> (any VaultConnection)?

    /// Whom the daemon takes this process for, and what it may do.
    var caller: CallerDescription { get }

    func close()
}
