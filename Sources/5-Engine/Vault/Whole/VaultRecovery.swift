import Access
import Audit
import Bytes
import Enclave
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import VaultInterface

/// Makes the recovery key, and recovers a vault whose enclave is gone.
struct VaultRecovery: RecoveryKeeping {
    let vault: OpenedVault
    let gate: VaultGate

    /// Stores the class keys once more, wrapped with a recovery key, and returns that key as text.
    func makeKey(_ operation: MakeRecoveryKey, as client: Client) throws(VaultError) -> SecretBytes {
        try makeKey(replacing: true, as: client)
    }

    func makeKey(_ operation: MakeFirstRecoveryKey, as client: Client) throws(VaultError) -> SecretBytes {
        try makeKey(replacing: false, as: client)
    }

    /// - Parameter replacing: Whether a recovery key that there is loses its force; otherwise it stays, and this fails.
    private func makeKey(replacing: Bool, as client: Client) throws(VaultError) -> SecretBytes {
        let authorization = try gate.authorize(
            AccessRequest(.passcode, isAboutWholeVault: true), as: client, recordedAs: .recoveryKeyMade)
        return try gate.run(authorization) {
            try vault.takeOverChangedKeybag()
            guard let folder = vault.folder else {
                throw VaultError.unsupported(reason: "a vault in memory cannot be recovered")
            }
            try vault.checkStoreIsInPlace()
            let key = try RecoveryKey.random()
            let keys = vault.keys
            let record = try RecoveryRecord.make(of: keys, under: key)
            try folder.folder.withLock {
                guard try folder.openKeybag().identifier == keys.keybag.identifier else { throw VaultError.busy }
                guard replacing || !folder.folder.contains(VaultFolder.recoveryName) else {
                    throw VaultError.invalidRequest(reason: "the vault has a recovery key already")
                }
                try folder.folder.replace(VaultFolder.recoveryName, with: record.encoded(under: key))
            }
            guard let text = try? SecretBytes(key.text) else { throw VaultError.memoryUnavailable }
            return text
        }
    }

    func putBack(
        _ operation: PutBackDeviceSecret, as client: Client
    ) throws(VaultError) -> PutBackDeviceSecret.Reply {
        let authorization = try gate.authorize(
            AccessRequest(.passcode, isAboutWholeVault: true), as: client, recordedAs: .deviceSecretPutBack)
        return try gate.run(authorization) { try vault.putBackDeviceSecret() }
    }

    /// Puts the keys of the vault in the folder at `path` into a fresh enclave, without a passcode.
    static func restoreKeys(
        at path: String, with key: RecoveryKey, in kind: EnclaveKind, detectsRollback: Bool, enclaves: EnclavePlace
    ) throws(VaultError) {
        do {
            let folder = VaultFolder(folder: try PrivateFolder(existing: path), enclaves: enclaves)
            try folder.folder.withLock { try folder.recover(with: key, in: kind, detectsRollback) }
        } catch {
            throw VaultError(error)
        }
    }

    /// Returns how many items of each class nothing will open after a recovery.
    static func itemsLost(
        at path: String, with key: RecoveryKey, enclaves: EnclavePlace
    ) throws(VaultError) -> [ItemClass: Int] {
        do {
            let folder = VaultFolder(folder: try PrivateFolder(existing: path), enclaves: enclaves)
            return try folder.folder.withLock { try folder.itemsLost(recoveringWith: key) }
        } catch {
            throw VaultError(error)
        }
    }

    /// Returns whether the vault opens on this device with a passcode, which a recovery removes.
    static func removesPasscode(at path: String, enclaves: EnclavePlace) throws(VaultError) -> Bool {
        do {
            let folder = VaultFolder(folder: try PrivateFolder(existing: path), enclaves: enclaves)
            return try folder.folder.withLock { folder.keybagOfThisDevice?.passcode != nil }
        } catch {
            throw VaultError(error)
        }
    }

    /// Deletes the items that were for the lost device only.
    ///
    /// - Returns: How many there were.
    func finish(as client: Client) throws(VaultError) -> Int {
        gate.access.record(.recovered, by: client)
        do {
            return try vault.upkeep.deleteRows { row, _ in !RecoveryRecord.classes.contains(row.protection) }
        } catch {
            throw VaultError(error)
        }
    }
}

extension VaultFolder {
    /// Whether there is a recovery key, and since when.
    func recoveryKeyState() throws -> RecoveryKeyState {
        do throws(FileError) {
            return .made(secondsSince1970: try folder.modificationTime(of: Self.recoveryName))
        } catch .notFound {
            return .absent
        }
    }

