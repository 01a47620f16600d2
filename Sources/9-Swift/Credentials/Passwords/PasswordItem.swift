import Foundation
import Keychain

/// The password of one account of a service, as an item of the keychain.
///
/// ```swift
/// var item = PasswordItem(service: "com.example.mail", account: "ada")
/// try item.savePassword("correct horse")
/// try item.renameAccount("ada@example.com")
/// print(try item.readPassword())
/// ```
///
/// The names are those of Apple's sample GenericKeychain, so that code that was written for its `KeychainPasswordItem`
/// reads the same.
public struct PasswordItem: Sendable, Hashable {
    /// The name of the service, by custom in reverse-domain form.
    public let service: String
    /// The account; see ``renameAccount(_:)``.
    public private(set) var account: String
    /// The access group; nil for the first group of the program.
    public let accessGroup: String?
    /// When the password can be read, from the next ``savePassword(_:)`` on.
    public var accessibility: Keychain.Accessibility

    /// A place in the keychain, where there may be a password or not.
    public init(
        service: String, account: String, accessGroup: String? = nil,
        accessibility: Keychain.Accessibility = .whenUnlocked
    ) {
        (self.service, self.account, self.accessGroup) = (service, account, accessGroup)
        self.accessibility = accessibility
    }

    private var keychain: Keychain {
        Keychain(service: service, accessGroup: accessGroup, accessibility: accessibility)
    }

    /// The password.
    ///
    /// - Throws: `KeychainError.Code.itemNotFound` when there is none.
    public func readPassword() throws -> String {
        guard let password = try keychain.get(String.self, for: account) else { throw missing }
        return password
    }

    /// Stores a password, in place of the one that there is.
    ///
    /// - Throws: `KeychainError`.
    public func savePassword(_ password: String) throws { try keychain.set(password, for: account) }

    /// Gives the item, which keeps its password, another account.
    ///
    /// - Throws: `KeychainError.Code.itemNotFound` when there is no password, `KeychainError.Code.duplicateItem`
    ///   when the other account has one.
    public mutating func renameAccount(_ newAccount: String) throws {
        try keychain.rename(account, to: newAccount)
        account = newAccount
    }

    /// Removes the password; nothing happens if there is none.
    ///
    /// - Throws: `KeychainError`.
    public func deleteItem() throws { try keychain.remove(account) }

    /// All passwords of a service, sorted by account.
    ///
    /// - Parameter accessGroup: Nil for the first group of the program.
    /// - Throws: `KeychainError`.
    public static func passwordItems(
        forService service: String, accessGroup: String? = nil
    ) throws -> [PasswordItem] {
        try Keychain(service: service, accessGroup: accessGroup).items().map { item in
            PasswordItem(
                service: service, account: item.account, accessGroup: accessGroup, accessibility: item.accessibility)
        }
    }

    private var missing: KeychainError {
        KeychainError(
            .itemNotFound, status: -25_300,
            message: "there is no password of \(account) for \(service); store one with savePassword")
    }
}
