import Certificates
import Foundation

// The functions that keys had before algorithms had names. They are the newer ones in another dress.

/// How the older functions pad.
public struct SecPadding: OptionSet, Sendable {
    /// Apple's number (SecKey.h).
    public let rawValue: UInt32

    /// A padding by its number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PKCS#1 v1.5; for signatures without a DigestInfo.
    public static let PKCS1 = SecPadding(rawValue: 1)
    /// OAEP with SHA-1. Encryption only.
    public static let OAEP = SecPadding(rawValue: 2)
    /// Elliptic-curve signatures as r and s one after the other instead of DER.
    public static let sigRaw = SecPadding(rawValue: 0x4000)
    /// Refused: MD2 is broken.
    public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
    /// Refused: MD5 is broken.
    public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
    /// PKCS#1 v1.5 signatures of a SHA-1 digest.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
    /// PKCS#1 v1.5 signatures of a SHA-224 digest.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
    /// PKCS#1 v1.5 signatures of a SHA-256 digest.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
    /// PKCS#1 v1.5 signatures of a SHA-384 digest.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
    /// PKCS#1 v1.5 signatures of a SHA-512 digest.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
}

/// Signs a digest.
///
/// - Parameters:
///   - key: A private key.
///   - padding: How to pad. Of elliptic-curve keys only ``SecPadding/sigRaw`` makes a difference.
///   - dataToSign: The digest.
///   - dataToSignLen: Its length in bytes.
///   - sig: Where the signature is stored.
///   - sigLen: The room there in bytes, and on return the length of the signature.
/// - Returns: ``errSecSuccess``; ``errSecParam`` if there is not enough room, or the padding is not one of the key's
///   or the digest does not fit it.
@discardableResult
public func SecKeyRawSign(
    _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>, _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.signatureAlgorithm(of: key) else { return errSecParam }
    let digest = NSData(bytes: dataToSign, length: dataToSignLen)
    return result(in: sig, sigLen) { SecKeyCreateSignature(key, algorithm, digest, $0) }
}

/// Checks a signature of a digest.
///
/// - Parameters:
///   - key: A public key.
///   - padding: As for ``SecKeyRawSign(_:_:_:_:_:_:)``.
///   - signedData: The digest.
///   - signedDataLen: Its length in bytes.
///   - sig: The signature.
///   - sigLen: Its length in bytes.
/// - Returns: ``errSecSuccess``; ``errSSLCrypto`` if the signature is not the key's for this digest;
///   ``errSecParam`` if the padding is not one of the key's or the digest does not fit it.
@discardableResult
public func SecKeyRawVerify(
    _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>, _ sigLen: Int
) -> OSStatus {
    guard let algorithm = padding.signatureAlgorithm(of: key) else { return errSecParam }
    let digest = NSData(bytes: signedData, length: signedDataLen)
    var error: Unmanaged<CFError>?
    if SecKeyVerifySignature(key, algorithm, digest, NSData(bytes: sig, length: sigLen), &error) {
        return errSecSuccess
    }
    let status = status(of: error)
    return status == errSecVerifyFailed ? errSSLCrypto : status
}

/// Encrypts with an RSA public key.
///
/// - Parameters:
///   - key: An RSA public key.
///   - padding: `[]` for none, ``SecPadding/PKCS1`` or ``SecPadding/OAEP``.
///   - plainText: The data.
///   - plainTextLen: Its length in bytes.
///   - cipherText: Where the cryptogram is stored.
///   - cipherTextLen: The room there in bytes, and on return the length of the cryptogram.
/// - Returns: ``errSecSuccess``; ``errSecParam`` if there is not enough room, the padding is not one of the key's or
///   the data is too long.
@discardableResult
public func SecKeyEncrypt(
    _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>, _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.encryptionAlgorithm else { return errSecParam }
    let data = NSData(bytes: plainText, length: plainTextLen)
    return result(in: cipherText, cipherTextLen) { SecKeyCreateEncryptedData(key, algorithm, data, $0) }
}

/// Decrypts with an RSA private key.
///
/// - Parameters:
///   - key: An RSA private key.
///   - padding: `[]` for none, where leading zero bytes of the result are dropped, ``SecPadding/PKCS1`` or
///     ``SecPadding/OAEP``.
///   - cipherText: The cryptogram.
///   - cipherTextLen: Its length in bytes.
///   - plainText: Where the data is stored.
///   - plainTextLen: The room there in bytes, and on return the length of the data.
/// - Returns: ``errSecSuccess``; ``errSecParam`` if there is not enough room, the padding is not one of the key's or
///   the cryptogram was not made for it.
@discardableResult
public func SecKeyDecrypt(
    _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>, _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    guard let algorithm = padding.encryptionAlgorithm else { return errSecParam }
    let data = NSData(bytes: cipherText, length: cipherTextLen)
    return result(in: plainText, plainTextLen) { error in
        guard let plaintext = SecKeyCreateDecryptedData(key, algorithm, data, error) else { return nil }
        return padding.isEmpty ? plaintext.contents.drop { $0 == 0 } as NSData : plaintext
    }
}

extension SecPadding {
    fileprivate func signatureAlgorithm(of key: SecKey) -> SecKeyAlgorithm? {
        guard key.keyData.type == .rsa else {
            return self == .sigRaw ? .ecdsaSignatureDigestRFC4754 : .ecdsaSignatureDigestX962
        }
        return switch self {
        case []: .rsaSignatureRaw
        case .PKCS1: .rsaSignatureDigestPKCS1v15Raw
        case .PKCS1SHA1: .rsaSignatureDigestPKCS1v15SHA1
        case .PKCS1SHA224: .rsaSignatureDigestPKCS1v15SHA224
        case .PKCS1SHA256: .rsaSignatureDigestPKCS1v15SHA256
        case .PKCS1SHA384: .rsaSignatureDigestPKCS1v15SHA384
        case .PKCS1SHA512: .rsaSignatureDigestPKCS1v15SHA512
        default: nil
        }
    }

    fileprivate var encryptionAlgorithm: SecKeyAlgorithm? {
        switch self {
        case []: .rsaEncryptionRaw
        case .PKCS1: .rsaEncryptionPKCS1
        case .OAEP: .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}

/// Copies what an operation returns to where the caller wants it.
private func result(
    in bytes: UnsafeMutablePointer<UInt8>, _ count: UnsafeMutablePointer<Int>,
    _ operation: (UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData?
) -> OSStatus {
    var error: Unmanaged<CFError>?
    guard let data = operation(&error) else { return status(of: error) }
    guard data.count <= count.pointee else { return errSecParam }
    data.getBytes(bytes, length: data.count)
    count.pointee = data.count
    return errSecSuccess
}

private func status(of error: Unmanaged<CFError>?) -> OSStatus {
    error.map { OSStatus(truncatingIfNeeded: CFErrorGetCode($0.takeRetainedValue())) } ?? errSecInternal
}
