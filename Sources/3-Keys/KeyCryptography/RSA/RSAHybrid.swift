import Certificates
import Crypto
import FoundationEssentials
import KeychainModel

/// Encryption of data of any length for the holder of an RSA key, byte for byte as Apple's `SecKey` does it.
///
/// The cryptogram is wrapped key ‖ ciphertext ‖ tag. The session key, 128 bits for a modulus below 4096 bits and
/// 256 from there on, is wrapped with OAEP. AES-GCM has a nonce of 16 zero bytes, which does no harm because a
/// key encrypts one message only, and authenticates the recipient's public key in PKCS#1.
struct RSAHybrid {
    private static let nonce = Data(count: 16)
    private static let tagByteCount = 16

    let digest: DigestAlgorithm
    let recipient: KeyData

    private var keyByteCount: Int { recipient.sizeInBits < 4096 ? 16 : 32 }

    func encrypt(_ plaintext: Data, with key: RSAPublicKey) throws(KeyError) -> Data {
        let sessionKey = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * keyByteCount))
        let bytes = Data.wipedWhenFreed(sessionKey.withUnsafeBytes { Data($0) })
        let wrapped = try key.encrypt(bytes, by: .rsaOAEP(digest))
        return try wrapped
            + AESGCM.seal(
                plaintext, under: sessionKey, nonce: Self.nonce, authenticating: recipient.publicRepresentation)
    }

    func decrypt(_ cryptogram: Data, with key: RSAPrivateKey) throws(KeyError) -> Data {
        let size = recipient.blockSize
        guard cryptogram.count >= size + Self.tagByteCount else { throw .undecipherable }
        let bytes = try key.decrypt(Data(cryptogram.prefix(size)), by: .rsaOAEP(digest))
        guard bytes.count == keyByteCount else { throw .undecipherable }
        return try AESGCM.open(
            cryptogram.dropFirst(size), under: SymmetricKey(data: bytes), nonce: Self.nonce,
            authenticating: recipient.publicRepresentation)
    }
}
