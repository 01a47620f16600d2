import Foundation

// Safe to share between threads, as `nonisolated(unsafe)` claims: each constant is a `let` that holds an object of
// exactly the class NSString (ConstantsTests), and only NSMutableString has operations that change a string. The
// class itself cannot promise it, because subclasses can change.

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
