import Foundation

// Every constant is an immutable string that is never written after its initialisation, which is what
// makes `nonisolated(unsafe)` safe here; `NSString` itself cannot promise it because subclasses can change.

/// The key of the passphrase that protects a PKCS#12 file. String.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
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
