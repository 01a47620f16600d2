import ProcessVault
import VaultInterface

/// The folder beside the process's vault that has what belongs to the user besides that vault: further keychains, and
/// settings of trust.
package enum KeychainsFolder {
    /// - Parameter home: The folder of the process's vault.
    package static func path(besideVaultAt home: String) -> String {
        let path = home.count > 1 && home.hasSuffix("/") ? String(home.dropLast()) : home
        // Each vault has one of its own.
        return path.hasSuffix("/keychain") ? path + "s" : path + "-keychains"
    }

    package static func standard() throws(VaultError) -> String {
        path(besideVaultAt: try ProcessVault.defaultPath())
    }
}
