import Foundation
import Keychain
import Synchronization
import VaultInterface

/// The person who is signed in to an app on this device.
///
/// The password itself is not stored. The keychain has a salted hash of it, so that the app can ask for the password
/// again. The app's preferences hold a note of the signed-in person and no secret. A person is signed in if the note
/// names the person and the keychain has the hash. Several processes of an app may have controllers of the same
/// preferences: they take turns.
///
/// ```swift
/// let auth = try AuthController(service: "com.example.friendvatars", marker: data.appending(path: "installed"))
/// try await auth.signIn(User(account: "ada@example.com", name: "Ada"), password: SignInPassword(typed))
/// for await status in auth.statusChanges { show(status.user) }
/// ```
public final class AuthController: Sendable {
    /// A person with an account.
    public struct User: Sendable, Hashable, Codable {
        /// What tells accounts apart, such as an e-mail address.
        public let account: String
        /// What the person is called; nil if the app does not know.
        public let name: String?

        /// A person with an account.
        public init(account: String, name: String? = nil) { (self.account, self.name) = (account, name) }
    }

    /// Whether somebody is signed in.
    public struct Status: Sendable, Hashable {
        /// The person who is signed in; nil if nobody is.
        public let user: User?
        /// Whether somebody is.
        public var isSignedIn: Bool { user != nil }
    }

    /// Where the hashes are.
    public let keychain: Keychain
    private let others: [Keychain]
    private let preferences: Preferences
    private let hasher: PasswordHasher
    private let listeners = Listeners<Status>()
    private let work: @Sendable () throws -> Void
    /// One change at a time, however long it takes: kept on threads that may block.
    private let changing = Mutex(())
    /// Kept for moments.
    private let state = Mutex(State())
    private let threads = BlockingThreads(limit: 1, idleTime: .seconds(1))

    private struct State {
        /// Counts what was begun.
        var changes = 0
        var announced: User?
    }

    /// The sign-in state of an app.
    ///
    /// - Parameters:
    ///   - service: The app's name in the keychain and the preferences, by custom in reverse-domain form.
    ///   - accessGroup: Nil for the first group of the program.
    ///   - others: Keychains whose items go with the person: tokens and the like. They are emptied by `signOut()`.
    ///   - preferences: Where the current user is noted; nil for the program's own (`UserDefaults.standard`).
    ///   - marker: A file in the app's data folder; without it this is a first launch, and what an earlier installation
    ///     left in the keychain is removed (`Keychain.removeItemsOfEarlierInstallation(of:marker:)`). An app
    ///     that has users already and never had a marker makes the file first. Nil to leave that out.
    ///   - hasher: What passwords are hashed with.
    ///   - signOut: Removes what else must go when somebody signs out: databases, files, caches. Runs again at the next
    ///     launch if the program ends in the middle. Nobody can sign in or out while it runs: it must not wait for
    ///     that, nor do it.
    /// - Throws: ``CredentialsError/Code/keychain``, and where there is a sign-out to finish, as `signOut()`.
    public init(
        service: String, accessGroup: String? = nil, others: [Keychain] = [], preferences suite: String? = nil,
        marker: URL?, hasher: PasswordHasher = PasswordHasher(), signOut: @escaping @Sendable () throws -> Void = {}
    ) throws {
        keychain = Keychain(service: service, accessGroup: accessGroup, accessibility: .whenUnlockedThisDeviceOnly)
        self.others = others
        preferences = Preferences(suite: suite, key: service + ".user")
        self.hasher = hasher
        work = signOut
        if let marker {
            _ = try CredentialsError.translating {
                try Keychain.removeItemsOfEarlierInstallation(of: [keychain] + others, marker: marker)
            }
        }
        // Finishes an interrupted sign-out. Only the note of a sign-out counts: a missing hash may be in a vault that
        // this launch does not see.
        if let note = try? preferences.read(), note.isSigningOut {
            try preferences.withLock {
                // Another process may have finished it.
                if try preferences.read()?.isSigningOut == true { try signOutEntirely() }
            }
        }
        let user = currentUser
        state.withLock { $0.announced = user }
    }

    // MARK: State

    /// Who is signed in, by this or another process of the app; nil for nobody, and when the keychain or the
    /// preferences cannot be read. Waits for both.
    public var currentUser: User? {
        guard let note = try? preferences.read(), !note.isSigningOut else { return nil }
        return (try? hasHash(of: note.user)) == true ? note.user : nil
    }

    /// Whether somebody is signed in.
    public var isSignedIn: Bool { currentUser != nil }

    /// Each change from now on, made by this controller. Any number of tasks may listen.
    public var statusChanges: AsyncStream<Status> { listeners.stream() }

    /// Posted, on the thread where it was made, with each change; its object is the controller. An observer must not
    /// sign in or out before it returns.
    public static let statusDidChange = Notification.Name("AuthController.statusDidChange")

    // MARK: Signing in and out

