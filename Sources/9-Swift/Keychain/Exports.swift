// For `Argon2Cost` and `KeychainAccessibility`.
@_exported import KeychainModel
