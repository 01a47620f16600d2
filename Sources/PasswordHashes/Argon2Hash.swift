import CSodium
import Foundation
import KeychainModel

/// Argon2 (RFC 9106) in PHC string form, by libsodium.
struct Argon2Hash: Equatable, Sendable {
    /// More is not seen anywhere, and a changed hash must not be able to ask for the whole machine.
    static let memoryLimitKiB: UInt32 = 1 << 20
    static let passesLimit: UInt32 = 64
    static let lanesLimit: UInt32 = 16

    var cost: Argon2Cost
    var isArgon2id: Bool
    var lanes: UInt32
    /// Which key the password was mixed with before; PHC's `keyid`.
    var keyID: String?
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
        isArgon2id = phc.identifier == "argon2id"
        self.lanes = lanes
        keyID = phc["keyid"]
        var plain = phc
        plain.parameters.removeAll { $0.name == "keyid" }
        self.plain = plain
    }

    /// A new hash with a random salt of 16 bytes, as a string.
    static func make(
        _ password: SecretBytes, cost: Argon2Cost, keyID: String?
    ) throws(PasswordHashError) -> String {
        guard cost.isAcceptable else { throw .tooExpensive }
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
        errno = 0
        let status = Self.withCharacters(of: password) {
            crypto_pwhash_str_verify(plain.text, $0, UInt64(password.count))
        }
        if status == 0 { return true }
        // What libsodium says of another password (crypto_pwhash(3)). All that is left, for a string that was looked at, is that there was
        // no memory.
        guard errno == EINVAL else { throw .memoryUnavailable }
        return false
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
    }
}
