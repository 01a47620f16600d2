import Bytes
import Certificates
import Foundation
import KeyCryptography
import KeychainModel

/// The type of keys.
@discardableResult
public func SecKeyGetTypeID() -> CFTypeID { coreFoundationTypeID(of: SecKey.self) }

/// A key from its external representation. Nothing is stored.
///
/// - Parameters:
///   - keyData: For elliptic curves ANSI X9.63, public `04 ‖ X ‖ Y` and private `04 ‖ X ‖ Y ‖ K`, where
///     the length decides on the curve; for RSA PKCS#1 DER, or for public keys SubjectPublicKeyInfo.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`, as strings or numbers; others are ignored.
///   - error: Where an error is stored: ``errSecParam`` for missing attributes, an unknown type or data
///     that is no such key, ``errSecUnimplemented`` for symmetric keys and keys of a token.
/// - Returns: The key, or `nil` with an error.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    if let token = attributes[AttributeName.tokenID.string], token as? String != "" {
        store(errSecUnimplemented, "A key of a token cannot be made from data.", in: error)
        return nil
    }
    guard let type = KeyNumber.decimal(attributes[AttributeName.type.string]),
        let keyClass = KeyNumber.decimal(attributes[AttributeName.keyClass.string])
    else {
        store(errSecParam, "The key type and the key class must be given, as the constants or as numbers.", in: error)
        return nil
    }
    // kSecAttrKeyClassSymmetric
    if keyClass == 2 {
        store(errSecUnimplemented, "Symmetric keys are not supported.", in: error)
        return nil
    }
    guard let key = SecKey(bytes: keyData.contents, type: type, keyClass: keyClass) else {
        store(
            errSecParam, "The data is not a key of the given type and class.",
            text: KeyFailureText.creation(type: type, keyClass: keyClass), in: error)
        return nil
    }
    return keyResult(error) {
        try SoftwareKeys.checkImported(key.keyData)
        return key
    }
}

/// The external representation of a key; see ``SecKeyCreateWithData(_:_:_:)``. For private keys it
/// contains the secret, in memory that is wiped when it is freed.
///
/// - Parameter error: Where an error is stored: ``errSecUnimplemented`` for a private key that is kept in an enclave
///   and never leaves it.
/// - Returns: The representation, or `nil` with an error.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    guard key.kept == nil else {
        store(errSecUnimplemented, "The private key cannot leave where it is kept.", in: error)
        return nil
    }
    return key.keyData.externalRepresentation as NSData
}

/// The public key of a pair; of a public key, the key itself.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { key.publicKey }

/// The attributes of a key.
///
/// Unlike the results of a search, type and class are strings here, and `kSecValueData` is included.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    key.publicDictionary as NSDictionary
}

/// The block length of a key in bytes: the length of an RSA modulus or of a coordinate on the curve.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.keyData.blockSize }

/// Numbers in the dictionaries of keys.
enum KeyNumber {
    /// A number, or a string that is the decimal notation of one; Booleans are neither.
    static func decimal(_ value: Any?) -> Int? {
        switch value {
        case let string as String:
            guard let number = Int(string), String(number) == string else { return nil }
            return number
        case let number as NSNumber where !isCFBoolean(number):
            return Int(exactly: number.doubleValue)
        default:
            return nil
        }
    }
}
