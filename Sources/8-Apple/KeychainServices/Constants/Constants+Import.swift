import Foundation

// Safe to share between threads, as `nonisolated(unsafe)` claims: each constant is a `let` that holds an object of
// exactly the class NSString (ConstantsTests), and only NSMutableString has operations that change a string. The
// class itself cannot promise it, because subclasses can change.

/// The key of the passphrase that protects a PKCS#12 file. String.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
/// The key of whether what is imported stays in memory, whatever ``kSecUseDataProtectionKeychain`` says. Boolean.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"
/// The key of an imported item's label. String.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// The key of an imported item's key identifier. Data.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// The key of an imported identity's trust object.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"
/// The key of an imported identity's certificates, its own first. Array.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// The key of an imported identity.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
