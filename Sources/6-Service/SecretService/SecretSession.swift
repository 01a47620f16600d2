import Bytes
import CAEAD
import Crypto
import FoundationEssentials

/// How secrets go between a program and the service: as they are, or encrypted with a key that both agreed on.
///
/// The algorithm `dh-ietf1024-sha256-aes128-cbc-pkcs7` (Secret Service 0.2, "Transfer of Secrets") keeps secrets from
/// those who only listen. It authenticates nobody, and a group of 1024 bits is too small for more than that.
enum SecretSession {
    case plain
    case encrypted(SymmetricKey)

    static let plainName = "plain"
    static let encryptedName = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// Agrees on a key.
    ///
    /// - Parameters:
    ///   - publicKey: The program's, big-endian.
    ///   - own: The service's own private key, big-endian; a new one unless a test knows the answer.
    /// - Returns: The session, and the service's own public key.
    static func agree(
        with publicKey: Data, own: Data = .randomAndWiped(count: prime.count)
    ) throws(SecretServiceError) -> (SecretSession, Data) {
        guard publicKey.count <= prime.count else { throw .invalid("the public key is longer than 128 bytes") }
        let other = [UInt8](repeating: 0, count: prime.count - publicKey.count) + publicKey
        // 0, 1 and p - 1 would leave no secret.
        let one = [UInt8](repeating: 0, count: prime.count - 1) + [1]
        let last = prime.dropLast() + [prime[prime.count - 1] - 1]
        guard one.lexicographicallyPrecedes(other), other.lexicographicallyPrecedes(last) else {
            throw .invalid("the public key is not between 2 and p - 2")
        }
        let two = one.dropLast() + [2]
        guard let shared = power(other, own), let ownPublic = power(Array(two), own) else {
            throw .notSupported("this program has no code for \(encryptedName): use \(plainName)")
        }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: shared), info: Data(), outputByteCount: 16)
        return (.encrypted(key), ownPublic)
    }

    private static func power(_ base: [UInt8], _ exponent: Data) -> Data? {
        let result = Data.wipedWhenFreed(Data(count: prime.count))
        var power = result
        let isDone = power.withUnsafeMutableBytes { power in
            exponent.withUnsafeBytes { exponent in
                guard let place = power.baseAddress, exponent.count == prime.count,
                    let exponent = exponent.baseAddress
                else { return false }
                return modular_power(base, exponent, prime, prime.count, place)
            }
        }
        return isDone ? power : nil
    }

    /// Returns the parameters and the bytes for the program.
    func close(_ secret: Data) throws(SecretServiceError) -> (parameters: Data, bytes: Data) {
        guard case .encrypted(let key) = self else { return (Data(), secret) }
        let vector = Data([UInt8].random(count: Self.block))
        // PKCS #7's padding (RFC 5652, 6.3): as many bytes as there are, each with their number.
        let padding = Self.block - secret.count % Self.block
        let closed = try Data.wipedWhenFreed(
            upTo: secret.count + padding, orOutOfMemory: Self.noMemory
        ) { room throws(SecretServiceError) in
            room.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: padding))
            secret.withUnsafeBytes { room.copyMemory(from: $0) }
            try Self.transform(room, key, vector, encrypts: true)
            return room.count
        }
        return (vector, closed)
    }

    /// Reads a secret that the program sent.
    func open(_ parameters: Data, _ bytes: Data) throws(SecretServiceError) -> Data {
        guard case .encrypted(let key) = self else { return bytes }
        let wrong = SecretServiceError.invalid("the secret is not encrypted with the session's key")
        guard parameters.count == Self.block, !bytes.isEmpty, bytes.count % Self.block == 0 else { throw wrong }
        return try Data.wipedWhenFreed(
            upTo: bytes.count, orOutOfMemory: Self.noMemory
        ) { room throws(SecretServiceError) in
            bytes.withUnsafeBytes { room.copyMemory(from: $0) }
            try Self.transform(room, key, parameters, encrypts: false)
            let padding = Int(room[room.count - 1])
            guard (1...Self.block).contains(padding), room.suffix(padding).allSatisfy({ $0 == room[room.count - 1] })
            else { throw wrong }
            return room.count - padding
        }
    }

    /// The size of AES's blocks, in bytes.
    private static let block = 16
    private static var noMemory: SecretServiceError { .limit("there is no memory for the secret") }

    /// Encrypts or decrypts where the bytes are, so that no copy of the secret has to be wiped.
    private static func transform(
        _ room: UnsafeMutableRawBufferPointer, _ key: SymmetricKey, _ vector: Data, encrypts: Bool
    ) throws(SecretServiceError) {
        let isDone = key.withUnsafeBytes { key in
            vector.withUnsafeBytes { vector in
                guard let key = key.baseAddress, let vector = vector.baseAddress, let place = room.baseAddress else {
                    return false
                }
                return cbc_transform(key, vector, place, room.count, encrypts)
            }
        }
        guard isDone else { throw .notSupported("this program has no code for \(encryptedName): use \(plainName)") }
    }

    /// The second group of RFC 2409, 6.2. Its generator is 2.
    private static let prime: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC9, 0x0F, 0xDA, 0xA2, 0x21, 0x68, 0xC2, 0x34,
        0xC4, 0xC6, 0x62, 0x8B, 0x80, 0xDC, 0x1C, 0xD1, 0x29, 0x02, 0x4E, 0x08, 0x8A, 0x67, 0xCC, 0x74,
        0x02, 0x0B, 0xBE, 0xA6, 0x3B, 0x13, 0x9B, 0x22, 0x51, 0x4A, 0x08, 0x79, 0x8E, 0x34, 0x04, 0xDD,
        0xEF, 0x95, 0x19, 0xB3, 0xCD, 0x3A, 0x43, 0x1B, 0x30, 0x2B, 0x0A, 0x6D, 0xF2, 0x5F, 0x14, 0x37,
        0x4F, 0xE1, 0x35, 0x6D, 0x6D, 0x51, 0xC2, 0x45, 0xE4, 0x85, 0xB5, 0x76, 0x62, 0x5E, 0x7E, 0xC6,
        0xF4, 0x4C, 0x42, 0xE9, 0xA6, 0x37, 0xED, 0x6B, 0x0B, 0xFF, 0x5C, 0xB6, 0xF4, 0x06, 0xB7, 0xED,
        0xEE, 0x38, 0x6B, 0xFB, 0x5A, 0x89, 0x9F, 0xA5, 0xAE, 0x9F, 0x24, 0x11, 0x7C, 0x4B, 0x1F, 0xE6,
        0x49, 0x28, 0x66, 0x51, 0xEC, 0xE6, 0x53, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    ]
}
