import Bytes
import KeychainModel
import Synchronization

/// A password hash with its parameters, as text.
package struct HashedPassword: Sendable {
    /// The longest accepted password in bytes. Nobody has a longer one, and an attacker could have long texts hashed
    /// for free.
    package static let maximalPasswordSize = 4096

    /// The hash functions.
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

    /// The key that the password was mixed with before hashing.
    package var keyID: String? {
        if case .argon2(let hash) = form { hash.keyID } else { nil }
    }

    /// Returns whether a try at this hash costs at least as much as a try at a new hash would.
    ///
    /// The hash must be Argon2id, with at least the memory and the memory times passes of `cost`, with salt and hash as
    /// long as in new hashes, and with the same key.
    package func isAtLeast(_ cost: Argon2Cost, keyID: String?) -> Bool {
        guard case .argon2(let hash) = form, hash.isArgon2id, hash.keyID == keyID else { return false }
        return hash.isAsLongAsOurs && hash.cost.memoryKiB >= cost.memoryKiB && hash.cost.work >= cost.work
    }

    /// Returns whether the hash was made of this password. Takes as long as making the hash, with either result.
    package func matches(_ password: SecretBytes) throws(PasswordHashError) -> Bool {
        guard password.count <= Self.maximalPasswordSize else { throw .passwordTooLong }
        switch form {
        case .argon2(let hash):
            Self.noteWork?.tell(Work(hash.work, password))
            return try hash.matches(password)
        case .bcrypt(let hash): return try hash.matches(password)
        case .derivedKey(let hash): return try hash.matches(password)
        }
    }

    /// Returns the text of a new hash.
    package static func make(
        _ password: SecretBytes, cost: Argon2Cost, keyID: String? = nil
    ) throws(PasswordHashError) -> String {
        guard password.count <= maximalPasswordSize else { throw .passwordTooLong }
        let text = try Argon2Hash.make(password, cost: cost, keyID: keyID)
        if let noteWork, let phc = PHCString(text), let made = try Argon2Hash(phc) {
            noteWork.tell(Work(made.work, password))
        }
        return text
    }

    /// One run of Argon2 with everything that its time depends on. Two tries with equal work take equally long.
    package struct Work: Hashable, Sendable {
        /// Such as `argon2id m=65536,t=3,p=1, salt of 16, hash of 32`.
        package let function: String
        /// In bytes.
        package let passwordSize: Int

        init(_ function: String, _ password: SecretBytes) { (self.function, passwordSize) = (function, password.count) }
    }

    /// Takes note of work. A function alone cannot be the value of a task: Swift 6.3 ends an optimized program that
    /// sets one.
    package struct WorkNote: Sendable {
        let tell: @Sendable (Work) -> Void

        package init(_ tell: @escaping @Sendable (Work) -> Void) { self.tell = tell }
    }

    /// Is told of each run of Argon2. Tests set it and count the work, because times would depend on the machine.
    @TaskLocal package static var noteWork: WorkNote?

    /// Returns a hash that no password matches. Comparing with it takes as long as comparing with a hash of this cost.
    package static func decoy(cost: Argon2Cost, keyID: String?) throws(PasswordHashError) -> HashedPassword {
        guard cost.isAcceptable else { throw .tooExpensive }
        // Made once: otherwise the time to make one would show that it is a decoy.
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
    /// A program has one cost and a few peppers.
    static let limit = 64

    let cost: Argon2Cost
    let keyID: String?

    var text: String {
        var parameters = [("m", "\(cost.memoryKiB)"), ("t", "\(cost.passes)"), ("p", "1")]
        if let keyID { parameters.append(("keyid", keyID)) }
        return PHCString(
            identifier: "argon2id", version: 0x13,
            parameters: parameters.map { PHCString.Parameter(name: $0.0, value: $0.1) },
            salt: UnpaddedBase64.standard.string([UInt8].random(count: 16)),
            hash: UnpaddedBase64.standard.string([UInt8].random(count: 32))
        ).text
    }
}
