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
        let vault = try await inBackground { bound in bound.session.vault }
        let (occasions, occasion) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Listening begins here and not in the tasks, so that nothing is missed before they run.
        let changes = vault.changes()
        let lockEvents = vault.lockEvents()
        let tasks = [
            Task {
                for await _ in changes { occasion.yield() }
                occasion.finish()
            },
            Task {
                for await event in lockEvents where event == .unlocked { occasion.yield() }
            },
        ]
        occasion.onTermination = { _ in
            for task in tasks { task.cancel() }
        }
        return occasions
    }
}
