import DatabaseFiles
import KeychainServices

extension ProtectedDatabaseFile.KeyInfo {
    /// What the keychain asks for besides; nil for a file.
    public var control: SecAccessControl? { accessControl.map { SecAccessControl($0) } }
}
