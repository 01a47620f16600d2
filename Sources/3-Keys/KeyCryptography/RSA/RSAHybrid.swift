import Bytes
import Certificates
import Crypto
import FoundationEssentials

/// Encryption of data of any length for the holder of an RSA key, with exactly the bytes of Apple's `SecKey`.
///
/// The cryptogram is wrapped key ‖ ciphertext ‖ tag. OAEP wraps the session key, which has 128 bits for a modulus below
/// 4096 bits and 256 bits from there on. AES-GCM uses a nonce of 16 zero bytes, which is safe because each key encrypts
/// only one message. It authenticates the recipient's public key in PKCS#1.
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
