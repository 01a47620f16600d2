/// What opens a vault in a folder.
///
/// The engine is linked into every program and found by its name, so that no module which Apple's names
/// are in imports it. A compiler that reads `Security` reads all that it imports, and the engine imports
/// C libraries, whose headers SwiftPM shows only to those who depend on them: a package that finds
/// `Security` without having asked for it could not be compiled.
package protocol VaultEngine: Vault {
    /// The vault in the folder at `path`; made if there is none.
    static func openVault(at path: String) throws(VaultError) -> any VaultEngine

    /// Takes what was written in from the log; the vault cannot be used afterwards. Files that were only read
    /// are left to the end of the process.
    ///
    /// For programs that end right away: what they leave in the write-ahead log would be read again by
    /// every program that comes after.
    func close()
}
