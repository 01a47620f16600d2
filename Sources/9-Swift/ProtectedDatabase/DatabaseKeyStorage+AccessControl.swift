import DatabaseFiles
import KeychainServices

extension DatabaseKeyStorage {
    /// An item of the keychain whose value is handed out on conditions of its own, such as a person's presence.
    ///
    /// - Parameters:
    ///   - control: The conditions. Opening the database may ask a person.
    ///   - accessGroup: Whose programs may open the database; nil for the first group of the program.
    public static func keychain(_ control: SecAccessControl, accessGroup: String? = nil) -> DatabaseKeyStorage {
        .keychain(control.control, accessGroup: accessGroup)
    }

    /// As ``enclave(_:accessGroup:)-(FileProtectionType,_)``, with conditions on the use of the enclave's key.
    ///
    /// - Parameters:
    ///   - control: The conditions, with `.privateKeyUsage`. Opening the database may ask a person.
    ///   - accessGroup: Whose programs may open the database; nil for the first group of the program.
    public static func enclave(_ control: SecAccessControl, accessGroup: String? = nil) -> DatabaseKeyStorage {
        .enclave(control.control, accessGroup: accessGroup)
    }
}

extension ProtectedDatabaseFile.KeyInfo {
    /// What the keychain asks for besides; nil for a file.
    public var control: SecAccessControl? { accessControl.map { SecAccessControl($0) } }
}
