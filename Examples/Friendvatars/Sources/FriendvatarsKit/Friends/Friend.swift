import Foundation

/// Somebody whom an account has on its list.
public struct Friend: Sendable, Hashable, Identifiable {
    /// What pages and files know the friend by; says nothing about the person.
    public let id: UUID
    /// The address, by which the avatar is found.
    public let email: EmailAddress
    /// The name that is shown.
    public let name: String
}

/// The friends of an account.
public struct FriendList: Sendable {
    /// So many friends an account can have.
    public static let maximalCount = 500

    private let store: FriendStore

    /// - Parameter store: Where they are kept.
    public init(store: FriendStore) {
        self.store = store
    }

    /// What is on a list.
    public struct Contents: Sendable, Equatable {
        /// The friends, by name.
        public internal(set) var friends: [Friend] = []
        /// Entries that cannot be read, because their bytes were changed. They can be removed.
        public internal(set) var damaged: [Friend.ID] = []
    }

    /// All that is on an account's list.
    public func contents(of account: Account.ID) async throws -> Contents {
        try await store.list(of: account)
    }

    /// All of them that can be read, by name.
    public func friends(of account: Account.ID) async throws -> [Friend] {
        try await store.list(of: account).friends
    }

    /// Somebody new on the list.
    ///
    /// - Throws: ``FormProblems`` for what the person can mend.
    @discardableResult
    public func add(email typedEmail: String, name typedName: String, to account: Account.ID) async throws -> Friend {
        var problems = FormProblems()
        let name = typedName.trimmingCharacters(in: .whitespacesAndNewlines)
        problems[.name] = Accounts.problem(withName: name)
        guard let email = EmailAddress(typedEmail) else {
            problems[.email] = "Please enter an e-mail address, such as ada@example.com."
            throw problems
        }
        guard problems.isEmpty else { throw problems }
        let friend = Friend(id: UUID(), email: email, name: name)
        switch try await store.insert(friend, of: account, limit: Self.maximalCount) {
        case .added: return friend
        case .isThere: problems[.email] = "Somebody with this address is on your list."
        case .tooMany: problems[.form] = "Your list is full: \(Self.maximalCount) friends."
        }
        throw problems
    }

    /// Takes somebody off the list.
    public func remove(_ friend: Friend.ID, from account: Account.ID) async throws {
        try await store.remove(friend, of: account)
    }
}
