import Bytes
import CommandKit
import FoundationEssentials
import KeychainModel
import ProcessVault
import VaultInterface

/// The keys of files that are protected already. Where there is no vault, there are none, and no vault is made.
func presentFileKeys(_ passcode: PasscodeInput) throws -> any FileKeySource {
    guard try ProcessVault.exists() else { return MissingVault(path: try ProcessVault.defaultPath()) }
    return try VaultSession.ofOwner(passcode)
}

/// A place without a vault, which is said only of files that need one.
private struct MissingVault: FileKeySource {
    let path: String

    private var error: VaultError { .unusableVault(reason: "there is no vault at \(path): `keychain set` makes one") }

    func makeFileKey(for fileClass: FileProtectionClass, file: Data) throws(VaultError) -> FileKey { throw error }

    func fileKey(for fileClass: FileProtectionClass, file: Data, wrapped: Data) throws(VaultError) -> SecretBytes {
        throw error
    }

    func rewrapFileKey(
        from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data
    ) throws(VaultError) -> Data { throw error }
}
