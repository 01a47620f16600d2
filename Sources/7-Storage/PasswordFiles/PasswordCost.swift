import Bytes
import Crypto
import CryptoExtras
import KeychainModel
import ProcessVault

/// The derivation of a key from a password, with its cost.
package enum PasswordCost: Equatable, Sendable {
    /// RFC 9106, version 1.3 with one lane; salts have 16 bytes.
    case argon2id(memoryKiB: UInt32, passes: UInt32)
    /// RFC 7914: 2^`logN` blocks of 128 · `blockSize` bytes.
    case scrypt(logN: UInt32, blockSize: UInt32, parallelism: UInt32)
    /// RFC 8018 with HMAC-SHA256.
    case pbkdf2(iterations: UInt32)

    /// The largest memory in bytes that a file may demand.
    package static let memoryLimit: UInt64 = 1 << 30
    /// The largest product of memory in bytes and passes that a file may demand: about ten seconds on a current
    /// machine.
    package static let workLimit: UInt64 = 16 << 30
    /// About ten seconds, too.
    package static let iterationLimit: UInt32 = 50_000_000

    package var memory: UInt64 {
        switch self {
        case .argon2id(let memoryKiB, _): UInt64(memoryKiB) << 10
        case .scrypt(let logN, let blockSize, _): logN < 32 ? UInt64(128 * UInt64(blockSize)) << UInt64(logN) : .max
        case .pbkdf2: 0
        }
    }

    /// Whether a file may have this cost.
    package var isAcceptable: Bool {
        switch self {
        case .argon2id(let memoryKiB, let passes):
            // RFC 9106, section 3.1: at least 8 KiB for each lane.
            memoryKiB >= 8 && (1...64).contains(passes) && memory <= Self.memoryLimit
                && memory * UInt64(passes) <= Self.workLimit
        case .scrypt(let logN, let blockSize, let parallelism):
            // RFC 7914, section 2: N is less than 2^(128 · r / 8). Values of r and p above 16 are not in use.
            (1...16).contains(blockSize) && (1...16).contains(parallelism) && logN >= 1 && logN < 16 * blockSize
                && memory <= Self.memoryLimit && memory * UInt64(parallelism) <= Self.workLimit
        case .pbkdf2(let iterations): (1...Self.iterationLimit).contains(iterations)
        }
    }

    /// Derives a key from a password.
    ///
    /// - Parameters:
    ///   - password: At least one byte.
    ///   - salt: At least one byte; 16 bytes for Argon2id.
    ///   - count: The number of bytes for scrypt and PBKDF2. Argon2id always returns 32.
    package func stretch(_ password: SecretBytes, salt: [UInt8], count: Int = 32) throws(VaultMemoryError)
        -> SecretBytes
    {
        guard isAcceptable, !password.isEmpty, !salt.isEmpty else { throw VaultMemoryError() }
        if case .argon2id(let memoryKiB, let passes) = self {
            return try Self.argon2id().stretch(password, salt: salt, memoryKiB: memoryKiB, passes: passes)
        }
        do {
            return try password.withUnsafeBytes { bytes in
                let key =
                    switch self {
                    case .scrypt(let logN, let blockSize, let parallelism):
                        try KDF.Scrypt.deriveKey(
                            from: bytes, salt: salt, outputByteCount: count, rounds: 1 << Int(logN),
                            blockSize: Int(blockSize), parallelism: Int(parallelism))
                    case .pbkdf2(let iterations):
                        try KDF.Insecure.PBKDF2.deriveKey(
                            from: bytes, salt: salt, using: .sha256, outputByteCount: count,
                            unsafeUncheckedRounds: Int(iterations))
                    case .argon2id: throw VaultMemoryError()
                    }
                return try key.withUnsafeBytes { try SecretBytes(copying: $0) }
            }
        } catch {
            throw VaultMemoryError()
        }
    }

    /// Returns the Argon2id cost that a vault's passcode would have on this machine, but at least three passes over 256
    /// MiB.
    package static func suitable() throws(VaultMemoryError) -> PasswordCost {
        let (memoryKiB, passes) = try argon2id().suitableCost()
        return .argon2id(memoryKiB: memoryKiB, passes: passes)
    }

    private static func argon2id() throws(VaultMemoryError) -> any PasswordStretching.Type {
        // Every program with this module also links the type.
        guard let found = LinkedTypes.passwordStretching else { throw VaultMemoryError() }
        return found
    }
}

extension PasswordCost: CustomStringConvertible {
    package var description: String {
        switch self {
        case .argon2id(let memoryKiB, let passes): "Argon2id, \(passes) × \(Self.amount(UInt64(memoryKiB) << 10))"
        case .scrypt(let logN, let blockSize, let parallelism):
            "scrypt, N 2^\(logN), r \(blockSize), p \(parallelism)"
        case .pbkdf2(let iterations): "PBKDF2-HMAC-SHA256, \(iterations) iterations"
        }
    }

    private static func amount(_ bytes: UInt64) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }
}
