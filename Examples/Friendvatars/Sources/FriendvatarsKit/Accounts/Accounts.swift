import Credentials
import Foundation
import GRDB

/// Signs people up and in, and deletes their accounts.
///
/// All data about a person is sealed with the account's own keys. Deleting the account destroys these keys. After that,
/// not even an old copy of the database shows the person's name, address or friends. But an attacker who has such a
/// copy and the vault can try addresses, and so find out which addresses once had an account.
public struct Accounts: Sendable {
    let store: FriendStore
    private let hasher: PasswordHasher
    private let devices: DeviceTokens
    private let throttle: SignInThrottle
    /// Apart, so that who signs people up in a school's name keeps nobody there from signing in.
    private let signUpThrottle = SignInThrottle()
    private let policy = PasswordPolicy()

    /// - Parameters:
    ///   - store: Where they are kept.
    ///   - hasher: What a password costs.
    /// - Throws: `KeychainError` when the key for devices cannot be had.
    public init(store: FriendStore, hasher: PasswordHasher) throws {
        (self.store, self.hasher) = (store, hasher)
        devices = try DeviceTokens(key: ServerKey.devices.load())
        throttle = SignInThrottle(devices: devices)
    }

    /// By what a device is known to the account that has signed in from it; see
    /// ``signIn(email:password:from:device:)``.
    public func deviceToken(for account: Account) -> String {
        devices.make(for: account.email.text)
    }

    /// A new account.
    ///
    /// - Parameter client: The address of the machine that it comes from; nil for this machine's own terminal.
    /// - Throws: ``FormProblems`` for what the person can mend, and ``SignInFailure`` for too many at a time.
    public func signUp(
        email typedEmail: String, name typedName: String, password: String, from client: String? = nil
    ) async throws -> Account {
        var problems = FormProblems()
        let name = typedName.trimmingCharacters(in: .whitespacesAndNewlines)
        let email = EmailAddress(typedEmail)
        if email == nil { problems[.email] = "Please enter an e-mail address, such as ada@example.com." }
        problems[.name] = Self.problem(withName: name)
        problems[.password] = policy.problems(with: password, about: [typedEmail, name, "Friendvatars"]).first
            .map(Self.sentence)
        guard let email, problems.isEmpty else { throw problems }
        // Each one tells whether an address has an account, and costs as much as a sign-in.
        if let client, let wait = signUpThrottle.begin(account: UUID().uuidString, address: client) {
            throw SignInFailure.tooManyTries(wait: wait)
        }
        let hash = try await hasher.hash(SignInPassword(password))
        let account = Account(id: UUID(), email: email, name: name)
        guard try await store.insert(account, passwordHash: hash) else {
            problems[.email] = "This address cannot sign up. If it is yours, sign in."
            throw problems
        }
        return account
    }

    /// The account of an address and a password.
    ///
    /// An address that is not known takes as long as a wrong password.
    ///
    /// - Parameters:
    ///   - client: The address of the machine that the try comes from; nil for this machine's own terminal.
    ///   - device: What the device shows to be known by; nil for nothing.
    /// - Throws: ``SignInFailure``; `CredentialsError` with the code `busy` when too many people wait.
    public func signIn(
        email typedEmail: String, password: String, from client: String?, device: String? = nil
    ) async throws -> Account {
        let email = EmailAddress(typedEmail)
        let (name, address) = (
            email?.text ?? String(typedEmail.prefix(EmailAddress.maximalSize)), client ?? "127.0.0.1"
        )
        if let wait = throttle.begin(account: name, address: address, device: device) {
            throw SignInFailure.tooManyTries(wait: wait)
        }
        let found: FriendStore.SignInRecord?
        let answer: PasswordHasher.Verification
        do {
            found = try await store.signInRecord(of: email)
            // What is longer than any password is none, and costs as much.
            let typed = try SignInPassword(password.utf8.count <= policy.maximumSize ? password : "")
            answer = try await hasher.verify(typed, against: found?.passwordHash)
        } catch {
            throttle.notLookedAt(account: name, address: address, device: device)
            throw error
        }
        guard answer.isCorrect, let found else { throw SignInFailure.wrong }
        throttle.succeeded(account: name, address: address, device: device)
        if let newHash = answer.newHash { try await store.setPasswordHash(newHash, of: found.account.id) }
        return found.account
    }

    /// Makes sure that it is the account's owner who asks for something, by the password.
    ///
    /// - Throws: ``SignInFailure``.
    func confirm(_ id: Account.ID, password: String, from client: String?, device: String?) async throws {
        guard let account = try await store.account(id) else { throw SignInFailure.wrong }
        let confirmed = try await signIn(
            email: account.email.text, password: password, from: client, device: device)
        guard confirmed.id == id else { throw SignInFailure.wrong }
    }

    /// What is wrong with a name; nil for nothing.
    public static func problem(withName name: String) -> String? {
        if name.isEmpty { return "Please enter a name." }
        if name.count > Account.maximalNameLength || name.utf8.count > 4 * Account.maximalNameLength {
            return "Please enter a name of at most \(Account.maximalNameLength) characters."
        }
        if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "Please enter a name without control characters."
        }
        guard name.unicodeScalars.contains(where: isSeen) else { return "Please enter a name that can be seen." }
        return nil
    }

    /// Whether a character shows by itself: letters, digits, marks of all kinds and emoji, not what stands between or
    /// upon others.
    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .unassigned, .surrogate, .nonspacingMark, .enclosingMark, .spaceSeparator,
            .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }

    private static func sentence(_ problem: PasswordPolicy.Problem) -> String {
        switch problem {
        case .tooShort: "Please choose a password of at least 8 characters."
        case .tooLong: "Please choose a shorter password."
        case .common: "This is one of the passwords that are tried first. Please choose another one."
        case .pattern: "This password is a pattern. Please choose another one."
        case .aboutAccount: "This password is too much like your name or address. Please choose another one."
        default: "Please choose another password."
        }
    }
}
