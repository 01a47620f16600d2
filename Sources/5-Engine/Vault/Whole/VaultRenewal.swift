import Access
import Bytes
import Items
import Keybag
import KeychainModel
import SecureMemory
import VaultInterface

/// Renews the class keys.
struct VaultRenewal: KeyRenewing {
    let vault: OpenedVault
    let gate: VaultGate
    let passcodes: PasscodeCheck
    let lock: VaultLock

    /// The most passes that run while others write. The last pass, under the lock, makes writers wait, so that it
    /// should find few changes.
    private static let mostPasses = 8
    /// If a pass copies fewer rows than this, the last pass makes writers wait for less than a tenth of a second.
    private static let fewRows = 500

    func renew(
        _ operation: RenewKeys, as client: Client, send: Sink<RenewalProgress>
    ) throws(VaultError) -> RenewalSummary {
        let request = AccessRequest(.passcode, isAboutWholeVault: true)
        let authorization = try gate.authorize(request, as: client, recordedAs: .keysRenewed)
        var wasLocked = false
        let (summary, flush) = try gate.run(authorization) {
            try vault.takeOverChangedKeybag()
            guard vault.folder != nil else {
                throw VaultError.unsupported(reason: "the keys of a vault in memory cannot be renewed: it has no files")
            }
            let present = try checked(operation.passcode, as: client)
            let next = try nextPasscode(operation, present)
            let renewal = try vault.keyChange.beginRenewal(from: present, for: authorization)
            do {
                try fill(renewal, authorization, send)
                wasLocked = vault.keys.lockState != .unlocked
                return try vault.keyChange.complete(
                    renewal, from: present, to: next?.key, next?.protection, for: authorization)
            } catch {
                renewal.abandon()
                throw error
            }
        }
        // Forgets the tries, anchors the audit log under the new keys, and stores the public key for files. The renewal
        // has succeeded; if one of these fails, the next unlocking does it.
        if operation.passcode != nil { try? passcodes.tries.forget(vault.keys) }
        if let passcode = operation.next ?? operation.passcode { try? lock.unlock(with: passcode, as: client) }
        // Somebody has locked the vault meanwhile.
        if wasLocked { lock.enter(.locked) }
        if let flush {
            throw .unflushed(
                "the new class keys are in force" + (operation.next == nil ? "" : ", and so is the new passcode"),
                flush,
                "the former ones may be" + (operation.next == nil ? "" : ": keep both passcodes")
                    + "; renew the keys again then")
        }
        return summary
    }

    private func checked(_ passcode: SecretBytes?, as client: Client) throws(VaultError) -> CheckedPasscode? {
        guard let passcode else {
            guard vault.keys.keybag.passcode == nil else {
                throw .invalidRequest(reason: "renewing the keys needs the vault's passcode")
            }
            return nil
        }
        // Checks the audit log up to here under the present keys. It may replace the parameters of the passcode.
        try lock.unlock(with: passcode, as: client)
        return try passcodes.checked(passcode)
    }

    /// Who knows a former keybag and its passcode may have noted what the two give: the passcode gets a new salt, also
    /// if it stays the same. It does not tell of an anchor before there is one under the new keys.
    private func nextPasscode(
        _ operation: RenewKeys, _ present: CheckedPasscode?
    ) throws -> (protection: PasscodeProtection, key: LockedBytes)? {
        guard let present, let passcode = operation.passcode else { return nil }
        guard let next = operation.next else {
            let protection = PasscodeProtection.fresh(
                cost: present.protection.cost, eraseAfter: present.protection.eraseAfter)
            return try protection.guarding(passcode, in: vault.keys.enclave)
        }
        try VaultPasscode.checkNew(next)
        return try PasscodeProtection(operation.options, replacing: present.protection, isAnchored: false)
            .guarding(next, in: vault.keys.enclave)
    }

    private func fill(_ renewal: KeyRenewal, _ authorization: Authorization, _ send: Sink<RenewalProgress>) throws {
        func reading(_ body: (ItemStore.Reader) throws -> Void) throws {
            try CurrentCall.served?.giveWay()
            try vault.reading(for: authorization) { reader, keybag in
                // Another program has renewed the keys, or erased the vault.
                guard keybag.identifier == renewal.former.identifier else { throw VaultError.busy }
                try body(reader)
            }
        }
        var (done, all) = (0, 0)
        try reading { all = try $0.countOfRows() }
        for pass in 0..<Self.mostPasses {
            let copied = try renewal.pass(reading) { count in
                guard pass == 0 else { return }
                done += count
                try send(RenewalProgress(done: done, all: max(done, all)))
            }
            if pass > 0, copied < Self.fewRows { break }
        }
        try renewal.store.endFilling()
    }
}
