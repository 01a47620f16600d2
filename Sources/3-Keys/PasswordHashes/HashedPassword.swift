import FoundationEssentials
import KeychainModel
import Synchronization

/// A hash of a password with how it was made, as text.
package struct HashedPassword: Sendable {
    /// More bytes than this are nobody's password, and would be hashed for free.
    package static let maximalPasswordSize = 4096

    /// Which function made it.
    package enum Scheme: String, Sendable, CaseIterable {
        case argon2id, argon2i, bcrypt, scrypt, pbkdf2
    }

    private enum Form: Sendable {
        case argon2(Argon2Hash)
        case bcrypt(BcryptHash)
        case derivedKey(DerivedKeyHash)
    }

    private let form: Form

    /// - Throws: ``PasswordHashError/unknownFormat``, ``PasswordHashError/tooExpensive``.
    package init(_ text: String) throws(PasswordHashError) {
        if let bcrypt = try BcryptHash(text) {
            form = .bcrypt(bcrypt)
        } else if let phc = PHCString(text), let argon2 = try Argon2Hash(phc) {
            form = .argon2(argon2)
        } else if let derivedKey = try DerivedKeyHash(text) {
            form = .derivedKey(derivedKey)
        } else {
            throw .unknownFormat
        }
    }

    package var scheme: Scheme {
        switch form {
        case .argon2(let hash): hash.isArgon2id ? .argon2id : .argon2i
        case .bcrypt: .bcrypt
        case .derivedKey(let hash):
            if case .scrypt = hash.function { .scrypt } else { .pbkdf2 }
        }
    }

    /// The key that the password was mixed with before it was hashed.
    package var keyID: String? {
        if case .argon2(let hash) = form { hash.keyID } else { nil }
    }

    /// Whether trying it costs no less than trying one that would be made today: Argon2id with no less memory, which is gone over as often
    /// in all, with salt and hash as long as new ones, and with the same key.
    package func isAtLeast(_ cost: Argon2Cost, keyID: String?) -> Bool {
        guard case .argon2(let hash) = form, hash.isArgon2id, hash.keyID == keyID else { return false }
        return hash.isAsLongAsOurs && hash.cost.memoryKiB >= cost.memoryKiB && hash.cost.work >= cost.work
    }

    /// Whether it was made of this password. Takes as long as making it took, whatever the answer.
    package func matches(_ password: SecretBytes) throws(PasswordHashError) -> Bool {
        guard password.count <= Self.maximalPasswordSize else { throw .passwordTooLong }
        switch form {
        case .argon2(let hash):
            Self.noteWork?(Work(hash.work, password))
            return try hash.matches(password)
        case .bcrypt(let hash): return try hash.matches(password)
        case .derivedKey(let hash): return try hash.matches(password)
        }
    }

    /// The text of a new hash.
    package static func make(
        _ password: SecretBytes, cost: Argon2Cost, keyID: String? = nil
    ) throws(PasswordHashError) -> String {
        guard password.count <= maximalPasswordSize else { throw .passwordTooLong }
        let text = try Argon2Hash.make(password, cost: cost, keyID: keyID)
        if let noteWork, let phc = PHCString(text), let made = try Argon2Hash(phc) {
            noteWork(Work(made.work, password))
        }
        return text
    }

    /// One run of Argon2: all that its time depends on. Two tries with equal work take equally long.
    package struct Work: Hashable, Sendable {
        /// Such as `argon2id m=65536,t=3,p=1, salt of 16, hash of 32`.
        package let function: String
        /// In bytes.
        package let passwordSize: Int

        init(_ function: String, _ password: SecretBytes) {
            (self.function, passwordSize) = (function, password.count)
        }
    }

    /// Is told of each run of Argon2; set by tests, which count work where times would depend on the machine.
    @TaskLocal package static var noteWork: (@Sendable (Work) -> Void)?

    /// A hash that no password has, and that takes as long to be held against one as a hash of this cost does.
    package static func decoy(cost: Argon2Cost, keyID: String?) throws(PasswordHashError) -> HashedPassword {
        guard cost.isAcceptable else { throw .tooExpensive }
        // Made once: what it took to make one would show.
        let text = Decoy.made.withLock { made in
            let kind = Decoy(cost: cost, keyID: keyID)
            if let text = made[kind] { return text }
            if made.count >= Decoy.limit { made = [:] }
            made[kind] = kind.text
            return made[kind] ?? ""
        }
        return try HashedPassword(text)
    }
}

private struct Decoy: Hashable {
    static let made = Mutex<[Decoy: String]>([:])
    /// A program has one cost, and a few peppers at most.
    static let limit = 64

    let cost: Argon2Cost
    let keyID: String?

    var text: String {
        var parameters = [("m", "\(cost.memoryKiB)"), ("t", "\(cost.passes)"), ("p", "1")]
        if let keyID { parameters.append(("keyid", keyID)) }
        return PHCString(
            identifier: "argon2id", version: 0x13,
            parameters: parameters.map { PHCString.Parameter(name: $0.0, value: $0.1) },
            salt: UnpaddedBase64.encode([UInt8].random(count: 16)),
            hash: UnpaddedBase64.encode([UInt8].random(count: 32))
        ).text
    }
}
