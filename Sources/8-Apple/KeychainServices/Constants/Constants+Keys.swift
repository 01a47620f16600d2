import Foundation

// Safe to share between threads, as `nonisolated(unsafe)` claims: each constant is a `let` that holds an object of
// exactly the class NSString (ConstantsTests), and only NSMutableString has operations that change a string. The
// class itself cannot promise it, because subclasses can change.

// Attributes.

/// The key of whether a key is public, private or symmetric.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
/// A public key.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
/// A private key.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
/// A symmetric key.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"
/// The key of the hash that a key pair shares with its certificate. Data.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"
/// The key of a tag of the caller's own. Data.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"
/// The key of the algorithm.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
/// The key of the size in bits. Number.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The key of the size in bits that counts for security. Number.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// The key of whether a generated key is stored in the keychain. Boolean.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"
/// The key of whether a key leaves the keychain only wrapped. Boolean.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"
/// The key of whether a key can leave the keychain. Boolean.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"
/// The key of whether a key can encrypt. Boolean.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"
/// The key of whether a key can decrypt. Boolean.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"
/// The key of whether a key can derive others. Boolean.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"
/// The key of whether a key can sign. Boolean.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"
/// The key of whether a key can verify signatures. Boolean.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"
/// The key of whether a key can wrap others. Boolean.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"
/// The key of whether a key can unwrap others. Boolean.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"
/// The key of the attributes of the private half in key generation. Dictionary.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"
/// The key of the attributes of the public half in key generation. Dictionary.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"
/// The key of whether a key may serve Apple Pay.
nonisolated(unsafe) public let kSecKeyApplePayEnabled: CFString = "applepay"
/// The key of whether a key is bound to the operating system's version.
nonisolated(unsafe) public let kSecKeyOSBound: CFString = "osbound"
/// The key of whether a key is bound to sealed hashes.
nonisolated(unsafe) public let kSecKeySealedHashesBound: CFString = "sealedhashesbound"

// Key types.

/// RSA.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
/// Elliptic curves over prime fields: P-192 to P-521.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The older name of ``kSecAttrKeyTypeECSECPrimeRandom``.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"

// Tokens.

/// The token identifier of the enclave.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