    /// Signs a person in, after the app or its server has checked the password. Another person who was signed in is
    /// signed out.
    ///
    /// Processes of one app, with the same preferences, take turns; the later one counts.
    ///
    /// - Throws: ``CredentialsError/Code/invalidAccount``, those of `PasswordHasher.hash(_:)`,
    ///   ``CredentialsError/Code/overtaken``, ``CredentialsError/Code/keychain``, ``CredentialsError/Code/file`` when
    ///   the preferences cannot be written, ``CredentialsError/Code/busy`` when another process of the app takes longer
    ///   than 30 seconds, ``CredentialsError/Code/taskCanceled``, and what the closure for signing out throws. The
    ///   person who was signed in before still is, unless signing out had begun.
    public func signIn(_ user: User, password: SignInPassword) async throws {
        guard !user.account.isEmpty else {
            throw CredentialsError(
                .invalidAccount, message: "the account has no name; give the one that the person signs in with")
        }
        let ticket = state.withLock { state in
            state.changes += 1
            return state.changes
        }
        let hash = try await hasher.hash(password)
        try await threads.runUsingKeychains(orThrow: CredentialsError.notBegun) { [self] in
            try changing.withLock { _ in
                try preferences.withLock { try signInNow(user, hash: hash, ticket: ticket) }
            }
        }
    }

    private func signInNow(_ user: User, hash: String, ticket: Int) throws {
        guard changeCount == ticket else {
            throw CredentialsError(
                .overtaken,
                message: "somebody else signed in or out meanwhile; nothing was changed for \(user.account)")
        }
        defer { announce() }
        if let former = try preferences.read(), former.isSigningOut || former.user.account != user.account {
            try signOutEntirely()
        }
        let former = try preferences.read()
        // The note first: without a hash nobody is signed in.
        try preferences.write(Preferences.Note(user: user, isSigningOut: false))
        do {
            try keychain.set(hash, for: user.account)
        } catch {
            try? preferences.write(former)
            throw CredentialsError(error)
        }
    }

    /// Asks for the password of the person who is signed in once more, as before showing something that matters.
    ///
    /// - Throws: ``CredentialsError/Code/wrongPassword``, ``CredentialsError/Code/notSignedIn``, those of
    ///   `PasswordHasher.verify(_:against:account:)`, ``CredentialsError/Code/keychain``,
    ///   ``CredentialsError/Code/file``, ``CredentialsError/Code/taskCanceled``.
    public func confirm(_ password: SignInPassword) async throws {
        let (note, hash) = try await threads.runUsingKeychains(orThrow: CredentialsError.notBegun) {
            [self] in
            guard let note = try preferences.read(), !note.isSigningOut else { throw CredentialsError.notSignedIn }
            let hash = try CredentialsError.translating {
                try keychain.get(String.self, for: note.user.account)
            }
            guard let hash else { throw CredentialsError.notSignedIn }
            return (note, hash)
        }
        let user = note.user
        let answer = try await hasher.verify(password, against: hash, account: user.account)
        guard answer.isCorrect else {
            throw CredentialsError(.wrongPassword, message: "that is not the password of \(user.account); try again")
        }
        try await threads.runUsingKeychains(orThrow: CredentialsError.notBegun) { [self] in
            guard try preferences.read() == note, try hasHash(of: user) else { throw CredentialsError.notSignedIn }
            guard let newHash = answer.newHash else { return }
            // Another hash that was stored meanwhile stays.
            _ = try CredentialsError.translating {
                try keychain.replace(expecting: hash, with: newHash, for: user.account)
            }
        }
    }

    /// Signs the person out: removes the hash, all items of the other keychains, what the closure removes, and last the
    /// note in the preferences. Nothing happens if nobody is signed in. Waits for all that; in an asynchronous function
    /// use the asynchronous form.
    ///
    /// - Throws: ``CredentialsError/Code/file`` when the preferences cannot be written, and
    ///   ``CredentialsError/Code/busy`` when another process of the app signs in or out for longer than 30 seconds:
    ///   then nothing was removed. ``CredentialsError/Code/keychain``, and what the closure throws: then nobody is
    ///   signed in, and what is left is removed by the next call, or the next launch.
    public func signOut() throws {
        try changing.withLock { _ in
            state.withLock { $0.changes += 1 }
            guard try preferences.read() != nil else { return }
            try preferences.withLock {
                defer { announce() }
                if try preferences.read() != nil { try signOutEntirely() }
            }
        }
    }

    /// Signs the person out, on a thread of this module's own. See the synchronous form.
    ///
    /// - Throws: As the synchronous form, and ``CredentialsError/Code/taskCanceled``.
    public func signOut() async throws {
        let leave: @Sendable () throws -> Void = { [self] in try signOut() }
        try await threads.runUsingKeychains(orThrow: CredentialsError.notBegun, leave)
    }

    private func signOutEntirely() throws {
        if var note = try preferences.read(), !note.isSigningOut {
            note.isSigningOut = true
            try preferences.write(note)
        }
        try CredentialsError.translating {
            try keychain.removeAll()
            for other in others { try other.removeAll() }
        }
        try work()
        try preferences.write(nil)
    }

    /// How many changes were begun.
    var changeCount: Int { state.withLock { $0.changes } }

    private func hasHash(of user: User) throws -> Bool {
        try CredentialsError.translating { try keychain.contains(user.account) }
    }

    /// Announces the current user, before another change can happen, so that the last announcement is the latest state.
    private func announce() {
        let user = currentUser
        let isNew = state.withLock { state in
            defer { state.announced = user }
            return state.announced != user
        }
        guard isNew else { return }
        listeners.send(Status(user: user))
        NotificationCenter.default.post(name: Self.statusDidChange, object: self)
    }
}

extension CredentialsError {
    static let notBegun = CredentialsError(
        .taskCanceled, message: "the task was canceled before signing in or out began; nothing was changed")
    static let notSignedIn = CredentialsError(.notSignedIn, message: "nobody is signed in; have somebody sign in first")
}
