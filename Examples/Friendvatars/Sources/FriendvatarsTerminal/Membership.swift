import Credentials
import Crypto
import Foundation
import FriendvatarsKit
import Keychain

/// Who is signed in at this terminal: noted by number in the person's preferences, with a salted hash of the password
/// and a token of the session in the keychain. None of it says an address or a name.
struct Membership {
    private let app: FriendvatarsApp
    private let auth: AuthController
    private let service: String

    /// The state for one data folder: in each somebody else may be signed in.
    init(of app: FriendvatarsApp, in folder: DataFolder) throws {
        self.app = app
        // The same by whatever path it is reached, with a slash at its end or without.
        let path = "/" + folder.url.resolvingSymlinksInPath().pathComponents.dropFirst().joined(separator: "/")
        let digest = SHA256.hash(data: Data(path.utf8)).prefix(8).hexadecimal
        let name = "org.example.friendvatars.terminal"
        service = "\(name).session.\(digest)"
        auth = try AuthController(
            service: "\(name).\(digest)", others: [Keychain(service: service)], preferences: name,
            marker: folder.url.appending(path: "terminal"))
    }

    private func item(of account: String) -> PasswordItem {
        PasswordItem(service: service, account: account, accessibility: .whenUnlockedThisDeviceOnly)
    }

    /// The account that is signed in; nil for nobody. A session that has ended elsewhere is signed out here, too.
    func current() async throws -> Account? {
        guard let user = auth.currentUser else { return nil }
        let item = item(of: user.account)
        if let token = try? item.readPassword(), let visit = try await app.sessions.check(token),
            visit.account == user.account, let id = UUID(uuidString: visit.account),
            let account = try await app.account(id)
        {
            if let newer = visit.newToken { try item.savePassword(newer.text) }
            return account
        }
        try await auth.signOut()
        return nil
    }

    /// Signs in somebody whose password was found to be right.
    func signIn(_ account: Account, password: String) async throws {
        try await endSession()
        let number = account.id.uuidString
        try await auth.signIn(.init(account: number), password: SignInPassword(password))
        try item(of: number).savePassword(try await app.sessions.issue(for: number).text)
    }

    /// Signs out the signed-in person: removes the session, its token, the hash and the note.
    ///
    /// - Returns: Whether a person was signed in.
    @discardableResult
    func signOut() async throws -> Bool {
        let isSignedIn = auth.isSignedIn
        try await endSession()
        try await auth.signOut()
        return isSignedIn
    }

    private func endSession() async throws {
        guard let user = auth.currentUser, let token = try? item(of: user.account).readPassword() else { return }
        try await app.sessions.revoke(token)
    }
}
