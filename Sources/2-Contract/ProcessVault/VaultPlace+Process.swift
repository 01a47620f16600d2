import DaemonLink
import SystemLibraries
import VaultInterface

extension VaultPlace {
    /// What the environment of this process says.
    package static func ofProcess() throws(VaultError) -> VaultPlace {
        do {
            return try VaultPlace(environment: Environment.value)
        } catch {
            throw .unusableVault(reason: error.reason)
        }
    }
}
