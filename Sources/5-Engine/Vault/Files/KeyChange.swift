import Access
import Bytes
import CLibrary
import FoundationEssentials
import Items
import Keybag
import PrivateFiles
import SecureMemory
import VaultInterface

/// Replaces the keys of an open vault, under the lock of its folder: by the same ones under another passcode, by
/// renewed ones, or by fresh ones without any item.
struct KeyChange {
    let vault: OpenedVault

    /// Replaces the keybag by one with the same class keys under another passcode, durably, and continues with it.
    ///
    /// - Returns: Why the disk may not have the keybag that is in force; nil if it has.
    /// - Throws: ``VaultError/busy`` when another program changed the passcode at the same time.
    func rewrap(
        from present: CheckedPasscode?, to nextKey: LockedBytes?, _ protection: PasscodeProtection?
    ) throws -> FileError? {
        guard let folder = vault.folder else {
            let keys = vault.keys
            let next = try keys.keybag.rewrapped(from: present?.key, to: nextKey, protection, in: keys.enclave)
            try keys.adopt(next, with: nextKey)
            vault.tellLockState()
            return nil
        }
        try vault.checkStoreIsInPlace()
        let (rewrapped, flush) = try folder.folder.withLock {
            let current = try checkedKeybag(vault.keybag.identifier, present, in: folder)
            let next = try current.keys.keybag.rewrapped(
                from: present?.key, to: nextKey, protection, in: current.keys.enclave)
            return try folder.replaceKeybag(
                with: next.knowing(storeSequence: vault.store.sequence()), in: current.keys.enclave)
        }
        try rewrapped.keys.adopt(rewrapped.keys.keybag, with: nextKey)
        try vault.replace(with: rewrapped, vault.store)
        return flush
    }

    /// Begins to renew the class keys.
    ///
    /// - Parameter passcode: The present one; nil if none is set.
    /// - Throws: ``VaultError/busy`` if another program has changed the passcode, or renews the keys.
    func beginRenewal(from passcode: CheckedPasscode?, for authorization: Authorization) throws -> KeyRenewal {
        guard let folder = vault.folder else { throw VaultError.busy }
        try vault.checkStoreIsInPlace()
        return try folder.folder.withLock {
            let present = try checkedKeybag(vault.keybag.identifier, passcode, in: folder)
            if let passcode { try present.keys.unlock(with: passcode.key) }
            return try KeyRenewal(of: present, in: folder, for: authorization)
        }
    }

    /// Puts renewed class keys in force: copies what was changed last, while nobody else writes, replaces the keybag,
    /// and removes what is sealed under the former ones.
    ///
    /// - Parameters:
    ///   - passcode: The present one; nil if none is set.
    ///   - nextKey: The next passcode, stretched with `protection`.
    /// - Returns: What is sealed under the new keys, and why the disk may not have the keybag that is in force; nil if
    ///   it has.
    func complete(
        _ renewal: KeyRenewal, from passcode: CheckedPasscode?, to nextKey: LockedBytes?,
        _ protection: PasscodeProtection?, for authorization: Authorization
    ) throws -> (summary: RenewalSummary, flush: FileError?) {
        guard let folder = vault.folder else { throw VaultError.busy }
        let result = try folder.folder.withLock {
            try vault.checkStoreIsInPlace()
            let present = try checkedKeybag(renewal.former.identifier, passcode, in: folder)
            let enclave = present.keys.enclave
            let former = try renewal.former.formerKeys().renewed(from: renewal.former.keys, to: renewal.next.keys)
            try folder.writeFormerKeys(former, of: renewal.next.keys)
            let hadRecoveryKey = try folder.hasRecoveryKey(of: present.identifier)
            let sequence = try vault.store.write(for: authorization, under: present.identifier) {
                try renewal.complete($0)
            }
            let counts = try renewal.counts()
            try renewal.checkIsInPlace()
            let next = try present.keys.keybag.replaced(
                by: renewal.next.keys, under: nextKey, protection, storeSequence: sequence, in: enclave)
            // Its key is derived from a former class key. Until it is made again, no file can be made while the vault
            // is locked.
            try folder.folder.remove(VaultFolder.fileAgreementKeyName)
            var (renewed, flush) = try folder.replaceKeybag(with: next, in: enclave)
            // After a crash the former keybag may be there again, and then needs its store.
            if flush == nil {
                do {
                    try renewal.commit()
                } catch let error as FileError {
                    flush = error
                }
            }
            if let nextKey { try renewed.keys.unlock(with: nextKey) }
            try vault.replace(with: renewed, renewal.store, isRenewal: true)
            // If this fails, the next program that opens the vault does it.
            if flush == nil { try? folder.completeRenewal(from: present.identifier, to: renewed.identifier) }
            let summary = RenewalSummary(
                items: counts.items, formerVersions: counts.formerVersions, hadRecoveryKey: hadRecoveryKey)
            return (summary, flush)
        }
        // Marks of deletions are gone, and numbers go on after a gap.
        vault.changeNotifier.changed(.thisProcess) { _ in true }
        return result
    }

