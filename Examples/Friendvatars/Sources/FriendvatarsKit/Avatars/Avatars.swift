import Foundation

/// Gives avatars: from memory, from protected files, from the service, or generated, in that order.
public actor Avatars {
    private struct Key: Hashable {
        let account: UUID
        let email: EmailAddress
    }

    private struct Known {
        var avatar: Avatar
        /// When to ask the service again.
        var stale: ContinuousClock.Instant
    }

    /// So long a fetched picture is good, in seconds.
    private static let lifetime: TimeInterval = 7 * 86_400
    /// So long nobody asks again for one that the service does not have.
    private static let absence = Duration.seconds(3_600)
    /// So long nobody asks again when the service did not answer.
    private static let silence = Duration.seconds(60)
    /// So much is kept in memory, in bytes.
    private static let capacity = 32 << 20
    /// What one takes beside its picture, in bytes.
    private static let overhead = 512

    private let files: AvatarFiles
    private let service: AvatarService?
    private let keys: AccountKeys
    private var budget = FetchBudget()
    private var known = BoundedCache<Key, Known>(capacity: capacity)
    private var asked: [Key: Task<Avatar, Never>] = [:]

    /// - Parameters:
    ///   - folder: Where the files are.
    ///   - store: Whose accounts they are for.
    ///   - service: Where they come from; nil to generate all of them.
    public init(in folder: DataFolder, store: FriendStore, service: AvatarService?) {
        keys = store.keys
        files = AvatarFiles(folder: folder.avatars, keys: store.keys)
        self.service = service
    }

    /// The avatar of an address, for an account that has it on its list.
    public func avatar(of email: EmailAddress, for account: Account.ID) async -> Avatar {
        guard !keys.isRetired(account) else { return Avatar(generatedFor: email) }
        let key = Key(account: account, email: email)
        if let found = known[key], found.stale > .now { return found.avatar }
        // A caller that asks while another request runs gets the same answer.
        if let task = asked[key] { return await task.value }
        let task = Task { await look(for: key) }
        asked[key] = task
        let avatar = await task.value
        asked[key] = nil
        return avatar
    }

    private func look(for key: Key) async -> Avatar {
        let stored = try? await files.read(key.email, of: key.account)
        if let stored, -stored.date.timeIntervalSinceNow < Self.lifetime {
            return remember(stored.avatar, key, for: .seconds(Self.lifetime + stored.date.timeIntervalSinceNow))
        }
        let former = stored?.avatar ?? Avatar(generatedFor: key.email)
        guard let service else { return remember(former, key, for: Self.absence) }
        guard budget.take(for: key.account, at: .now) else { return remember(former, key, for: Self.silence) }
        do {
            switch try await service.avatar(of: key.email) {
            case .picture(let avatar):
                // A full disk is no reason to show another picture.
                try? await files.write(avatar, of: key.email, for: key.account)
                return remember(avatar, key, for: .seconds(Self.lifetime))
            case .nothing:
                try? await files.remove(key.email, of: key.account)
                return remember(Avatar(generatedFor: key.email), key, for: Self.absence)
            }
        } catch {
            return remember(former, key, for: Self.silence)
        }
    }

    private func remember(_ avatar: Avatar, _ key: Key, for time: Duration) -> Avatar {
        known.insert(
            Known(avatar: avatar, stale: .now + time), for: key, weight: avatar.bytes.count + Self.overhead)
        return avatar
    }

    /// Forgets the avatar of somebody who is no longer on an account's list.
    public func remove(_ email: EmailAddress, of account: Account.ID) async throws {
        let key = Key(account: account, email: email)
        if let task = asked[key] {
            task.cancel()
            _ = await task.value
        }
        known.remove(key)
        try await files.remove(email, of: account)
    }

    /// Removes what is there of accounts that are not, which another process may have deleted while pictures were
    /// fetched for them.
    func removeAll(but accounts: Set<Account.ID>) async throws {
        try await files.removeAll(but: accounts)
    }

    /// Forgets all avatars of an account that is deleted, and whose keys nobody gets any more.
    public func removeAll(of account: Account.ID) async throws {
        for (key, task) in asked where key.account == account {
            task.cancel()
            _ = await task.value
        }
        for key in known.keys where key.account == account { known.remove(key) }
        try await files.removeAll(of: account)
    }
}
