import Bytes
import CSodium
import Crypto
import CryptoExtras
import FoundationEssentials

/// scrypt (RFC 7914) and PBKDF2 (RFC 8018) in the string forms that older programs wrote.
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

    /// The largest memory in bytes that a stored hash may need. ``workLimit`` is the most that it may fill in all.
    static let memoryLimit: UInt64 = 1 << 30
    static let workLimit: UInt64 = 16 << 30
    static let iterationLimit: UInt64 = 50_000_000

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
            guard blockSize >= 1, parallelism >= 1, logN >= 1, UInt64(logN) < 16 * UInt64(blockSize) else { return nil }
            guard logN < 32, blockSize <= 1 << 10, parallelism <= 64 else { throw .tooExpensive }
            // The memory at one time, and all the memory that is filled.
            let block = 128 * UInt64(blockSize)
            let memory = block * (1 << UInt64(logN) + UInt64(parallelism) + 1)
            guard memory <= Self.memoryLimit, block << UInt64(logN) * UInt64(parallelism) <= Self.workLimit else {
                throw .tooExpensive
            }
        case .pbkdf2(_, let iterations):
            guard iterations >= 1 else { return nil }
            // Each 20 bytes of output run all iterations. SHA-1 has the shortest output, 20 bytes.
            let blocks = UInt64(clamping: hash.count + 19) / 20
            guard UInt64(iterations) * blocks <= Self.iterationLimit else { throw .tooExpensive }
        }
    }

    private typealias Parts = (Function, [UInt8], [UInt8])

    /// `$scrypt$ln=16,r=8,p=1$…`, `$pbkdf2-sha256$i=29000$…` and passlib's `$pbkdf2-sha256$29000$…`.
    private static func parsed(_ text: String) -> Parts? {
        if let phc = PHCString(text) {
            if phc.identifier == "scrypt", phc.version == nil, phc.parameters.count == 3, let logN = phc.number("ln"),
                let blockSize = phc.number("r"), let parallelism = phc.number("p"),
                let salt = UnpaddedBase64.standard.decode(phc.salt.utf8),
                let hash = UnpaddedBase64.standard.decode(phc.hash.utf8)
            {
                return (.scrypt(logN: logN, blockSize: blockSize, parallelism: parallelism), salt, hash)
            }
            if let digest = digest(phc.identifier), phc.version == nil,
                phc.parameters.allSatisfy({ $0.name == "i" || $0.name == "l" }), let iterations = phc.number("i"),
                phc.number("l").map({ Int($0) }) ?? -1
                    == (phc["l"] == nil ? -1 : UnpaddedBase64.standard.decode(phc.hash.utf8)?.count),
                let salt = UnpaddedBase64.standard.decode(phc.salt.utf8),
                let hash = UnpaddedBase64.standard.decode(phc.hash.utf8)
            {
                return (.pbkdf2(digest, iterations: iterations), salt, hash)
            }
            return nil
        }
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard text.utf8.count <= PHCString.maximalLength, fields.count == 5, fields[0].isEmpty,
            let digest = digest(String(fields[1])), let iterations = number(fields[2]),
            let salt = passlibBytes(fields[3]),
            let hash = passlibBytes(fields[4])
        else { return nil }
        return (.pbkdf2(digest, iterations: iterations), salt, hash)
    }

    /// In passlib's strings `.` stands for `+`.
    private static func passlibBytes(_ text: Substring) -> [UInt8]? {
        UnpaddedBase64.standard.decode(text.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "+") : $0 })
    }

    private static func digest(_ identifier: String) -> Digest? {
        switch identifier {
        case "pbkdf2", "pbkdf2-sha1": .sha1
        case "pbkdf2-sha256": .sha256
        case "pbkdf2-sha512": .sha512
        default: nil
        }
    }

    /// Parses Django's `pbkdf2_sha256$720000$salt$hash`. Its salt is text, and its hash has padding.
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
        let key: SecretBytes
        do {
            key = try SecretBytes(count: hash.count) { key in
                try password.withUnsafeBytes { try derive(from: $0, into: key) }
            }
        } catch {
            throw .memoryUnavailable
        }
        return key.withUnsafeBytes { key in
            hash.withUnsafeBytes { isEqualInConstantTime(key, $0) }
        }
    }

    private func derive(from password: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer) throws {
        switch function {
        case .scrypt(let logN, let blockSize, let parallelism):
            try Libsodium.prepare()
            // Uses libsodium, because swift-crypto refuses costs that libsodium accepts.
            let nothing: [UInt8] = [0]
            let status = nothing.withUnsafeBytes { nothing in
                let text = password.isEmpty ? nothing : password
                guard let text = text.bindMemory(to: UInt8.self).baseAddress,
                    let target = key.bindMemory(to: UInt8.self).baseAddress
                else { return Int32(-1) }
                return crypto_pwhash_scryptsalsa208sha256_ll(
                    text, password.count, salt, salt.count, 1 << UInt64(logN), blockSize, parallelism, target, key.count
                )
            }
            guard status == 0 else { throw PasswordHashError.memoryUnavailable }
        case .pbkdf2(let digest, let iterations):
            let derived = try KDF.Insecure.PBKDF2.deriveKey(
                from: password, salt: salt, using: digest.function, outputByteCount: key.count,
                unsafeUncheckedRounds: Int(iterations))
            derived.withUnsafeBytes { key.copyMemory(from: $0) }
        }
    }
}
