import VaultInterface

extension Keychain {
    /// The occasions to read values again, also across locks: an element after each change to the vault, by this or
    /// another process, and after each unlocking.
    ///
    /// Several at once may come as one element. Of a vault that is unlocked now, the first comes at once. The sequence
    /// is for one consumer. It ends when its task is canceled, and when the vault tells of no more changes.
    ///
    /// - Throws: ``KeychainError`` when there is no vault to listen to.
    package func occasionsToRead() async throws -> AsyncStream<Void> {
        try await inBackground { bound in bound.session.vault }.occasions()
    }
}
