import Bytes
import Foundation
import Keychain
import PasswordHashes
import VaultInterface

/// Hashes passwords for storing, and checks passwords against what is stored.
///
/// New hashes are Argon2id (RFC 9106) as strings in PHC form, which other languages read:
/// `$argon2id$v=19$m=65536,t=3,p=1$…$…`. Older ones are checked as well, and upgraded when their owner signs in:
///
/// ```swift
/// let hasher = PasswordHasher()
/// let answer = try await hasher.verify(password, against: user?.passwordHash)
/// guard answer.isCorrect else { return showError("Unknown user or wrong password.") }
/// if let better = answer.newHash { try await users.setHash(better, of: user) }
/// ```
///
/// An account that does not exist is asked for with nil: that takes as long as a wrong password does.
public struct PasswordHasher: Sendable {
    /// 64 MiB and three passes: the memory and passes of RFC 9106's second recommended option.
    public static let standardCost = Argon2Cost(memoryKiB: 65_536, passes: 3)

    /// What new hashes cost, and older ones should: 8 to 2,097,152 KiB, 1 to 64 passes, and no more than 16 GiB for all
    /// passes together.
    public var cost: Argon2Cost
    /// What passwords are mixed with; nil for nothing.
    public var pepper: PasswordPepper?
    /// Peppers of former times, whose hashes are still checked.
    public var formerPeppers: [PasswordPepper]
    /// How 64 hexadecimal digits that are stored as a hash were made; nil where there are none.
    public var olderHashes: SaltedSHA256Hash?
    /// How many may wait for a processor, of all hashers of the program together, before the asynchronous forms refuse
    /// with ``CredentialsError/Code/busy``: a flood of sign-ins takes neither all memory nor everybody's time.
    public var waitingLimit: Int
    /// Where the asynchronous forms work.
    var threads = BlockingThreads.hashing

    /// A hasher; see the properties.
    public init(
        cost: Argon2Cost = Self.standardCost, pepper: PasswordPepper? = nil, formerPeppers: [PasswordPepper] = [],
        olderHashes: SaltedSHA256Hash? = nil, waitingLimit: Int = Self.standardWaitingLimit
    ) {
        (self.cost, self.pepper, self.formerPeppers) = (cost, pepper, formerPeppers)
        (self.olderHashes, self.waitingLimit) = (olderHashes, waitingLimit)
    }

    /// What checking a password has shown.
    public struct Verification: Sendable, Hashable {
        /// Whether it is the account's.
        public let isCorrect: Bool
        /// A hash to store in the place of the one that there is, which is older, cheaper to try, or made with another
        /// pepper.
        public let newHash: String?
    }

    /// The text of a new hash. Takes as long as ``cost`` says; in an asynchronous function use the asynchronous form.
    ///
    /// - Throws: ``CredentialsError/Code/passwordTooLong``, ``CredentialsError/Code/tooExpensive``,
    ///   ``CredentialsError/Code/outOfMemory``.
    public func hash(_ password: SignInPassword) throws -> String {
        try checkLength(password)
        let mixed = try pepper?.mixed(with: password.secret) ?? password.secret
        return try CredentialsError.translating {
            try HashedPassword.make(mixed, cost: cost, keyID: pepper?.id)
        }
    }

    /// Whether a hash is older or cheaper to try than those that are made now.
    public func needsRehash(_ hash: String) -> Bool {
        guard let found = try? HashedPassword(hash) else { return true }
        return !found.isAtLeast(cost, keyID: pepper?.id)
    }

    /// Checks a password. Takes as long as making the hash took; in an asynchronous function use the asynchronous form.
    ///
    /// - Parameters:
    ///   - hash: What is stored; nil for an account that does not exist, which takes as long as one with a hash of
    ///     ``cost``.
    ///   - account: The name or address that older hashes were made with; see ``olderHashes``.
    /// - Throws: ``CredentialsError/Code/unknownHash``, ``CredentialsError/Code/unknownPepper``,
    ///   ``CredentialsError/Code/tooExpensive``, ``CredentialsError/Code/passwordTooLong``,
    ///   ``CredentialsError/Code/outOfMemory``, ``CredentialsError/Code/unsupported``.
    public func verify(
        _ password: SignInPassword, against hash: String?, account: String = ""
    ) throws -> Verification {
        try checkLength(password)
        guard let hash else {
            try verifyNothing(password)
            return Verification(isCorrect: false, newHash: nil)
        }
        if let olderHashes, let bytes = SaltedSHA256.bytes(of: hash) {
            let isCorrect = olderHashes.form.matches(password.secret, account: account, hash: bytes)
            // In both cases one of today is made, so that a wrong password takes as long as a right one.
            let newHash = try self.hash(password)
            return Verification(isCorrect: isCorrect, newHash: isCorrect ? newHash : nil)
        }
        let (found, isCorrect): (HashedPassword, Bool)
        do {
            found = try CredentialsError.translating { try HashedPassword(hash) }
            isCorrect = try matches(password, found)
        } catch {
            // Nor does the time tell of an account whose hash is of no use.
            if CredentialsError(error).code != .outOfMemory { try verifyNothing(password) }
            throw error
        }
        guard isCorrect, !found.isAtLeast(cost, keyID: pepper?.id) else {
            return Verification(isCorrect: isCorrect, newHash: nil)
        }
        return Verification(isCorrect: true, newHash: try self.hash(password))
    }

    private func verifyNothing(_ password: SignInPassword) throws {
        let decoy = try CredentialsError.translating {
            try HashedPassword.decoy(cost: cost, keyID: pepper?.id)
        }
        _ = try matches(password, decoy)
    }

    private func matches(_ password: SignInPassword, _ hash: HashedPassword) throws -> Bool {
        var secret = password.secret
        if let id = hash.keyID {
            guard let pepper = ([pepper].compactMap(\.self) + formerPeppers).first(where: { $0.id == id }) else {
                throw CredentialsError(
                    .unknownPepper,
                    message: "the hash was made with a pepper that is not there; give the hasher the one of that time")
            }
            secret = try pepper.mixed(with: secret)
        }
        let mixed = secret
        return try CredentialsError.translating { try hash.matches(mixed) }
    }

    private func checkLength(_ password: SignInPassword) throws {
        guard password.count <= HashedPassword.maximalPasswordSize else {
            throw CredentialsError(PasswordHashError.passwordTooLong)
        }
    }
}

extension PasswordHasher.Verification: CustomStringConvertible, CustomReflectable {
    /// Without the hash.
    public var description: String { "isCorrect: \(isCorrect), newHash: \(newHash == nil ? "none" : "there is one")" }
    /// Without the hash.
    public var customMirror: Mirror { Mirror(self, children: ["isCorrect": isCorrect]) }
}

/// How hashes of SHA-256 over password, account and a salt that is the same for all were made.
///
/// Many mobile apps and tutorials stored them: `password.account.salt`, hashed once, as 64 hexadecimal digits. They are
/// weak: one machine tries millions of passwords in a second, and the same password of two people is found at once by
/// its account alone. This is for signing their owners in once more, and giving them a hash of today.
public struct SaltedSHA256Hash: Sendable, Hashable {
    let form: SaltedSHA256

    /// - Parameters:
    ///   - salt: The constant.
    ///   - separator: What stands between password, account and salt.
    public init(salt: String, separator: String = ".") {
        form = SaltedSHA256(salt: salt, separator: separator)
    }
}
