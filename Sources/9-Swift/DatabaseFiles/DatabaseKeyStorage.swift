import DataProtectionEssentials
import FoundationEssentials
import KeychainModel
import StoredKeys

/// Where the key of an encrypted database is kept, and when it can be had.
///
/// ```swift
/// let database = try ProtectedDatabase(path: path, key: .keychain(.complete))
/// ```
public struct DatabaseKeyStorage: Sendable {
    enum Place: Sendable {
        case keychain(StoredKeyProtection, accessGroup: String?, staysOpen: Bool)
        case file(FileProtectionType)
    }

    let place: Place

    /// An item of the keychain, in the class of the keychain that opens and closes as the protection class of files
    /// does:
    ///
    /// | class | the database can be opened | is closed |
    /// |---|---|---|
    /// | `complete` | while the vault is unlocked | when it is locked |
    /// | `completeUnlessOpen` | while the vault is unlocked | by the program |
    /// | `completeUntilFirstUserAuthentication` | from the first unlocking on | by the program |
    /// | `none` | always, by those who can use the vault | by the program |
    ///
    /// - Parameters:
    ///   - protection: The class; unless given, the one that Core Data's stores have.
    ///   - accessGroup: Whose programs may open the database; nil for the first group of the program.
    /// - Throws: ``ProtectedDatabaseError/Code/unsupported`` for a type that there is no class for.
    public static func keychain(
        _ protection: FileProtectionType = .completeUntilFirstUserAuthentication, accessGroup: String? = nil
    ) throws -> DatabaseKeyStorage {
        try make(protection, accessGroup, isInEnclave: false)
    }

    /// An item of the keychain, on conditions of its own, such as a person's presence. The database is closed when the
    /// vault is locked if the key cannot be had while it is.
    ///
    /// - Parameters:
    ///   - protection: Where the key lives, and when it can be had. Opening the database may ask a person.
    ///   - accessGroup: Whose programs may open the database; nil for the first group of the program.
    public static func item(_ protection: StoredKeyProtection, accessGroup: String? = nil) -> DatabaseKeyStorage {
        DatabaseKeyStorage(place: .keychain(protection, accessGroup: accessGroup, staysOpen: false))
    }

    /// An item of the keychain that is encrypted for a key of the Secure Enclave, made for it, so that the database
    /// opens on this machine alone.
    ///
    /// - Parameters:
    ///   - protection: The class, as for ``keychain(_:accessGroup:)``.
    ///   - accessGroup: Whose programs may open the database; nil for the first group of the program.
    /// - Throws: ``ProtectedDatabaseError/Code/unsupported`` for a type that there is no class for.
    public static func enclave(
        _ protection: FileProtectionType = .completeUntilFirstUserAuthentication, accessGroup: String? = nil
    ) throws -> DatabaseKeyStorage {
        try make(protection, accessGroup, isInEnclave: true)
    }

    /// A protected file of its own beside the database, whose name ends in `.key`, which any program may read that the
    /// vault gives keys of files and that can read the file: what `NSPersistentStoreFileProtectionKey` does.
    ///
    /// - Parameter protection: The file's class.
    /// - Throws: ``ProtectedDatabaseError/Code/unsupported`` for a type that there is no class for.
    public static func file(
        _ protection: FileProtectionType = .completeUntilFirstUserAuthentication
    ) throws -> DatabaseKeyStorage {
        _ = try ProtectionClass(protection)
        return DatabaseKeyStorage(place: .file(protection))
    }

    /// The same for a database that stays open when the vault is locked; of a key in a file its class says that.
    package var stayingOpen: DatabaseKeyStorage {
        guard case .keychain(let key, let accessGroup, _) = place else { return self }
        return DatabaseKeyStorage(place: .keychain(key, accessGroup: accessGroup, staysOpen: true))
    }

    private static func make(
        _ protection: FileProtectionType, _ accessGroup: String?, isInEnclave: Bool
    ) throws -> DatabaseKeyStorage {
        let key = StoredKeyProtection(try ProtectionClass(protection), isInEnclave: isInEnclave)
        return DatabaseKeyStorage(
            place: .keychain(key, accessGroup: accessGroup, staysOpen: protection == .completeUnlessOpen))
    }
}

extension ProtectionClass {
    /// The class of items that opens as files of a class do.
    fileprivate init(_ type: FileProtectionType) throws {
        switch type {
        case .complete, .completeUnlessOpen: self = .whenUnlocked
        case .completeUntilFirstUserAuthentication: self = .afterFirstUnlock
        case FileProtectionType.none: self = .always
        default:
            throw ProtectedDatabaseError(
                .unsupported,
                message: "no database can be protected as '\(type.rawValue)'; use complete, completeUnlessOpen, "
                    + "completeUntilFirstUserAuthentication or none")
        }
    }
}
