import Foundation
import VaultKeys

/// Whether a key does an operation with an algorithm.
///
/// RSA public keys say that they decrypt with ``SecKeyAlgorithm/rsaEncryptionRaw``, PKCS#1 and OAEP, and RSA private
/// keys that they verify signatures without PSS, as on Apple systems; both fail when they are asked to.
@discardableResult
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
    key.key.supports(algorithm.name, for: operation.operation)
}

/// Signs a message or a digest.
///
/// - Parameters:
///   - key: A private key.
///   - algorithm: How to sign, and whether `dataToSign` is a message or a digest.
///   - dataToSign: The message, or a digest of the length that the algorithm's hash function has.
///   - error: Where an error is stored: ``errSecParam`` if the key does not sign with this algorithm or the data
///     has not the right length; for a key that is kept in an enclave also what keeps it from being used.
/// - Returns: The signature, or `nil` with an error.
@discardableResult
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    keyResult(error, text: KeyFailureText(key: key, algorithm: algorithm, operation: .sign).text) {
        try key.key.sign(dataToSign.contents, by: algorithm.name) as NSData
    }
}

/// Checks a signature.
///
/// - Parameters:
///   - key: A public key.
///   - algorithm: How the signature was made, and whether `signedData` is a message or a digest.
///   - signedData: The message, or a digest of the length that the algorithm's hash function has.
///   - signature: The signature.
///   - error: Where an error is stored: ``errSecVerifyFailed`` if the signature is not the key's for this data or is
///     malformed; ``errSecParam`` if the key does not verify with this algorithm or the data has not the right length.
/// - Returns: Whether the signature is valid.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let isValid = keyResult(error, text: KeyFailureText(key: key, algorithm: algorithm, operation: .verify).text) {
        try key.key.isValid(signature.contents, of: signedData.contents, by: algorithm.name)
    }
    if isValid == false {
        store(
            errSecVerifyFailed, "The signature is not this key's for this data.",
            text: KeyFailureText.mismatch(of: key),
            in: error)
    }
    return isValid ?? false
}
