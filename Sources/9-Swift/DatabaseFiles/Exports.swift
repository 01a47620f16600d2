// For `StoredKeyProtection` and `KeychainAccessibility`.
@_exported import KeychainModel
@_exported import StoredKeys
