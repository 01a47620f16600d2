import Access
import FoundationEssentials
import KeychainModel

/// Keys of protected files: see ``FileKeySource``, whose operations these are for a client.
///
/// The vault keeps none of them. Which files a program may read is for the file system to say; the vault says when.
/// Any client with an access group may have keys made and opened.
package protocol VaultFileKeys: Sendable {
    func makeFileKey(
        for fileClass: FileProtectionClass, file: Data, as client: Client
    ) throws(VaultError) -> FileKey

    func fileKey(
        for fileClass: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> SecretBytes

    func rewrapFileKey(
        from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> Data

    /// Tells of locking and unlocking: first how it is now, then each change.
    ///
    /// A vault in the process tells of its own lock. A daemon tells of the one that all of its clients share; when it
    /// is gone for more than a few seconds, its keys are, and that is told as ``LockEvent/locked``.
    func lockEvents() -> AsyncStream<LockEvent>

    /// Has `tell` called for each locking, for as long as the observation is kept.
    ///
    /// - Parameter tell: Called before the operation that locks returns, where that is in this process: it may not wait then,
    ///   and not call the vault. What a daemon tells comes a moment later, on a thread apart, and may be past.
    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation
}

/// Ends an observation when the last reference goes.
package final class LockObservation: Sendable {
    /// Whether who locks waits until it was told.
    package let isImmediate: Bool
    private let end: @Sendable () -> Void

    package init(isImmediate: Bool, end: @escaping @Sendable () -> Void) {
        self.isImmediate = isImmediate
        self.end = end
    }

    deinit { end() }
}

/// What happens to the keys of classes that are open only while the vault is unlocked.
package enum LockEvent: UInt8, Sendable, CaseIterable {
    /// They will be wiped soon: at once, or after the grace that was asked for. May be called off by ``unlocked``.
    case willLock = 1
    /// They are wiped. Whoever holds keys of such files has to give them up.
    case locked
    /// They can be used.
    case unlocked
}
