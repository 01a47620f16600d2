import Access
import Bytes
import Items
import Keybag
import KeychainModel
import SecureMemory
import VaultInterface

/// Renews the class keys.
struct VaultRenewal: Sendable {
    let vault: OpenedVault
    let gate: VaultGate
    let passcodes: PasscodeCheck
    let lock: VaultLock

    /// Passes over the rows before the last one, which makes others wait: each finds what was changed during the one
    /// before.
    private static let mostPasses = 8
    /// The last pass copies about as many rows in less than a tenth of a second.
    private static let fewRows = 500

    func perform(
        _ operation: RenewKeys, as client: Client, send: (RenewalProgress) throws(VaultError) -> Void
    ) throws(VaultError) -> RenewalSummary {
        let request = AccessRequest(.passcode, isAboutWholeVault: true)
        let authorization = try gate.authorize(request, as: client, recordedAs: .keysRenewed)
        let summary = try gate.perform(authorization) {
            try vault.takeOverChangedKeybag()
            guard let folder = vault.folder else {
                throw VaultError.unsupported(reason: "a vault in memory keeps its keys until it ends")
            }
            let present = try checked(operation.passcode, as: client)
            let next = try nextPasscode(operation, present)
            let hadRecoveryKey = try folder.recoveryKeyState() != .absent
            let renewal = try vault.beginRenewal(from: present, for: authorization)
            do {
                try fill(renewal, authorization, send)
                try vault.complete(
                    renewal, from: present, to: next?.key, next?.protection, for: authorization)
            } catch {
                renewal.abandon()
                throw error
            }
            if next != nil { try passcodes.tries.forget(vault.keys) }
            let counts = try renewal.counts()
            return RenewalSummary(
                items: counts.items, formerVersions: counts.formerVersions, hadRecoveryKey: hadRecoveryKey)
        }
        // Anchors the audit log under the new keys, and stores the public key for files. The keys are in force, and
        // whatever of this fails, the next unlocking does.
        if let passcode = operation.next ?? operation.passcode { try? lock.unlock(with: passcode, as: client) }
        return summary
    }

    private func checked(_ passcode: SecretBytes?, as client: Client) throws(VaultError) -> CheckedPasscode? {
        guard let passcode else {
            guard vault.keys.keybag.passcode == nil else {
                throw .invalidRequest(reason: "the vault has a passcode, without which its keys cannot be renewed")
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
        return try PasscodeProtection(operation.options, isAnchored: false).guarding(next, in: vault.keys.enclave)
    }

    private func fill(
        _ renewal: KeyRenewal, _ authorization: Authorization,
        _ send: (RenewalProgress) throws(VaultError) -> Void
    ) throws {
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
