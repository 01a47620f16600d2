import Foundation
import VaultKeys

/// Encrypts data for the holder of a private key.
///
/// - Parameters:
///   - key: A public key.
///   - algorithm: How to encrypt.
///   - plaintext: The data. RSA without AES-GCM takes a limited number of bytes: less than the modulus without
///     padding, 11 less than the modulus has with PKCS#1, and with OAEP 2 and twice the length of a digest less.
///   - error: Where an error is stored: ``errSecParam`` if the key does not encrypt with this algorithm or the data
///     is too long.
/// - Returns: The cryptogram, or `nil` with an error.
@discardableResult
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    keyResult(error, text: KeyFailureText(key: key, algorithm: algorithm, operation: .encrypt).text) {
        try key.key.encrypt(plaintext.contents, by: algorithm.name) as NSData
    }
}

/// Decrypts what was encrypted for a key.
///
/// An attacker who can see whether ``SecKeyAlgorithm/rsaEncryptionPKCS1`` fails for cryptograms of the attacker's
/// making can decrypt others by asking often enough (Bleichenbacher's attack). OpenSSL from 3.2 on returns random data
/// instead of failing; before, it fails. Prefer another algorithm.
///
/// - Parameters:
///   - key: A private key.
///   - algorithm: How the data was encrypted.
///   - ciphertext: The cryptogram.
///   - error: Where an error is stored: ``errSecParam`` if the key does not decrypt with this algorithm, or the
///     cryptogram was not made for it or was changed; for a key that is kept in an enclave also what keeps it from
///     being used.
/// - Returns: The data, or `nil` with an error.
@discardableResult
public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    keyResult(error, text: KeyFailureText(key: key, algorithm: algorithm, operation: .decrypt).text) {
        try key.key.decrypt(ciphertext.contents, by: algorithm.name) as NSData
    }
}