    /// The keybag on disk, for a holder of the folder's lock.
    ///
    /// - Parameter identifier: Whose class keys the caller has.
    /// - Throws: ``VaultError/busy`` if the keybag on disk has other class keys, or another passcode.
    private func checkedKeybag(
        _ identifier: UUID, _ passcode: CheckedPasscode?, in folder: VaultFolder
    ) throws -> OpenedKeybag {
        let current = try folder.openKeybag()
        guard current.identifier == identifier, current.keys.keybag.passcode == passcode?.protection else {
            throw VaultError.busy
        }
        return current
    }

    /// Has the keybag know how far the item store has come, so that an older copy of the store is refused from now on.
    /// Where a counter counts, this moves it, so that an older copy of the whole folder is refused, too.
    ///
    /// Does nothing if nothing was stored since, and for a minute after the last time.
    ///
    /// - Parameter passcode: The present passcode, under which the class keys are wrapped again.
    func noteStoreSequence(with passcode: CheckedPasscode) throws {
        guard vault.folder != nil, try vault.store.sequence() > vault.keys.keybag.storeSequence ?? 0 else { return }
        let isDue = vault.noted.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last < Self.shortestPause { return false }
            last = now
            return true
        }
        if isDue { _ = try rewrap(from: passcode, to: passcode.key, passcode.protection) }
    }

    /// A counter in a TPM wears out.
    private static let shortestPause = Duration.seconds(60)

    /// Destroys every key and every item.
    ///
    /// First the keys, then the rows: from the moment the new keybag is in place nothing that was stored
    /// can be read, and a crash before the rows are gone is completed at the next opening.
    ///
    /// - Throws: ``VaultError/inputOutput(reason:)`` if the disk may still have the former keys.
    func erase(for authorization: Authorization) throws {
        let (former, formerKeys) = vault.storeAndKeys
        if let folder = vault.folder {
            // Another program may have renewed the keys. An erase is for a vault that is damaged, too.
            try? vault.takeOverChangedKeybag()
            let flush = try folder.folder.withLock {
                try vault.checkStoreIsInPlace()
                // A renewal that was killed may have left the store of its former keybag.
                if let present = try? folder.openKeybag() { try? folder.settleRenewal(present) }
                // Another process may still write, with numbers after this one. None writes a thousand times a second
                // for as long as there are milliseconds since 1970.
                let milliseconds = UInt64(clamping: max(0, Date().timeIntervalSince1970 * 1_000))
                let last = (try? former.sequence()) ?? 0
                var (fresh, flush) = try folder.replaceKeys(after: max(last + 1, milliseconds))
                // Other processes have the keys of these rows in memory, and notice that they are gone.
                try? former.write(for: authorization) { try $0.retire(for: fresh.identifier) }
                let store = try folder.openStore(of: &fresh)
                try vault.replace(with: fresh, store)
                return flush
            }
            if let flush {
                vault.changeNotifier.changed(.thisProcess) { _ in true }
                throw VaultError.unflushed(
                    "the vault is erased", flush, "the former keys may be there again: erase it again")
            }
        } else {
            let fresh = try ClassKeys(Keybag.generate(in: formerKeys.enclave), in: formerKeys.enclave)
            if formerKeys.hasPasscodeClass { try fresh.setPasscodeClass(present: true) }
            try former.write(for: authorization) { try $0.reset(to: fresh.keybag.identifier) }
            try vault.replace(with: OpenedKeybag(fresh), former)
        }
        // There is no group that it does not touch.
        vault.changeNotifier.changed(.thisProcess) { _ in true }
    }
}
