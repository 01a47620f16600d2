import CSodium
import FoundationEssentials
import Glibc
import KeychainModel

/// Argon2 (RFC 9106) in PHC string form, by libsodium.
struct Argon2Hash: Equatable, Sendable {
    /// What RFC 9106 (section 4) recommends first. A changed hash must not be able to ask for the whole machine.
    static let memoryLimitKiB: UInt32 = 2 << 20
    static let passesLimit: UInt32 = 64
    /// Memory times passes, in KiB: half a minute on a machine of today.
    static let workLimit: UInt64 = 16 << 20
    /// libsodium fills them one after the other, so that they cost nothing besides.
    static let lanesLimit: UInt32 = 255

    var cost: Argon2Cost
    var isArgon2id: Bool
    /// Which key the password was mixed with before; PHC's `keyid`.
    var keyID: String?
    /// Whether salt and hash have the lengths that new ones have.
    let isAsLongAsOurs: Bool
    private let plain: PHCString

    /// - Throws: ``PasswordHashError/tooExpensive``.
    init?(_ phc: PHCString) throws(PasswordHashError) {
        guard phc.identifier == "argon2id" || phc.identifier == "argon2i" else { return nil }
        guard phc.version == 0x13, let memory = phc.number("m"), let passes = phc.number("t"),
            let lanes = phc.number("p"),
            phc.parameters.allSatisfy({ ["m", "t", "p", "keyid"].contains($0.name) }),
            phc.parameters.prefix(3).map(\.name) == ["m", "t", "p"],
            let salt = UnpaddedBase64.decode(phc.salt), salt.count >= 8,
            let hash = UnpaddedBase64.decode(phc.hash), (16...64).contains(hash.count)
        else { return nil }
        cost = Argon2Cost(memoryKiB: memory, passes: passes)
        guard passes >= 1, lanes >= 1, UInt64(memory) >= 8 * UInt64(lanes) else { return nil }
        guard memory <= Self.memoryLimitKiB, passes <= Self.passesLimit, lanes <= Self.lanesLimit else {
            throw .tooExpensive
        }
        guard cost.work <= Self.workLimit else { throw .tooExpensive }
        isAsLongAsOurs = salt.count >= 16 && hash.count >= 32
        isArgon2id = phc.identifier == "argon2id"
        keyID = phc["keyid"]
        var plain = phc
        plain.parameters.removeAll { $0.name == "keyid" }
        self.plain = plain
    }

    /// What comparing a password with it takes, in words; see ``HashedPassword/Work``.
    var work: String {
        let parameters = plain.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let sizes = [plain.salt, plain.hash].map { UnpaddedBase64.decode($0)?.count ?? 0 }
        return "\(plain.identifier) \(parameters), salt of \(sizes[0]), hash of \(sizes[1])"
    }

    /// A new hash with a random salt of 16 bytes, as a string.
    static func make(
        _ password: SecretBytes, cost: Argon2Cost, keyID: String?
    ) throws(PasswordHashError) -> String {
        guard cost.isAcceptable else { throw .tooExpensive }
        try Libsodium.prepare()
        var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
        let status = withCharacters(of: password) {
            crypto_pwhash_str_alg(
                &text, $0, UInt64(password.count), UInt64(cost.passes), Int(cost.memoryKiB) << 10,
                crypto_pwhash_ALG_ARGON2ID13)
        }
        guard status == 0 else { throw .memoryUnavailable }
        let plain = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let keyID else { return plain }
        guard var phc = PHCString(plain) else { throw .unknownFormat }
        phc.parameters.append(PHCString.Parameter(name: "keyid", value: keyID))
        return phc.text
    }

    /// Compares in constant time, as libsodium does.
    func matches(_ password: SecretBytes) throws(PasswordHashError) -> Bool {
        try Libsodium.prepare()
        // libsodium 1.0.18 says the same of missing memory as of another password.
        guard Self.isMemoryThere(cost.memoryKiB) else { throw .memoryUnavailable }
        let status = Self.withCharacters(of: password) {
            crypto_pwhash_str_verify(plain.text, $0, UInt64(password.count))
        }
        return status == 0
    }

    private static func isMemoryThere(_ kibibytes: UInt32) -> Bool {
        // With some for libsodium's own.
        let count = (Int(kibibytes) << 10) + (1 << 20)
        guard let place = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            place != MAP_FAILED
        else { return false }
        munmap(place, count)
        return true
    }

    /// libsodium wants a pointer also to nothing.
    private static func withCharacters<Value>(of password: SecretBytes, _ body: (UnsafePointer<CChar>) -> Value)
        -> Value
    {
        password.withUnsafeBytes { bytes in
            var nothing: CChar = 0
            guard let base = bytes.baseAddress, !bytes.isEmpty else { return body(&nothing) }
            return body(base.assumingMemoryBound(to: CChar.self))
        }
    }
}

/// What one try at a password costs.
package struct Argon2Cost: Sendable, Hashable {
    /// Argon2's m.
    package var memoryKiB: UInt32
    /// Argon2's t.
    package var passes: UInt32

    package init(memoryKiB: UInt32, passes: UInt32) {
        (self.memoryKiB, self.passes) = (memoryKiB, passes)
    }

    /// What libsodium takes, below what a stored hash may ask for.
    package var isAcceptable: Bool {
        (8...Argon2Hash.memoryLimitKiB).contains(memoryKiB) && (1...Argon2Hash.passesLimit).contains(passes)
            && work <= Argon2Hash.workLimit
    }

    /// KiB that are gone over.
    package var work: UInt64 { UInt64(memoryKiB) * UInt64(passes) }
}
