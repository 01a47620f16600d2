import AsyncHTTPClient
import Credentials
import Foundation

/// The app, without its pages: what the server and the terminal have in common.
public struct FriendvatarsApp: Sendable {
    /// The database.
    public let store: FriendStore
    /// Who can sign in.
    public let accounts: Accounts
    /// Who is on whose list.
    public let friends: FriendList
    /// Pictures.
    public let avatars: Avatars
    /// Who stays signed in.
    public let sessions: SessionTokens

    /// The app in a folder.
    ///
    /// - Parameters:
    ///   - folder: Where it keeps what it keeps.
    ///   - service: Where avatars come from; nil to generate all of them.
    ///   - hasher: What a password costs.
    public init(in folder: DataFolder, service: AvatarService?, hasher: PasswordHasher = PasswordHasher()) async throws
    {
        store = try FriendStore(in: folder)
        accounts = try Accounts(store: store, hasher: hasher)
        friends = FriendList(store: store)
        avatars = Avatars(in: folder, store: store, service: service)
        sessions = SessionTokens(store: DatabaseSessionStore(store))
        try await store.finishDeletions(avatars)
        try await avatars.removeAll(but: store.accountIDs())
        try await sessions.removeExpired()
    }

    /// The account with this number; nil if there is none.
    public func account(_ id: Account.ID) async throws -> Account? {
        try await store.account(id)
    }

    /// An account with its list; nil if there is none.
    public func accountAndList(_ id: Account.ID) async throws -> (account: Account, list: FriendList.Contents)? {
        guard let account = try await store.account(id) else { return nil }
        return (account, try await store.list(of: id))
    }

    /// Takes somebody off an account's list, with the picture.
    public func removeFriend(_ id: Friend.ID, of account: Account.ID) async throws {
        let friend = try await store.friend(id, of: account)
        try await friends.remove(id, from: account)
        if let friend, friend.email != (try await store.account(account))?.email {
            try await avatars.remove(friend.email, of: account)
        }
    }

    /// The picture of a friend; nil if the account has no such friend.
    public func avatar(of friend: Friend.ID, for account: Account.ID) async throws -> Avatar? {
        guard let friend = try await store.friend(friend, of: account) else { return nil }
        let avatar = await avatars.avatar(of: friend.email, for: account)
        // Taken off the list meanwhile, with the picture that was then not there yet; or the account was deleted by
        // another process.
        if try await store.account(account) == nil {
            try await avatars.removeAll(of: account)
        } else if try await store.friend(friend.id, of: account) == nil {
            try await avatars.remove(friend.email, of: account)
        }
        return avatar
    }

    /// The picture of an account's own address; nil if there is no such account.
    public func ownAvatar(of account: Account.ID) async throws -> Avatar? {
        guard let email = try await store.account(account)?.email else { return nil }
        let avatar = await avatars.avatar(of: email, for: account)
        guard try await store.account(account) != nil else {
            try await avatars.removeAll(of: account)
            return nil
        }
        return avatar
    }

    /// Deletes an account with all that belongs to it, for good, once its password was given again.
    ///
    /// - Throws: ``SignInFailure``.
    public func deleteAccount(
        _ id: Account.ID, password: String, from client: String?, device: String? = nil
    ) async throws {
        try await accounts.confirm(id, password: password, from: client, device: device)
        try await store.delete(id, avatars)
    }
}
