import VaultInterface

extension VaultSession {
    /// What an operator should know although the vault works; nothing if this tool may not know.
    package var condition: VaultCondition {
        // A daemon of an earlier version does not know the operation.
        (try? perform(ReadCondition())) ?? VaultCondition()
    }
}

extension VaultStatus {
    /// Fails while the vault tries no passcode because of wrong ones.
    package func requireNoDelay() throws(VaultError) {
        guard retryAfter > 0 else { return }
        throw .passcodeDelayed(retryAfter: retryAfter)
    }
}