    /// For callers that hold the folder's lock.
    private func recoveryRecord(openedWith key: RecoveryKey) throws -> RecoveryRecord {
        guard folder.contains(Self.recoveryName), try !storeNames().isEmpty else {
            throw VaultError.unusableVault(
                reason:
                    "\(folder.path) has no recovery record with items; restore the whole folder from a backup. If the "
                    + "class keys were renewed since the recovery key was made, it opens only backups from before")
        }
        let encoded = try folder.read(Self.recoveryName, limit: RecoveryRecord.largestEncoding)
        let record = try RecoveryRecord(decoding: encoded, with: key)
        try checkIsInForce(record)
        // Recovering with it would replace the keybag of the present items.
        guard hasPlainStore(record) || folder.contains(Self.storeName(of: record.keybag)) else {
            throw VaultError.unusableVault(
                reason:
                    "\(folder.path(of: Self.recoveryName)) belongs to former class keys: the class keys were renewed "
                    + "or the vault was erased after it was made. Use the recovery key that was made last, with its "
                    + "record, or a backup")
        }
        return record
    }

    /// Refuses the record of former class keys while the present ones open here, even if a renewal that was killed has
    /// left it and the former store. On another machine, the two are the only way back.
    private func checkIsInForce(_ record: RecoveryRecord) throws {
        guard let mark = try unfinishedRenewal(), mark.from == record.keybag, keybagOfThisDevice?.identifier == mark.to
        else { return }
        throw VaultError.unusableVault(
            reason:
                "the class keys in \(folder.path) were renewed, and this recovery key is for the former ones; open the "
                + "vault, for example with `keychain status`, and make another recovery key")
    }

    /// The keybag, if it opens here.
    fileprivate var keybagOfThisDevice: Keybag? {
        guard let encoded = try? folder.read(Self.keybagName, limit: Keybag.largestEncoding),
            let enclave = try? readEnclave(Self.deviceSecretName)
        else { return nil }
        return try? Keybag(decoding: encoded, in: enclave)
    }

    /// For callers that hold the folder's lock.
    fileprivate func itemsLost(recoveringWith key: RecoveryKey) throws -> [ItemClass: Int] {
        let record = try recoveryRecord(openedWith: key)
        let store: ItemStore
        if hasPlainStore(record) {
            store = ItemStore.examine(plain: folder.path(of: Self.plainStoreName))
        } else {
            let enclave = try SoftwareEnclave()
            let keys = try ClassKeys(record.restored(in: enclave, with: key), in: enclave)
            store = try ItemStore.examine(
                path: folder.path(of: Self.storeName(of: record.keybag)), key: keys.storeKey)
        }
        defer { store.abandon() }
        let owner = try store.check()
        // A renewal that was killed may have retired the store.
        guard try owner == record.keybag || owner == unfinishedRenewal()?.to else { throw StoreError.otherKeybag }
        return try store.read(for: AccessGate.authorize(.removeUnreadable), under: owner) { reader in
            try reader.counts { !RecoveryRecord.classes.contains($0) }
        }
    }

    /// Whether the rows are still in the plain store of the format before.
    private func hasPlainStore(_ record: RecoveryRecord) -> Bool {
        folder.contains(Self.plainStoreName) && !folder.contains(Self.storeName(of: record.keybag))
    }

    /// For callers that hold the folder's lock.
    fileprivate func recover(with key: RecoveryKey, in kind: EnclaveKind, _ detectsRollback: Bool) throws {
        let record = try recoveryRecord(openedWith: key)
        // The new keys of a renewal went with the device: its end is to be undone.
        if let mark = try unfinishedRenewal(), mark.from == record.keybag, mark.isCommitted {
            try folder.replace(Self.renewalName, with: RenewalMark(from: mark.from, to: mark.to).encoded)
        }
        if detectsRollback { try keepCounter() }
        let enclave = try makeEnclave(Self.nextSecretName, kind)
        // The value after the present one ends the keybags before this one, if the counter was theirs.
        let counter = detectsRollback ? try makeCounter(in: enclave).next : nil
        let keybag = try record.restored(
            in: enclave, with: key, counter: counter, hasPlainStore: hasPlainStore(record))
        // The device secret first: with the old keybag it opens nothing, and the record stays to do this again.
        try folder.rename(Self.nextSecretName, to: Self.deviceSecretName)
        try folder.replace(Self.keybagName, with: try keybag.encoded(in: enclave))
        try folder.remove(Self.nextCounterName)
        try folder.remove(PasscodeGuard.fileName)
        // Its key went with the device.
        try folder.remove(AuditReader.anchorName)
    }

    /// Has the next keybag continue with the counter of the present one, if that can be read. With another counter, the
    /// present keybag would stay the last of its own, and open the same class keys to who knows its passcode.
    private func keepCounter() throws {
        guard let encoded = try? folder.read(Self.keybagName, limit: Keybag.largestEncoding),
            let enclave = try? readEnclave(Self.deviceSecretName),
            let counter = try? Keybag(decoding: encoded, in: enclave).freshness?.counter
        else { return }
        // If the writer of the present keybag was killed before it incremented the counter, the counter has yet to
        // reach that keybag's value. The next one must not have the same.
        try? counter.check(in: enclave)
        try plan(counter: counter.name)
    }
}
