import Crypto
import CryptoExtras
import Foundation
import KeychainModel

/// scrypt (RFC 7914) and PBKDF2 (RFC 8018) in the forms in which older code wrote them.
struct DerivedKeyHash: Equatable, Sendable {
    enum Function: Equatable, Sendable {
        case scrypt(logN: UInt32, blockSize: UInt32, parallelism: UInt32)
        case pbkdf2(Digest, iterations: UInt32)
    }

    enum Digest: String, Sendable {
        case sha1, sha256, sha512

        var function: KDF.Insecure.PBKDF2.HashFunction {
            switch self {
            case .sha1: .insecureSHA1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }
    }

    /// Memory, in bytes, that a stored hash may ask for, and how much of it in all.
    static let memoryLimit: UInt64 = 1 << 30
    static let workLimit: UInt64 = 16 << 30
    static let iterationLimit: UInt32 = 50_000_000

    let function: Function
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// - Throws: ``PasswordHashError/tooExpensive``.
    init?(_ text: String) throws(PasswordHashError) {
        guard let found = Self.parsed(text) ?? Self.django(text) else { return nil }
        (function, salt, hash) = found
        guard !salt.isEmpty, salt.count <= 256, (16...128).contains(hash.count) else { return nil }
        switch function {
        case .scrypt(let logN, let blockSize, let parallelism):
            // RFC 7914, section 2: N is less than 2^(128 · r / 8).
            guard blockSize >= 1, parallelism >= 1, logN >= 1, logN < 63, UInt64(logN) < 16 * UInt64(blockSize) else {
                return nil
            }
            let (memory, isTooMuch) = (128 * UInt64(blockSize)).multipliedReportingOverflow(by: 1 << UInt64(logN))
            guard !isTooMuch, memory <= Self.memoryLimit, parallelism <= 16,
                memory * UInt64(parallelism) <= Self.workLimit
            else { throw .tooExpensive }
        case .pbkdf2(_, let iterations):
            guard iterations >= 1 else { return nil }
            guard iterations <= Self.iterationLimit else { throw .tooExpensive }
        }
    }

    private typealias Parts = (Function, [UInt8], [UInt8])

    /// `$scrypt$ln=16,r=8,p=1$…`, `$pbkdf2-sha256$i=29000$…` and passlib's `$pbkdf2-sha256$29000$…`.
    private static func parsed(_ text: String) -> Parts? {
        if let phc = PHCString(text) {
            if phc.identifier == "scrypt", phc.version == nil, phc.parameters.count == 3, let logN = phc.number("ln"),
                let blockSize = phc.number("r"), let parallelism = phc.number("p"),
                let salt = UnpaddedBase64.decode(phc.salt), let hash = UnpaddedBase64.decode(phc.hash)
            {
                return (.scrypt(logN: logN, blockSize: blockSize, parallelism: parallelism), salt, hash)
            }
            if let digest = digest(phc.identifier), let iterations = phc.number("i"),
                phc.number("l").map({ Int($0) }) ?? -1
                    == (phc["l"] == nil ? -1 : UnpaddedBase64.decode(phc.hash)?.count),
                let salt = UnpaddedBase64.decode(phc.salt), let hash = UnpaddedBase64.decode(phc.hash)
            {
                return (.pbkdf2(digest, iterations: iterations), salt, hash)
            }
            return nil
        }
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard text.utf8.count <= PHCString.maximalLength, fields.count == 5, fields[0].isEmpty,
            let digest = digest(String(fields[1])), let iterations = number(fields[2]),
            let salt = UnpaddedBase64.decode(String(fields[3]), dot: true),
            let hash = UnpaddedBase64.decode(String(fields[4]), dot: true)
        else { return nil }
        return (.pbkdf2(digest, iterations: iterations), salt, hash)
    }

    private static func digest(_ identifier: String) -> Digest? {
        switch identifier {
        case "pbkdf2", "pbkdf2-sha1": .sha1
        case "pbkdf2-sha256": .sha256
        case "pbkdf2-sha512": .sha512
        default: nil
        }
    }

    /// Django's `pbkdf2_sha256$720000$salt$hash`, whose salt is text and whose hash is padded.
    private static func django(_ text: String) -> Parts? {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard text.utf8.count <= PHCString.maximalLength, fields.count == 4, fields[0] == "pbkdf2_sha256",
            let iterations = number(fields[1]), let hash = Data(base64Encoded: String(fields[3]))
        else { return nil }
        return (.pbkdf2(.sha256, iterations: iterations), Array(fields[2].utf8), Array(hash))
    }

    private static func number(_ digits: Substring) -> UInt32? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(digits)
    }

    func matches(_ password: SecretBytes) throws(PasswordHashError) -> Bool {
        do {
            let key = try password.withUnsafeBytes { bytes in
                switch function {
                case .scrypt(let logN, let blockSize, let parallelism):
                    try KDF.Scrypt.deriveKey(
                        from: bytes, salt: salt, outputByteCount: hash.count, rounds: 1 << Int(logN),
                        blockSize: Int(blockSize), parallelism: Int(parallelism))
                case .pbkdf2(let digest, let iterations):
                    try KDF.Insecure.PBKDF2.deriveKey(
                        from: bytes, salt: salt, using: digest.function, outputByteCount: hash.count,
                        unsafeUncheckedRounds: Int(iterations))
                }
            }
            return key.withUnsafeBytes { key in
                key.count == hash.count && zip(key, hash).reduce(0 as UInt8) { $0 | $1.0 ^ $1.1 } == 0
            }
        } catch {
            throw .memoryUnavailable
        }
    }
}
