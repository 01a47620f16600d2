import Foundation

// Every constant is an immutable string that is never written after its initialisation, which is what
// makes `nonisolated(unsafe)` safe here; `NSString` itself cannot promise it because subclasses can change.

/// The key of an item's class.
nonisolated(unsafe) public let kSecClass: CFString = "class"
/// The class of passwords for a service and account.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
/// The class of passwords for a server.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
/// The class of X.509 certificates.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// The class of cryptographic keys.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// The class of identities: a private key and its certificate.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"
/// The class of AppleShare passwords, which this keychain refuses as Apple's does.
nonisolated(unsafe) public let kSecClassAppleSharePassword: CFString = "apls"
