import Bytes
import CLibrary
import CSodium
import FoundationEssentials
import KeychainModel

/// Argon2 (RFC 9106) in PHC string form, computed by libsodium.
struct Argon2Hash: Equatable, Sendable {
    /// The memory of RFC 9106's first recommendation (section 4). A changed hash must not be able to demand all memory
    /// of the machine.
    static let memoryLimitKiB: UInt32 = 2 << 20
    static let passesLimit: UInt32 = 64
    /// Memory times passes, in KiB: half a minute on a current machine.
    static let workLimit: UInt64 = 16 << 20
    /// libsodium computes the lanes one after the other, so that more lanes cost nothing more.
    static let lanesLimit: UInt32 = 255

    var cost: Argon2Cost
    var isArgon2id: Bool
    /// The key that the password was mixed with before; PHC's `keyid`.
    var keyID: String?
    /// Whether salt and hash are at least as long as in new hashes.
    let isAsLongAsOurs: Bool
    private let plain: PHCString

    /// - Throws: ``PasswordHashError/tooExpensive``.
    init?(_ phc: PHCString) throws(PasswordHashError) {
        guard phc.identifier == "argon2id" || phc.identifier == "argon2i" else { return nil }
        guard phc.version == 0x13, let memory = phc.number("m"), let passes = phc.number("t"),
            let lanes = phc.number("p"),
            phc.parameters.allSatisfy({ ["m", "t", "p", "keyid"].contains($0.name) }),
            phc.parameters.prefix(3).map(\.name) == ["m", "t", "p"],
            let salt = UnpaddedBase64.standard.decode(phc.salt.utf8), salt.count >= 8,
            let hash = UnpaddedBase64.standard.decode(phc.hash.utf8), (16...64).contains(hash.count)
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

    /// The work of comparing a password with this hash, as text; see ``HashedPassword/Work``.
    var work: String {
        let parameters = plain.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let sizes = [plain.salt, plain.hash].map { UnpaddedBase64.standard.decode($0.utf8)?.count ?? 0 }
        return "\(plain.identifier) \(parameters), salt of \(sizes[0]), hash of \(sizes[1])"
    }

    /// Returns a new hash with a random salt of 16 bytes, as a string.
    static func make(
        _ password: SecretBytes, cost: Argon2Cost, keyID: String?
    ) throws(PasswordHashError) -> String {
        guard cost.isAcceptable else { throw .tooExpensive }
        try Libsodium.prepare()
        var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
        let status = withCharacters(of: password) {
            crypto_pwhash_str_alg(
                &text, $0, UInt64(clamping: password.count), UInt64(cost.passes), Int(cost.memoryKiB) << 10,
                crypto_pwhash_ALG_ARGON2ID13)
        }
        guard status == 0 else { throw .memoryUnavailable }
        let plain = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let keyID else { return plain }
        guard var phc = PHCString(plain) else { throw .unknownFormat }
        phc.parameters.append(PHCString.Parameter(name: "keyid", value: keyID))
        return phc.text
    }

    /// Returns whether the password matches. libsodium compares in constant time.
    func matches(_ password: SecretBytes) throws(PasswordHashError) -> Bool {
        try Libsodium.prepare()
        // libsodium 1.0.18 returns the same for missing memory as for a wrong password.
        guard Self.isMemoryThere(cost.memoryKiB) else { throw .memoryUnavailable }
        let status = Self.withCharacters(of: password) {
            crypto_pwhash_str_verify(plain.text, $0, UInt64(clamping: password.count))
        }
        return status == 0
    }

    private static func isMemoryThere(_ kibibytes: UInt32) -> Bool {
        // Includes some memory for libsodium itself.
        let count = (Int(kibibytes) << 10) + (1 << 20)
        guard let place = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            place != MAP_FAILED
        else { return false }
        munmap(place, count)
        return true
    }

    /// Passes a pointer even for an empty password, as libsodium requires.
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

extension Argon2Cost {
    /// Whether libsodium accepts this cost and a stored hash may have it.
    package var isAcceptable: Bool {
        (8...Argon2Hash.memoryLimitKiB).contains(memoryKiB) && (1...Argon2Hash.passesLimit).contains(passes)
            && work <= Argon2Hash.workLimit
    }

    /// The KiB that all passes together process.
    package var work: UInt64 { UInt64(memoryKiB) * UInt64(passes) }
}
