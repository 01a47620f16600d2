import Foundation
import OneTimeCodes
import PasswordGeneration

extension Keychain {
    /// Makes up a password, from the system's random numbers. Nothing is stored.
    ///
    /// ```swift
    /// try keychain.set(Keychain.generatePassword(), for: "ada")
    /// let words = try Keychain.generatePassword(.words(6))  // such as "unified-sprout-caviar-mossy-tightly-overlap"
    /// ```
    ///
    /// - Parameter recipe: 20 characters of all kinds unless given: 128 bits and more.
    /// - Throws: ``KeychainError/Code/invalidRequest`` for a recipe that makes no password, such as one of no
    ///   characters.
    public static func generatePassword(_ recipe: PasswordRecipe = .characters()) throws -> String {
        do throws(PasswordRecipeError) {
            return try recipe.password()
        } catch {
            throw KeychainError.invalidRequest("\(error)")
        }
    }
}

/// Kept as its `otpauth://` address, which `keychain otp` and other programs read as well.
///
/// ```swift
/// try keychain.set(OneTimePassword("otpauth://totp/Example:ada?secret=GEZDGNBVGY3TQOJQ&issuer=Example"), for: "ada")
/// let code = try keychain.get(OneTimePassword.self, for: "ada")?.code(at: Date())
/// ```
extension OneTimePassword: KeychainValue {
    /// - Throws: ``KeychainError/Code/undecodableValue``.
    public init(keychainData data: Data) throws {
        guard let text = String(data: data, encoding: .utf8), let password = try? OneTimePassword(text) else {
            throw KeychainError.undecodable(as: OneTimePassword.self)
        }
        self = password
    }

    public func keychainData() -> Data { Data(uri.utf8) }
}
