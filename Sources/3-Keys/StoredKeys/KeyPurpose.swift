/// The purpose of a key that the keychain stores for another part of this package. The service of its item tells it.
///
/// Without such a key, nobody opens what it protects. So commands recognize its item here, and refuse to delete it.
package enum KeyPurpose: Sendable, Hashable {
    /// A database that is encrypted as a whole.
    case database
    /// A SQLCipher file. Its key is a password that people handle, too.
    case cipherFile
    /// The sealed fields of a keyring.
    case sealedFields(keyring: String)
    /// Password hashes, which are mixed with a pepper.
    case pepper
    /// An `LARight`, with its secret.
    case right
    /// What a program in a sandbox encrypts with the secret that the desktop's portal gives to it.
    case portalSecret
    /// A login of OAuth, whose refresh token one process of the machine uses at a time.
    case login

    package static let databaseService = "encrypted-database"
    package static let cipherFileService = "sqlcipher-file"
    package static let sealedFieldsPrefix = "sealed-fields/"
    package static let pepperService = "swift-keychain.pepper"
    package static let rightService = "swift-keychain.rights"
    package static let portalService = "org.freedesktop.portal.Secret"
    package static let loginService = "oauth-login"

    /// The end of the service of keys whose list is another service; see ``KeyItems``.
    package static let keysEnding = "/keys"

    /// - Parameter service: Of a generic password, or the application tag of a key.
    /// - Returns: Nil for an item that is no such key.
    package init?(service: String) {
        let list = service.hasSuffix(Self.keysEnding) ? String(service.dropLast(Self.keysEnding.count)) : service
        switch list {
        case Self.databaseService: self = .database
        case Self.cipherFileService: self = .cipherFile
        case Self.pepperService: self = .pepper
        case Self.rightService: self = .right
        case Self.portalService: self = .portalSecret
        case Self.loginService: self = .login
        case _ where list.hasPrefix(Self.sealedFieldsPrefix):
            self = .sealedFields(keyring: String(list.dropFirst(Self.sealedFieldsPrefix.count)))
        default: return nil
        }
    }
}
