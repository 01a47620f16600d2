import Bytes
import Crypto
import CryptoExtras
import FoundationEssentials
import PasswordFiles

/// How Bitwarden encrypts an export under a password: a key from PBKDF2 or Argon2id, from which HKDF (RFC 5869, its
/// second half alone) makes one for AES-256-CBC and one for HMAC-SHA256. A sealed text is `2.`, and in Base64 the
/// initialisation vector, the ciphertext and the code, with `|` between them.
struct BitwardenCipher {
    private enum Derivation {
        case pbkdf2(iterations: UInt32)
        case argon2id(memoryKiB: UInt32, passes: UInt32, lanes: UInt32)
    }

    private let derivation: Derivation
    /// As the file has it: the text itself, in UTF-8, is the salt.
    private let salt: [UInt8]

    init(_ json: JSONValue) throws(ExchangeError) {
        guard let salt = json["salt"]?.text, salt.utf8.count <= 1_024 else {
            throw .malformed(.bitwarden, "it has no salt")
        }
        self.salt = Array(salt.utf8)
        func number(_ name: String) throws(ExchangeError) -> UInt32 {
            guard let number = json[name]?.number.flatMap(UInt32.init(exactly:)), number > 0 else {
                throw .malformed(.bitwarden, "it has no '\(name)'")
            }
            return number
        }
        switch json["kdfType"]?.number {
        case 0: derivation = .pbkdf2(iterations: try number("kdfIterations"))
        case 1:
            let mebibytes = try number("kdfMemory")
            guard mebibytes <= 1_024 else { throw .tooExpensive }
            derivation = .argon2id(
                memoryKiB: mebibytes << 10, passes: try number("kdfIterations"), lanes: try number("kdfParallelism"))
        default: throw .malformed(.bitwarden, "its key derivation is not known")
        }
    }

    init(salt: String, iterations: UInt32) {
        (self.salt, derivation) = (Array(salt.utf8), .pbkdf2(iterations: iterations))
    }

    /// The keys for encryption and for the code.
    private struct Keys {
        let encryption: SymmetricKey
        let code: SymmetricKey
    }

    private func keys(_ password: SecretBytes) throws -> Keys {
        let stretched: SecretBytes
        switch derivation {
        case .pbkdf2(let iterations):
            let cost = PasswordCost.pbkdf2(iterations: iterations)
            guard cost.isAcceptable else { throw ExchangeError.tooExpensive }
            stretched = try cost.stretch(password, salt: salt)
        case .argon2id(let memoryKiB, let passes, let lanes):
            // Argon2 wants a salt of a certain length.
            let salt = Array(SHA256.hash(data: salt))
            stretched = try Argon2Lanes(.id, memoryKiB: memoryKiB, passes: passes, lanes: lanes)
                .stretch(password, salt: salt)
        }
        return stretched.withUnsafeBytes { bytes in
            let key = SymmetricKey(data: bytes)
            return Keys(
                encryption: HKDF<SHA256>.expand(pseudoRandomKey: key, info: Data("enc".utf8), outputByteCount: 32),
                code: HKDF<SHA256>.expand(pseudoRandomKey: key, info: Data("mac".utf8), outputByteCount: 32))
        }
    }

    // MARK: Reading

    /// Returns the plain export in an encrypted one.
    func open(_ json: JSONValue, under password: SecretBytes) throws -> JSONValue {
        guard let proof = json["encKeyValidation_DO_NOT_EDIT"]?.text, let sealed = json["data"]?.text else {
            throw ExchangeError.malformed(.bitwarden, "it has no data")
        }
        let keys = try keys(password)
        guard try Self.open(proof, keys) != nil else { throw ExchangeError.wrongPassword }
        guard let plain = try Self.open(sealed, keys) else {
            throw ExchangeError.malformed(.bitwarden, "its data was changed")
        }
        guard let contents = JSONValue(parsing: plain) else {
            throw ExchangeError.malformed(.bitwarden, "what is encrypted in it is no JSON")
        }
        return contents
    }

    /// - Returns: Nil if the code does not fit.
    private static func open(_ text: String, _ keys: Keys) throws -> Data? {
        let parts = text.dropFirst(2).split(separator: "|", omittingEmptySubsequences: false).map {
            Data(base64Encoded: String($0))
        }
        guard text.hasPrefix("2."), parts.count == 3, let vector = parts[0], let ciphertext = parts[1],
            let code = parts[2],
            vector.count == 16
        else { throw ExchangeError.malformed(.bitwarden, "its data has an unknown form") }
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: vector + ciphertext, using: keys.code) else {
            return nil
        }
        do {
            return try AES._CBC.decrypt(ciphertext, using: keys.encryption, iv: AES._CBC.IV(ivBytes: vector))
        } catch {
            throw ExchangeError.malformed(.bitwarden, "its data was not encrypted as it should be")
        }
    }

    // MARK: Writing

    /// What Bitwarden uses by default for new accounts.
    static let usualIterations: UInt32 = 600_000

    /// Returns an encrypted export of a plain one.
    static func seal(_ plain: JSONValue, under password: SecretBytes) throws -> JSONValue {
        let salt = Data([UInt8].random(count: 16)).base64EncodedString()
        let keys = try BitwardenCipher(salt: salt, iterations: usualIterations).keys(password)
        return .object([
            "encrypted": .bool(true), "passwordProtected": .bool(true), "salt": .string(salt), "kdfType": .integer(0),
            "kdfIterations": .integer(Int64(usualIterations)),
            "encKeyValidation_DO_NOT_EDIT": .string(try seal(Data(UUID().uuidString.utf8), keys)),
            "data": .string(try seal(plain.encoded(), keys)),
        ])
    }

    private static func seal(_ plain: Data, _ keys: Keys) throws -> String {
        let vector = Data([UInt8].random(count: 16))
        let ciphertext = try AES._CBC.encrypt(plain, using: keys.encryption, iv: AES._CBC.IV(ivBytes: vector))
        let code = Data(HMAC<SHA256>.authenticationCode(for: vector + ciphertext, using: keys.code))
        return "2." + [vector, ciphertext, code].map { $0.base64EncodedString() }.joined(separator: "|")
    }
}
