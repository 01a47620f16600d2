import Foundation
import SealedFields
import Synchronization

/// The keys of accounts: a keyring in the keychain for each, so that what is sealed for one is gone for good with it.
final class AccountKeys: Sendable {
    /// Addresses are looked up by digests under a key that all accounts share.
    let directory = FieldSealing(
        database: "friendvatars",
        keys: FieldKeys("friendvatars.directory", protection: .keychain(.afterFirstUnlockThisDeviceOnly)))

    private struct Known {
        var sealings = BoundedCache<UUID, FieldSealing>(capacity: 1_000)
        /// Accounts that are deleted: a request that is on its way must not make new keys for one.
        var gone: Set<UUID> = []
    }

    private let known = Mutex(Known())

    /// Seals and opens what belongs to an account.
    ///
    /// - Throws: ``AccountIsGone``.
    func sealing(of account: UUID) throws -> FieldSealing {
        try known.withLock { known in
            guard !known.gone.contains(account) else { throw AccountIsGone() }
            if let sealing = known.sealings[account] { return sealing }
            let sealing = Self.fresh(account)
            for former in known.sealings.insert(sealing, for: account) { former.keys.discard() }
            return sealing
        }
    }

    /// The same with keys that come from the keychain anew: at a sign-in, how long it takes must not tell whose account
    /// was in use.
    static func fresh(_ account: UUID) -> FieldSealing {
        FieldSealing(
            database: "friendvatars",
            keys: FieldKeys(
                "friendvatars.account.\(account.uuidString)", protection: .keychain(.afterFirstUnlockThisDeviceOnly)))
    }

    /// Opens what belongs to an account with its keys.
    ///
    /// - Throws: ``AccountIsGone``, also when the keys go meanwhile.
    func opening<Result>(_ account: UUID, _ body: (FieldSealing) throws -> Result) throws -> Result {
        let sealing = try sealing(of: account)
        do {
            return try body(sealing)
        } catch {
            throw isRetired(account) ? AccountIsGone() : error
        }
    }

    /// Whether ``retire(_:)`` was called.
    func isRetired(_ account: UUID) -> Bool {
        known.withLock { $0.gone.contains(account) }
    }

    /// Gives nobody the keys of an account any more. What has them already comes to its end before they are destroyed.
    func retire(_ account: UUID) {
        known.withLock { _ = $0.gone.insert(account) }
    }

    /// Destroys the keys of an account, for which no others are made from then on.
    func destroy(_ account: UUID) throws {
        let sealing = known.withLock { known in
            known.gone.insert(account)
            return known.sealings.remove(account)
        }
        try (sealing ?? Self.fresh(account)).keys.destroy()
    }
}

/// What was asked for belongs to an account that was deleted.
public struct AccountIsGone: Error {}
