import Access
import Bytes
import Enclave
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import VaultInterface

/// Checks a backup, and makes a new vault from it, on the same machine or another.
enum BackupRestore {
    /// Opens all of a backup, and keeps nothing.
    static func verify(_ backup: BackupReader, with key: RecoveryKey) throws -> BackupSummary {
        let enclave = try SoftwareEnclave()
        let keybag = try backup.record(openedWith: key).restored(in: enclave, with: key)
        var rows = try backup.rows(under: OpenedKeybag(try ClassKeys(keybag, in: enclave)))
        while try rows.next() != nil {}
        return rows.summary
    }

    /// Gives an empty vault that has the keys of the backup its rows.
    static func fill(_ vault: OpenedVault, from backup: BackupReader) throws -> BackupSummary {
        var rows = try backup.rows(under: vault.keybag)
        // The numbers of changes have to be above all that the vault gave of which this is a backup: who knows one of
        // those is told to read everything again.
        var isFirst = true
        var isComplete = false
        while !isComplete {
            try vault.writing(for: AccessGate.authorize(.fillFromBackup)) { writer, keybag in
                if isFirst { try writer.continueNumbers(after: Int64(clamping: Date().timeIntervalSince1970 * 1_000)) }
                isFirst = false
                for _ in 0..<rowsOfTransaction {
                    switch try rows.next() {
                    case .row(let row, let item):
                        let filing =
                            item.isTombstone
                            ? keybag.filing(ofTombstone: row) : Array(try keybag.expectedFiling(of: row, item))
                        try writer.insert(row, filedUnder: filing)
                    case .former(let former): try writer.insert(former)
                    case .formerKeys(let former): try vault.folder?.writeFormerKeys(former, of: keybag.keys)
                    case nil:
                        isComplete = true
                        return
                    }
                }
            }
        }
        return rows.summary
    }

    private static let rowsOfTransaction = 4_096

    /// Makes a vault from a backup, in a folder at `path` that is absent or has no files. The vault gets a new device
    /// secret and no passcode.
    ///
    /// All is written beside `path`, and moved there when it is complete. What a killed restore leaves is removed by
    /// the next one.
    static func restore(
        _ backup: BackupReader, with key: RecoveryKey, to path: String, in kind: EnclaveKind, detectsRollback: Bool,
        enclaves: EnclavePlace
    ) throws -> BackupSummary {
        guard path.hasPrefix("/") else {
            throw VaultError.unusableVault(reason: "the vault's folder must be an absolute path, not '\(path)'")
        }
        // A wrong key is noticed before anything is made.
        let record = try backup.record(openedWith: key)
        let target = try PrivateFolder(creating: path)
        return try target.withLock {
            let stores = try VaultFolder(folder: target, enclaves: enclaves).storeNames()
            for name in [VaultFolder.keybagName, VaultFolder.deviceSecretName] + stores where target.contains(name) {
                throw VaultError.unusableVault(
                    reason: "there is a vault in \(path) already, which stays as it is: to restore the backup beside "
                        + "it, set KEYCHAIN_HOME to another folder")
            }
            let staging = VaultFolder(folder: try PrivateFolder(creating: path + ".restoring"), enclaves: enclaves)
            do {
                try staging.removeAll()
                let summary = try make(staging, backup, record, key, kind, detectsRollback)
                // The folder is empty but for the lock, and is replaced as a whole.
                try target.remove("lock")
                try staging.folder.move(to: path)
                return summary
            } catch {
                try? staging.removeAll()
                try? staging.folder.removeItself()
                throw error
            }
        }
    }

    private static func make(
        _ folder: VaultFolder, _ backup: BackupReader, _ record: RecoveryRecord, _ key: RecoveryKey,
        _ kind: EnclaveKind, _ detectsRollback: Bool
    ) throws -> BackupSummary {
        let enclave = try folder.makeEnclave(VaultFolder.deviceSecretName, kind)
        let keybag = try record.restored(
            in: enclave, with: key, counter: detectsRollback ? folder.makeCounter(in: enclave) : nil)
        // The same recovery key opens the new vault, which has the same class keys.
        if case .recoveryKey(let encoded) = backup.head.seal {
            try folder.folder.replace(VaultFolder.recoveryName, with: encoded)
        }
        let vault = try folder.create(keybag, in: enclave)
        defer { vault.close() }
        return try fill(vault, from: backup)
    }
}

extension VaultFolder {
    /// Removes every file that a vault or the making of one can have.
    fileprivate func removeAll() throws {
        try removeRemainsOfKilledReplacements()
        for name in try storeNames() { try removeStore(name) }
        for name in [
            Self.deviceSecretName, Self.nextSecretName, Self.nextCounterName, Self.keybagName, Self.nextKeybagName,
            Self.recoveryName,
        ] { try folder.remove(name) }
    }
}
