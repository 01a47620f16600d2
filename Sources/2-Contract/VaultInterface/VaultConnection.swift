import Access

/// A vault that a daemon serves. Linked and found by its name like the engine.
package protocol VaultConnection: Vault {
    /// Connects to the daemon that listens on the socket at `path`; nil if none does.
    ///
    /// - Parameter prompt: Returns how to ask a person when the daemon wants it; nil for the standard prompt.
    static func connect(
        toSocket path: String, asking prompt: @escaping @Sendable () -> (any PasscodePrompt)?
    ) throws(VaultError) -> (any VaultConnection)?

    /// Whom the daemon takes this process for, and what it may do.
    var caller: CallerDescription { get }

    func close()
}
