// For `Argon2Cost` and `KeychainAccessibility`.
@_exported import KeychainModel
// For `OneTimePassword`, and for `PasswordRecipe`.
@_exported import OneTimeCodes
@_exported import PasswordGeneration
