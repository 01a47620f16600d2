import KeychainModel
import VaultInterface

/// The types that this package finds by name, with `_typeByName`. There are no others.
///
/// Their modules import C modules. Modules with Apple's names must import none, neither directly nor through others,
/// because a package that sees `Security` without asking for it cannot see the C headers. So a module that needs such a
/// type imports only its protocol, and names the module under `links` in `Package.swift`. A type that is renamed or
/// moved gets its new name here.
package enum LinkedTypes {
    /// Returns the client of the daemon.
    static func connector() throws(VaultError) -> any VaultConnection.Type {
        guard let connector = _typeByName("VaultService.RemoteVault") as? any VaultConnection.Type else {
            throw .unusableVault(reason: "this program was linked without the daemon's client; link it anew")
        }
        return connector
    }

    /// Returns the engine, for a vault in this process.
    static func engine() throws(VaultError) -> any VaultEngine.Type {
        guard let engine = _typeByName("Vault.EmbeddedVault") as? any VaultEngine.Type else {
            throw .unusableVault(reason: "this program was linked without the vault engine; link it anew")
        }
        return engine
    }

    /// Returns Argon2id, for files under a password; nil in a program that was linked without the keybag.
    package static var passwordStretching: (any PasswordStretching.Type)? {
        _typeByName("Keybag.Argon2idStretching") as? any PasswordStretching.Type
    }
}
