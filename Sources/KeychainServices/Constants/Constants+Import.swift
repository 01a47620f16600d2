import Foundation

// Every constant is an immutable string that is never written after its initialisation, which is what
// makes `nonisolated(unsafe)` safe here; `NSString` itself cannot promise it because subclasses can change.

/// The key of the passphrase that opens PKCS#12 data. String.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
/// In what an import gives: the key of the item's name. String.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// In what an import gives: the key of the key's identifier. Data.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// In what an import gives: the key of the trust object.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"
/// In what an import gives: the key of the certificates from the leaf up. Array.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// In what an import gives: the key of the identity.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"
