import Access
import Bytes
import Enclave
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import VaultInterface

/// Recovery of a vault whose enclave is gone.
extension EmbeddedVault {
    /// Stores the class keys once more, wrapped with a recovery key, and returns that key. It cannot be read again.
    /// Earlier recovery keys open only older copies of the folder.
    ///
    /// - Throws: ``VaultError/interactionNotAllowed(reason:)`` unless the vault is unlocked.
    package func makeRecoveryKey(as client: Client) throws(VaultError) -> RecoveryKey {
        try gated(
            AccessRequest(.passcode, isAboutWholeVault: true), as: client, recordedAs: .recoveryKeyMade
        ) { _ in
            try takeOverChangedKeybag()
            guard let folder else { throw VaultError.unsupported(reason: "a vault in memory cannot be recovered") }
            try checkStoreIsInPlace()
            let key = try RecoveryKey.random()
            let keys = currentKeybag.keys
            let record = try RecoveryRecord.make(of: keys, under: key)
            try folder.folder.withLock {
                guard try folder.openKeybag().identifier == keys.keybag.identifier else { throw VaultError.busy }
                try folder.folder.replace(VaultFolder.recoveryName, with: record.encoded(under: key))
            }
            return key
        }
    }

    /// Puts the vault in the folder at `path` into a fresh enclave, without a passcode.
    ///
    /// Items that were for the lost device only are lost: there is no key for them. All other items stay. If the
    /// recovery is interrupted, do it again.
    ///
    /// - Returns: The vault, and how many items were lost.
    package static func recover(
        at path: String, with key: RecoveryKey, in kind: EnclaveKind, detectsRollback: Bool = false,
        enclaves: EnclavePlace = .environment, as client: Client
    ) throws(VaultError) -> (vault: EmbeddedVault, lostItems: Int) {
        do {
            let folder = VaultFolder(folder: try PrivateFolder(existing: path), enclaves: enclaves)
            try folder.folder.withLock { try folder.recover(with: key, in: kind, detectsRollback) }
        } catch {
            throw VaultError(error)
        }
        let vault = try open(at: path, in: kind, enclaves: enclaves, audit: auditSink(forVaultAt: path))
        vault.gate.record(.recovered, by: client)
        do {
            return (vault, try vault.deleteItemsOfTheLostDevice())
        } catch {
            throw VaultError(error)
        }
    }

    private func deleteItemsOfTheLostDevice() throws -> Int {
        try writing(for: AccessGate.authorize(.removeUnreadable)) { writer, keybag in
            var lost: [ItemRow] = []
            try writer.reader.forEachRow { row in
                guard case .success(let row) = row, !RecoveryRecord.classes.contains(row.binding.protection) else {
                    return
                }
                lost.append(row)
            }
            for row in lost { try writer.delete(row.binding.rowID, filedUnder: keybag.filedTerms(of: row)) }
            return lost.count
        }
    }
}

extension VaultFolder {
    /// For callers that hold the folder's lock.
    fileprivate func recover(with key: RecoveryKey, in kind: EnclaveKind, _ detectsRollback: Bool) throws {
        guard folder.contains(Self.recoveryName), folder.contains(Self.storeName) else {
            throw VaultError.unusableVault(
                reason: "\(folder.path) has no recovery record with items; restore the whole folder from a backup")
        }
        let encoded = try folder.read(Self.recoveryName, limit: RecoveryRecord.largestEncoding)
        let record = try RecoveryRecord(decoding: encoded, with: key)
        let enclave = try makeEnclave(Self.nextSecretName, kind)
        var keybag = try record.restored(in: enclave, with: key)
        if detectsRollback { keybag.counter = try makeCounter(in: enclave) }
        // The device secret first: with the old keybag it opens nothing, and the record stays to do this again.
        try folder.rename(Self.nextSecretName, to: Self.deviceSecretName)
        try folder.replace(Self.keybagName, with: try keybag.encoded(in: enclave))
        try folder.remove(Self.nextCounterName)
        try folder.remove(PasscodeGuard.fileName)
    }
}
