import Crypto
import FoundationEssentials
import Keybag
import KeychainModel
import PrivateFiles
import VaultInterface

/// The file with the public key for files that are made while the vault is locked.
struct FileAgreementKeyFile: Sendable {
    let vault: OpenedVault

    /// Returns the public key. While the vault is unlocked, it is derived from a class key, so that no stored key is
    /// trusted.
    func publicKey(of keybag: OpenedKeybag) throws -> FileClassKeys.PublicKey {
        do throws(KeybagError) {
            return try keybag.keys.fileAgreementKey().publicKey
        } catch {
            guard case .locked = error else { throw error }
        }
        guard let known = try keybag.keys.filePublicKey ?? storedKey(of: keybag) else {
            throw VaultError.interactionNotAllowed(
                reason: "the vault's folder has no '\(VaultFolder.fileAgreementKeyName)', under which files are made "
                    + "while the vault is locked; unlock it, and it is made anew")
        }
        return try FileClassKeys.PublicKey(rawRepresentation: known)
    }

    private func storedKey(of keybag: OpenedKeybag) throws -> Data? {
        guard let folder = vault.folder?.folder, folder.contains(VaultFolder.fileAgreementKeyName) else { return nil }
        let encoded = try folder.read(VaultFolder.fileAgreementKeyName, limit: FileAgreementRecord.size)
        do throws(KeybagError) {
            return try FileAgreementRecord(
                decoding: encoded, of: keybag.identifier, under: keybag.keys.classKey(for: .always)
            ).publicKey
        } catch {
            switch error {
            case .authenticationFailed, .malformed:
                throw VaultError.corruptVault(
                    reason: "\(folder.path(of: VaultFolder.fileAgreementKeyName)) was changed; unlock the "
                        + "vault, and it is made anew")
            case .unknownVersion(let version):
                throw VaultError.corruptVault(
                    reason: "\(folder.path(of: VaultFolder.fileAgreementKeyName)) has format version "
                        + "\(version), which this version cannot read; update the software")
            default: throw error
            }
        }
    }

    /// Stores the public key for the time when the vault is locked, unless it is stored already.
    ///
    /// Ignores failures, because an unlock must not fail for this. Without the public key, no file can be made before
    /// the first unlock; the error says so then.
    ///
    /// - Returns: Whether another key was in its place. Its owner may be able to read files that were made since.
    @discardableResult
    func update() -> Bool {
        let keybag = vault.keybag
        guard let folder = vault.folder?.folder, let alwaysKey = try? keybag.keys.classKey(for: .always),
            let publicKey = try? keybag.keys.fileAgreementKey().publicKey.rawRepresentation
        else { return false }
        let name = VaultFolder.fileAgreementKeyName
        let record = FileAgreementRecord(keybag: keybag.identifier, publicKey: publicKey).encoded(under: alwaysKey)
        var isReplaced = true
        do throws(FileError) {
            if try folder.read(name, limit: FileAgreementRecord.size) == record { return false }
        } catch {
            if case .notFound = error { isReplaced = false }
        }
        try? folder.withLock {
            // If the vault was erased meanwhile, the key would belong to the former vault.
            try vault.checkIsCurrent(keybag)
            try folder.replace(name, with: record)
        }
        return isReplaced
    }
}
