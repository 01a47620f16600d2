import Access
import Bytes
import Enclave
import Keybag
import KeychainModel
import Synchronization
import VaultInterface

/// Unlocks the vault, and locks it now or after a grace.
final class VaultLock: Locking {
    private let vault: OpenedVault
    private let gate: VaultGate
    private let passcodes: PasscodeCheck
    private let fileAgreementKey: FileAgreementKeyFile
    private let authenticator: (any Authenticator)?
    private let afterGrace: VaultSurroundings.Timer
    private let tellFindings: @Sendable (UnlockFindings) -> Void
    private let pending = Mutex(PendingLock())
    private let findings = Mutex(UnlockFindings())

    init(
        _ vault: OpenedVault, _ gate: VaultGate, _ passcodes: PasscodeCheck, _ fileAgreementKey: FileAgreementKeyFile,
        _ surroundings: VaultSurroundings
    ) {
        self.vault = vault
        self.gate = gate
        self.passcodes = passcodes
        self.fileAgreementKey = fileAgreementKey
        authenticator = surroundings.authenticator
        afterGrace = surroundings.afterGrace
        tellFindings = surroundings.tellFindings
    }

    func unlock(_ operation: UnlockVault, as client: Client) throws(VaultError) {
        _ = try gate.authorize(AccessRequest(.unlock), as: client, recordedAs: .unlocked)
        try unlock(with: operation.passcode, as: client)
    }

    /// Unlocks the vault for a client that may do so.
    func unlock(with passcode: SecretBytes, as client: Client) throws(VaultError) {
        let checked: CheckedPasscode
        do throws(VaultError) {
            checked = try passcodes.checked(passcode)
            // Another thread may have changed the passcode since.
            guard checked.unlocked.belong(to: vault.keys) else { throw VaultError.busy }
            checked.unlocked.unlock()
        } catch {
            gate.access.record(.unlockFailed, by: client, failure: AuditFailure(error))
            throw error
        }
        callOff()
        let isAgreementKeyReplaced = fileAgreementKey.update()
        vault.tellLockState()
        authenticator?.passcodeWasGiven()
        gate.access.record(.unlocked, by: client)
        finish(checked.protection, isAgreementKeyReplaced: isAgreementKeyReplaced, as: client) {
            markAsAnchored(checked, passcode)
        }
        // An unlock must not fail for these, such as for a full disk.
        try? vault.upkeep.renewOldDigests()
        try? vault.keyChange.noteStoreSequence(with: checked)
    }

    func findings(_ operation: ReadUnlockFindings, as client: Client) throws(VaultError) -> UnlockFindings {
        _ = try gate.authorize(AccessRequest(.unlock), as: client, recordedAs: .inspected)
        return findings.withLock { $0 }
    }

    /// Ends an unlocking: anchors the audit log, and tells what was found changed.
    ///
    /// Ignores failures, because an unlock must not fail for this: the former anchor stays in force.
    ///
    /// - Parameter mark: Called after the first anchoring.
    func finish(
        _ protection: PasscodeProtection, isAgreementKeyReplaced: Bool, as client: Client, mark: () -> Void = {}
    ) {
        var found = UnlockFindings()
        if isAgreementKeyReplaced {
            found.insert(.agreementKey)
            gate.access.record(.agreementKeyReplaced, by: client)
        }
        switch gate.access.anchor(isExpected: protection.isAnchored) {
        case .impossible: break
        case .done: if !protection.isAnchored { mark() }
        case .doneAfterChange:
            found.insert(.auditLog)
            if !protection.isAnchored { mark() }
        }
        findings.withLock { $0 = found }
        if !found.isEmpty { tellFindings(found) }
    }

    /// Replaces the passcode's parameters by ones that tell of the anchor.
    private func markAsAnchored(_ checked: CheckedPasscode, _ passcode: SecretBytes) {
        let present = checked.protection
        let marked = PasscodeProtection.fresh(cost: present.cost, eraseAfter: present.eraseAfter, isAnchored: true)
        guard let (protection, key) = try? marked.guarding(passcode, in: vault.keys.enclave) else { return }
        _ = try? vault.keyChange.rewrap(from: checked, to: key, protection)
    }

    func lock(_ operation: LockVault, as client: Client) throws(VaultError) {
        let grace = operation.grace
        _ = try gate.authorize(AccessRequest(.lock), as: client, recordedAs: .locked)
        do {
            try vault.takeOverChangedKeybag()
        } catch {
            throw VaultError(error)
        }
        guard vault.keys.keybag.passcode != nil else { throw .passcodeNotSet }
        gate.access.record(.locked, by: client)
        guard grace > .zero else { return lockNow() }
        // An earlier deadline stays: a second request must not keep the vault open longer.
        guard let number = pending.withLock({ $0.start(until: .now + grace) }) else { return }
        if vault.keys.lockState == .unlocked { vault.lockNotifier.tellOfLocking() }
        afterGrace(grace) { [weak self] in
            guard let self, self.pending.withLock({ $0.isCurrent(number) }) else { return }
            self.lockNow()
        }
    }

    private func lockNow() {
        callOff()
        let keys = vault.keys
        if keys.lockState == .unlocked {
            vault.lockNotifier.tellOfLocking()
            keys.enter(.locked)
            vault.tellLockState()
        }
        keys.enclave.forget()
        vault.contexts.forgetGrants()
    }

    /// Calls off a locking that was put off.
    func callOff() { pending.withLock { $0.callOff() } }

    /// Moves to `lockState`, as the device that the vault is on does; see ``ClassKeys/enter(_:)``.
    func enter(_ lockState: LockState) {
        if lockState != .unlocked { vault.lockNotifier.tellOfLocking() }
        vault.keys.enter(lockState)
        if lockState != .unlocked { vault.contexts.forgetGrants() }
        vault.tellLockState()
    }
}

/// A locking that was put off, and whether it still holds.
private struct PendingLock {
    /// Counts what was put off and called off.
    private var number = 0
    private var deadline: ContinuousClock.Instant?

    /// - Returns: What names the locking; nil if one is due before `end` already.
    mutating func start(until end: ContinuousClock.Instant) -> Int? {
        if let deadline, deadline <= end { return nil }
        deadline = end
        number += 1
        return number
    }

    /// An unlocking came in between, or the vault is locked already.
    mutating func callOff() {
        deadline = nil
        number += 1
    }

    func isCurrent(_ number: Int) -> Bool { deadline != nil && self.number == number }
}
