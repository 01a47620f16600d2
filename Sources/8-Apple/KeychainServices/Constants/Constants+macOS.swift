import Foundation

// Safe to share between threads, as `nonisolated(unsafe)` claims: each constant is a `let` that holds an object of
// exactly the class NSString (ConstantsTests), and only NSMutableString has operations that change a string. The
// class itself cannot promise it, because subclasses can change.

/// The key of an access object of the file keychain.
nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"
/// DSA.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"
/// AES.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// DES.
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"
/// Triple DES.
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"
/// RC4.
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"
/// RC2.
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"
/// CAST.
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"
/// Elliptic curves; the same as ``kSecAttrKeyTypeECSECPrimeRandom``.
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"
/// The key of the pseudo-random function of a key derivation.
nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"
/// HMAC with SHA-1.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// HMAC with SHA-224.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// HMAC with SHA-256.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// HMAC with SHA-384.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// HMAC with SHA-512.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
/// The key of the number of rounds of a key derivation.
nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"
/// The key of the salt of a key derivation.
nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"
/// Accepted and without effect. Boolean.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Accepted and without effect. Boolean.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Accepted and without effect. String.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Accepted and without effect. String.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Accepted and without effect. String.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// The key of the attributes of a symmetric key in key generation. Dictionary.
nonisolated(unsafe) public let kSecSymmetricKeyAttrs: CFString = "symmetric"
/// The key of a keychain file; refused, as there is one keychain.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
