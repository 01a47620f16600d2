import Access
import Bytes
import Enclave
import Keybag
import KeychainModel
import Synchronization
import VaultInterface

/// The vault engine in the caller's process. It takes every decision about items: each operation is performed by the
/// part whose job it is.
package final class EmbeddedVault: VaultEngine {
    let vault: OpenedVault
    private let access: AccessGate
    private let tries: PasscodeGuard
    private let vaultItems: VaultItems
    package var items: any ItemKeeping { vaultItems }
    package var keys: any KeyUsing { VaultKeyring(engine: self, items: vaultItems) }
    package let history: any HistoryKeeping
    package let maintenance: any VaultMaintaining
    package let renewal: any KeyRenewing
    package let presence: any PersonAsking
    package let audit: any AuditReading
    package let enclaveKeys: any EnclaveKeyKeeping
    package let fileKeys: any FileKeyKeeping
    private let vaultLock: VaultLock
    private let vaultPasscode: VaultPasscode
    private let vaultRecovery: VaultRecovery
    private let vaultBackup: VaultBackup
    package let circle: any CircleKeeping
    package var lock: any Locking { vaultLock }
    package var passcode: any PasscodeKeeping { vaultPasscode }
    package var recovery: any RecoveryKeeping { vaultRecovery }
    package var backup: any BackupMaking { vaultBackup }

    private init(_ vault: OpenedVault, _ surroundings: VaultSurroundings) {
        self.vault = vault
        access = AccessGate(audit: surroundings.audit)
        let passcodes = PasscodeCheck(vault, clock: surroundings.bootClock)
        tries = passcodes.tries
        let presence = VaultPresence(access, vault.contexts, passcodes, surroundings)
        self.presence = presence
        let gate = VaultGate(access, vault, presence)
        let items = VaultItems(vault: vault, gate: gate, now: surroundings.now)
        vaultItems = items
        history = VaultHistory(vault: vault, gate: gate, items: items, now: surroundings.now)
        maintenance = VaultMaintenance(
            vault: vault, gate: gate, tries: passcodes.tries, otherProblems: surroundings.otherProblems,
            quota: surroundings.quota)
        let fileAgreementKey = FileAgreementKeyFile(vault: vault)
        vaultLock = VaultLock(vault, gate, passcodes, fileAgreementKey, surroundings)
        vaultPasscode = VaultPasscode(
            vault: vault, gate: gate, passcodes: passcodes, lock: vaultLock, fileAgreementKey: fileAgreementKey)
        enclaveKeys = VaultEnclaveKeys(vault: vault, gate: gate)
        fileKeys = VaultFileKeys(vault: vault, gate: gate, agreementKey: fileAgreementKey)
        vaultRecovery = VaultRecovery(vault: vault, gate: gate)
        renewal = VaultRenewal(vault: vault, gate: gate, passcodes: passcodes, lock: vaultLock)
        vaultBackup = VaultBackup(vault, gate, now: surroundings.now)
        circle = VaultCircle(vault, gate, now: surroundings.now)
        let audit = VaultAudit(vault: vault, gate: gate)
        self.audit = audit
        audit.begin(surroundings)
    }

    // MARK: Opening and closing

    private static let takingOverObserver = Mutex<(@Sendable (_ done: Int, _ all: Int) -> Void)?>(nil)

    /// Has `tell` receive how many items of a vault of the format before are copied, and how many there are, whenever
    /// this process opens such a vault.
    package static func observeTakingOver(_ tell: @escaping @Sendable (_ done: Int, _ all: Int) -> Void) {
        takingOverObserver.withLock { $0 = tell }
    }

    static func tellOfTakingOver(_ done: Int, _ all: Int) { takingOverObserver.withLock { $0 }?(done, all) }

    /// The vault in the folder at `path`; made if there is none.
    ///
    /// - Parameters:
    ///   - kind: The kind of enclave of the vault; nil for the vault's present kind, or for software in a new vault.
    ///   - detectsRollback: Whether a new vault refuses a keybag that is older than the last; takes an enclave with
    ///     counters.
    ///   - enclaves: Where the enclaves of this machine are.
    /// - Throws: ``VaultError/unusableVault(reason:)`` and its like, each with what to do. Nothing is
    ///   ever replaced to get going.
    package static func open(
        at path: String, in kind: EnclaveKind? = nil, detectsRollback: Bool = false,
        enclaves: EnclavePlace = .environment, surroundings: VaultSurroundings = VaultSurroundings()
    ) throws(VaultError) -> EmbeddedVault {
        do {
            let vault = try VaultFolder.open(at: path, in: kind, detectsRollback: detectsRollback, enclaves: enclaves)
            // Who may only read can go on without.
            try? vault.upkeep.renewDigestsFoundAtOpening()
            return EmbeddedVault(vault, surroundings)
        } catch {
            throw VaultError(error)
        }
    }

    /// Returns a vault in memory, which ends with this object.
    package static func inMemory(
        keys: ClassKeys, surroundings: VaultSurroundings = VaultSurroundings()
    ) throws(VaultError) -> EmbeddedVault {
        do {
            return EmbeddedVault(try OpenedVault.inMemory(keys), surroundings)
        } catch {
            throw VaultError(error)
        }
    }

    /// Opens the vault in the folder at `path` as a program without a daemon does: asks the process's own user, and
    /// keeps the vault's audit log.
    package static func openVault(
        at path: String, asking prompt: @escaping @Sendable () -> (any PasscodePrompt)?
    ) throws(VaultError) -> any VaultEngine {
        let surroundings = VaultSurroundings(
            authenticator: ProcessAuthenticator(folder: path, asking: prompt), audit: VaultAudit.sink(forVaultAt: path))
        return try open(at: path, surroundings: surroundings)
    }

    /// Puts the vault in the folder at `path` into a fresh enclave, without a passcode.
    ///
    /// Items that were for the lost device only are lost: there is no key for them. All other items stay. If the
    /// recovery is interrupted, do it again.
    ///
    /// - Returns: The vault, and how many items were lost; see ``itemsLost(recovering:with:enclaves:)``.
    package static func recover(
        at path: String, with key: RecoveryKey, in kind: EnclaveKind, detectsRollback: Bool = false,
        enclaves: EnclavePlace = .environment, as client: Client
    ) throws(VaultError) -> (vault: EmbeddedVault, lostItems: Int) {
        try VaultRecovery.restoreKeys(
            at: path, with: key, in: kind, detectsRollback: detectsRollback, enclaves: enclaves)
        let surroundings = VaultSurroundings(audit: VaultAudit.sink(forVaultAt: path))
        let vault = try open(at: path, in: kind, enclaves: enclaves, surroundings: surroundings)
        return (vault, try vault.vaultRecovery.finish(as: client))
    }

    /// Returns how many items of each class ``recover(at:with:in:detectsRollback:enclaves:as:)`` would lose. Changes
    /// nothing.
    ///
    /// Their attributes are sealed under the keys that are lost, so nothing more can be said of them.
    package static func itemsLost(
        recovering path: String, with key: RecoveryKey, enclaves: EnclavePlace = .environment
    ) throws(VaultError) -> [ItemClass: Int] {
        try VaultRecovery.itemsLost(at: path, with: key, enclaves: enclaves)
    }

    /// Returns whether the vault in the folder at `path` opens on this device with a passcode, which
    /// ``recover(at:with:in:detectsRollback:enclaves:as:)`` removes.
    package static func removesPasscode(
        recovering path: String, enclaves: EnclavePlace = .environment
    ) throws(VaultError) -> Bool {
        try VaultRecovery.removesPasscode(at: path, enclaves: enclaves)
    }

    /// Makes a vault in memory from a backup, in an enclave in software.
    package static func inMemory(
        restoring backup: BackupReader, with key: RecoveryKey, surroundings: VaultSurroundings
    ) throws(VaultError) -> EmbeddedVault {
        do {
            let enclave = try SoftwareEnclave()
            let keybag = try backup.record(openedWith: key).restored(in: enclave, with: key)
            let vault = try OpenedVault.inMemory(ClassKeys(keybag, in: enclave))
            _ = try BackupRestore.fill(vault, from: backup)
            return EmbeddedVault(vault, surroundings)
        } catch {
            throw VaultError(error)
        }
    }

    package func close() {
        access.flush()
        vault.close()
    }

    // MARK: Changes

    package func changes(to audience: @escaping @Sendable () -> ChangeAudience) -> AsyncStream<VaultChange> {
        vault.changes(to: audience)
    }

    // MARK: The passcode and the lock

    package func lockEvents() -> AsyncStream<LockEvent> { vault.lockNotifier.stream() }

    package func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation {
        vault.lockNotifier.observe(tell)
    }

    package var lockState: LockState { vault.keys.lockState }

    /// The number of wrong passcodes since the last right one; nil if it cannot be read.
    package var failedAttempts: Int? {
        guard vault.keys.keybag.passcode != nil else { return 0 }
        return (try? tries.state(vault.keys).failures).map(Int.init)
    }

    /// Whether the device secret is in its place.
    package var couldBeOpenedAgain: Bool {
        do {
            return try vault.deviceSecretProblem() == nil
        } catch {
            return false
        }
    }

    /// Moves to `lockState`; see ``ClassKeys/enter(_:)``.
    package func enter(_ lockState: LockState) { vaultLock.enter(lockState) }

    package var hasPasscodeClass: Bool { vault.keys.hasPasscodeClass }

    /// Gives the passcode-only class a fresh key, or destroys its key and deletes every item of that class, because
    /// nothing can open their rows again.
    package func setPasscodeClass(present: Bool) throws(VaultError) { try vaultPasscode.setClass(present: present) }

    // MARK: The enclave and its loss

    package var enclaveKind: EnclaveKind { vault.keys.keybag.enclaveKind }

    /// Whether the vault detects an older copy of the keybag.
    package var detectsRollback: Bool { vault.keys.keybag.freshness != nil }

    /// Returns the lockout that ``takeLockout(_:)`` would set up: with a fresh password, unless the lockout has an
    /// owner already.
    ///
    /// - Returns: Nil for an enclave without such a guard.
    package func plannedLockout() throws(VaultError) -> EnclaveLockout? {
        try EnclaveLockout.planned(in: vault.keys.enclave)
    }

    /// Becomes the owner of a lockout that has none. Only the password can undo this, so the person must have it
    /// before.
    ///
    /// - Returns: False if the lockout has an owner by now.
    package func takeLockout(_ lockout: EnclaveLockout) throws(VaultError) -> Bool {
        try lockout.take(in: vault.keys.enclave)
    }

    // MARK: Backups

    /// Opens all of a backup, and keeps nothing.
    ///
    /// - Parameter key: The recovery key, or the stretched password.
    package static func verify(_ backup: BackupReader, with key: RecoveryKey) throws(VaultError) -> BackupSummary {
        do {
            return try BackupRestore.verify(backup, with: key)
        } catch {
            throw VaultError(error)
        }
    }

    /// Opens all of a backup that only this vault opens, and keeps nothing.
    package func verify(_ backup: BackupReader, as client: Client) throws(VaultError) -> BackupSummary {
        try vaultBackup.verify(backup, as: client)
    }

    /// Makes a vault from a backup, in a folder at `path` that is absent or has no files. The vault gets a new device
    /// secret and no passcode.
    ///
    /// - Parameters:
    ///   - key: The recovery key, or the stretched password.
    ///   - kind: The kind of enclave of the new vault.
    ///   - detectsRollback: Whether the new vault refuses a keybag that is older than the last.
    package static func restore(
        _ backup: BackupReader, with key: RecoveryKey, to path: String, in kind: EnclaveKind,
        detectsRollback: Bool = false, enclaves: EnclavePlace = .environment
    ) throws(VaultError) -> BackupSummary {
        do {
            return try BackupRestore.restore(
                backup, with: key, to: path, in: kind, detectsRollback: detectsRollback, enclaves: enclaves)
        } catch {
            throw VaultError(error)
        }
    }

    /// Brings back the items of a backup that only this vault opens. An item that is there stays if it is as new as the
    /// one in the backup, or newer.
    ///
    /// - Parameter open: Begins to read the backup; it may be called more than once.
    /// - Throws: ``VaultError/interactionNotAllowed(reason:)`` unless the vault is unlocked.
    package func restore(
        _ open: () throws -> BackupReader, as client: Client
    ) throws(VaultError) -> BackupSummary {
        try vaultBackup.restore(open, as: client)
    }
}
