import Foundation
import SealedFields
import Synchronization

/// The keys of accounts: a keyring in the keychain for each, so that what is sealed for one is gone for good with it.
final class AccountKeys: Sendable {
    /// Addresses are looked up by digests under a key that all accounts share.
    let directory = FieldSealing(
        database: "friendvatars", keys: FieldKeys("friendvatars.directory", protection: .afterFirstUnlock))

    private struct Known {
        var sealings: [UUID: FieldSealing] = [:]
        var order: [UUID] = []
        /// Accounts that were deleted: a request that is on its way must not make new keys for one.
        var gone: Set<UUID> = []
    }

    private static let capacity = 1_000
    private let known = Mutex(Known())

    /// Seals and opens what belongs to an account.
    ///
    /// - Throws: ``AccountIsGone``.
    func sealing(of account: UUID) throws -> FieldSealing {
        try known.withLock { known in
            guard !known.gone.contains(account) else { throw AccountIsGone() }
            if let sealing = known.sealings[account] { return sealing }
            let sealing = Self.fresh(account)
            known.sealings[account] = sealing
            known.order.append(account)
            if known.order.count > Self.capacity {
                known.sealings.removeValue(forKey: known.order.removeFirst())?.keys.discard()
            }
            return sealing
        }
    }

    /// The same with keys that come from the keychain anew: at a sign-in, how long it takes must not tell whose account was in use.
    static func fresh(_ account: UUID) -> FieldSealing {
        FieldSealing(
            database: "friendvatars",
            keys: FieldKeys("friendvatars.account.\(account.uuidString)", protection: .afterFirstUnlock))
    }

    /// Destroys the keys of an account, for which no others are made from then on.
    func destroy(_ account: UUID) throws {
        let sealing = known.withLock { known in
            known.gone.insert(account)
            known.order.removeAll { $0 == account }
            return known.sealings.removeValue(forKey: account)
        }
        try (sealing ?? Self.fresh(account)).keys.destroy()
    }
}

/// What was asked for belongs to an account that was deleted.
public struct AccountIsGone: Error {}
