import Access
import FoundationEssentials
import KeyCryptography
import KeychainModel
import StatusCodes
import Vault

/// A vault that asks for the passcode when an operation meets locked items, unlocks, and tries again.
///
/// A command is a program of its own: unless a daemon keeps the vault unlocked, each finds it locked.
final class UnlockingVault: Vault {
    let base: any Vault
    let prompt: any PasscodePrompt

    init(base: any Vault, prompt: any PasscodePrompt) {
        (self.base, self.prompt) = (base, prompt)
    }

    private func unlocking<Result>(
        as client: Client, _ operation: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do {
            return try operation()
        } catch {
            guard case .interactionNotAllowed = error, try isLocked(as: client) else { throw error }
            guard prompt.isAvailable else {
                throw .interactionNotAllowed(
                    reason: "the vault is locked: unlock it with `keychain unlock` if keychaind runs, "
                        + "or give the passcode with --passcode-fd")
            }
            let answer: SecretBytes
            do {
                answer = try PasscodeInput.none.ask("The vault is locked.")
            } catch {
                throw error.status == errSecUserCanceled
                    ? .userCanceled : .interactionNotAllowed(reason: error.message)
            }
            try base.unlock(with: answer, as: client)
            return try operation()
        }
    }

    private func isLocked(as client: Client) throws(VaultError) -> Bool {
        let status = try base.status(as: client)
        return status.isPasscodeSet && status.lockState != .unlocked
    }

    func add(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        try unlocking(as: client) { () throws(VaultError) in try base.add(item, as: client) }
    }

    func addIdentity(certificate: NewItem, key: NewItem, as client: Client) throws(VaultError) {
        try unlocking(as: client) { () throws(VaultError) in
            try base.addIdentity(certificate: certificate, key: key, as: client)
        }
    }

    func copy(_ query: ItemQuery, includingValues: Bool, as client: Client) throws(VaultError) -> [StoredItem] {
        try unlocking(as: client) { () throws(VaultError) in
            try base.copy(query, includingValues: includingValues, as: client)
        }
    }

    func update(_ query: ItemQuery, with changes: ItemChanges, as client: Client) throws(VaultError) -> Int {
        try unlocking(as: client) { () throws(VaultError) in try base.update(query, with: changes, as: client) }
    }

    func delete(_ query: ItemQuery, as client: Client) throws(VaultError) -> Int {
        try unlocking(as: client) { () throws(VaultError) in try base.delete(query, as: client) }
    }

    func put(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        try unlocking(as: client) { () throws(VaultError) in try base.put(item, as: client) }
    }

    func exchange(_ item: NewItem, expecting expected: Data?, as client: Client) throws(VaultError) -> Bool {
        try unlocking(as: client) { () throws(VaultError) in
            try base.exchange(item, expecting: expected, as: client)
        }
    }

    func makeEnclaveKey(
        _ kind: EnclaveKeyKind, accessControl: AccessControl, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> EnclaveKeyRecord {
        try unlocking(as: client) { () throws(VaultError) in
            try base.makeEnclaveKey(kind, accessControl: accessControl, options: options, as: client)
        }
    }

    func useEnclaveKey(
        _ key: EnclaveKeyRecord, for operation: EnclaveKeyOperation, options: AuthenticationOptions,
        as client: Client
    ) throws(VaultError) -> Data {
        try unlocking(as: client) { () throws(VaultError) in
            try base.useEnclaveKey(key, for: operation, options: options, as: client)
        }
    }
}

extension UnlockingVault {
    func makeFileKey(
        for fileClass: FileProtectionClass, file: Data, as client: Client
    ) throws(VaultError) -> FileKey {
        try unlocking(as: client) { () throws(VaultError) in
            try base.makeFileKey(for: fileClass, file: file, as: client)
        }
    }

    func fileKey(
        for fileClass: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> SecretBytes {
        try unlocking(as: client) { () throws(VaultError) in
            try base.fileKey(for: fileClass, file: file, wrapped: wrapped, as: client)
        }
    }

    func rewrapFileKey(
        from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> Data {
        try unlocking(as: client) { () throws(VaultError) in
            try base.rewrapFileKey(from: from, to: to, file: file, wrapped: wrapped, as: client)
        }
    }
}

/// What no lock keeps from being done.
extension UnlockingVault {
    func lockEvents() -> AsyncStream<LockEvent> { base.lockEvents() }

    func observeLocking(_ tell: @escaping @Sendable () -> Void) -> LockObservation { base.observeLocking(tell) }
    func status(as client: Client) throws(VaultError) -> VaultStatus { try base.status(as: client) }
    func erase(as client: Client) throws(VaultError) { try base.erase(as: client) }
    func verify(as client: Client) throws(VaultError) -> IntegrityReport { try base.verify(as: client) }
    func deleteDamaged(as client: Client) throws(VaultError) -> Int { try base.deleteDamaged(as: client) }
    func auditRecords(_ query: AuditQuery, as client: Client) throws(VaultError) -> [AuditRecord] {
        try base.auditRecords(query, as: client)
    }
    func verifyAudit(as client: Client) throws(VaultError) -> AuditReport { try base.verifyAudit(as: client) }
    func changes() -> AsyncStream<VaultChange> { base.changes() }

    func setPasscode(
        _ passcode: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        try base.setPasscode(passcode, options: options, as: client)
    }

    func changePasscode(
        from passcode: SecretBytes, to next: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        try base.changePasscode(from: passcode, to: next, options: options, as: client)
    }

    func removePasscode(_ passcode: SecretBytes, as client: Client) throws(VaultError) {
        try base.removePasscode(passcode, as: client)
    }

    func unlock(with passcode: SecretBytes, as client: Client) throws(VaultError) {
        try base.unlock(with: passcode, as: client)
    }

    func lock(after grace: Duration, as client: Client) throws(VaultError) {
        try base.lock(after: grace, as: client)
    }

    func presenceAvailability(as client: Client) throws(VaultError) -> PresenceAvailability {
        try base.presenceAvailability(as: client)
    }

    func authenticate(
        _ flags: AccessControl.Flags, context: UUID, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> PresenceProofs {
        try base.authenticate(flags, context: context, options: options, as: client)
    }

    func endContext(_ context: UUID, as client: Client) { base.endContext(context, as: client) }
}
