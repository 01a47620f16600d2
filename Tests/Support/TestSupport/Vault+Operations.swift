import Access
import Bytes
import Foundation
import Keybag
import KeychainModel
import VaultInterface

/// The operations as functions. Tests perform hundreds of them, on behalf of several clients of one vault.
extension Vault {
    /// Returns the item as it is stored, with its value.
    package func add(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        try perform(AddItem(item), as: client).withValue(of: item)
    }

    package func addIdentity(certificate: NewItem, key: NewItem, as client: Client) throws(VaultError) {
        try perform(AddIdentity(certificate: certificate, key: key), as: client)
    }

    /// Returns the item as it is stored, with its value.
    package func put(_ item: NewItem, as client: Client) throws(VaultError) -> StoredItem {
        try perform(PutItem(item), as: client).withValue(of: item)
    }

    package func copy(
        _ query: ItemQuery, includingValues: Bool, as client: Client, report: (CopyItems.Part) -> Void = { _ in }
    ) throws(VaultError) -> [StoredItem] {
        try VaultSession(vault: self, client: client)
            .perform(CopyItems(query, includingValues: includingValues), report: report)
    }

    package func update(_ query: ItemQuery, with changes: ItemChanges, as client: Client) throws(VaultError) -> Int {
        try perform(UpdateItems(query, with: changes), as: client)
    }

    package func delete(_ query: ItemQuery, as client: Client) throws(VaultError) -> Int {
        try perform(DeleteItems(query), as: client)
    }

    package func exchange(_ item: NewItem, expecting expected: Data?, as client: Client) throws(VaultError) -> Bool {
        try perform(ExchangeItem(item, expecting: expected), as: client)
    }

    /// Returns what changed after a number, as it is sent.
    package func changes(
        since number: Int64, as client: Client
    ) throws(VaultError) -> (items: [ChangedItem], known: KnownChanges) {
        var items: [ChangedItem] = []
        let known = try perform(ChangesSince(number), as: client) { item throws(VaultError) in items.append(item) }
        return (items, known)
    }

    package func versions(_ query: ItemQuery, as client: Client) throws(VaultError) -> [ItemVersion] {
        try VaultSession(vault: self, client: client).perform(CopyVersions(query))
    }

    package func version(_ number: Int64, of query: ItemQuery, as client: Client) throws(VaultError) -> StoredItem {
        try perform(CopyVersion(query, version: number), as: client)
    }

    /// Returns the item as it is now, without its value.
    package func restore(_ version: Int64?, of query: ItemQuery, as client: Client) throws(VaultError) -> StoredItem {
        try perform(RestoreVersion(query, version: version), as: client)
    }

    package func purge(_ query: ItemQuery?, as client: Client) throws(VaultError) -> Int {
        try perform(PurgeVersions(query), as: client)
    }

    package func keepVersions(_ count: Int?, as client: Client) throws(VaultError) -> Int {
        try perform(KeepVersions(count), as: client)
    }

    package func status(as client: Client) throws(VaultError) -> VaultStatus {
        try perform(ReadStatus(), as: client)
    }

    package func erase(as client: Client) throws(VaultError) {
        try perform(EraseVault(), as: client)
    }

    package func verify(as client: Client) throws(VaultError) -> IntegrityReport {
        try perform(VerifyItems(), as: client)
    }

    package func deleteDamaged(as client: Client) throws(VaultError) -> Int {
        try perform(DeleteDamagedItems(), as: client)
    }

    package func setPasscode(
        _ passcode: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        try perform(SetPasscode(passcode, options: options), as: client)
    }

    package func changePasscode(
        from passcode: SecretBytes, to next: SecretBytes, options: PasscodeOptions, as client: Client
    ) throws(VaultError) {
        try perform(ChangePasscode(from: passcode, to: next, options: options), as: client)
    }

    package func removePasscode(_ passcode: SecretBytes, as client: Client) throws(VaultError) {
        try perform(RemovePasscode(passcode), as: client)
    }

    package func unlock(with passcode: SecretBytes, as client: Client) throws(VaultError) {
        try perform(UnlockVault(with: passcode), as: client)
    }

    package func lock(after grace: Duration, as client: Client) throws(VaultError) {
        try perform(LockVault(after: grace), as: client)
    }

    package func presenceAvailability(as client: Client) throws(VaultError) -> PresenceAvailability {
        try perform(ReadPresenceAvailability(), as: client)
    }

    package func authenticate(
        _ flags: AccessControl.Flags, context: UUID, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> PresenceProofs {
        try perform(Authenticate(flags, context: context, options: options), as: client)
    }

    package func endContext(_ context: UUID, as client: Client) {
        _ = try? perform(EndContext(context), as: client)
    }

    package func auditRecords(_ query: AuditQuery, as client: Client) throws(VaultError) -> [AuditRecord] {
        try VaultSession(vault: self, client: client).perform(ReadAudit(query)).records
    }

    package func makeRecoveryKey(as client: Client) throws -> RecoveryKey {
        try perform(MakeRecoveryKey(), as: client).text.withUnsafeBytes { try RecoveryKey(typed: $0) }
    }

    /// Returns the bytes of a backup, and what is in it.
    package func makeBackup(
        _ seal: BackupSeal, as client: Client
    ) throws(VaultError) -> (bytes: Data, summary: BackupSummary) {
        var bytes = Data()
        let summary = try perform(MakeBackup(seal), as: client) { part throws(VaultError) in bytes += part }
        return (bytes, summary)
    }

    /// Renews the class keys.
    @discardableResult
    package func renewKeys(
        _ passcode: String? = nil, next: String? = nil, as client: Client = .owner
    ) throws -> RenewalSummary {
        let operation = RenewKeys(
            passcode: try passcode.map { try SecretBytes($0) }, next: try next.map { try SecretBytes($0) },
            options: .cheapest)
        return try perform(operation, as: client) { _ in }
    }

    package func verifyAudit(as client: Client) throws(VaultError) -> AuditReport {
        try perform(VerifyAudit(), as: client)
    }

    package func makeEnclaveKey(
        _ kind: EnclaveKeyKind, accessControl: AccessControl, options: AuthenticationOptions, as client: Client
    ) throws(VaultError) -> EnclaveKeyRecord {
        try perform(MakeEnclaveKey(kind, accessControl: accessControl, options: options), as: client)
    }

    package func useEnclaveKey(
        _ key: EnclaveKeyRecord, for operation: EnclaveKeyOperation, options: AuthenticationOptions,
        as client: Client
    ) throws(VaultError) -> Data {
        try perform(UseEnclaveKey(key, for: operation, options: options), as: client)
    }

    package func makeFileKey(
        for fileClass: FileProtectionClass, file: Data, as client: Client
    ) throws(VaultError) -> FileKey {
        try perform(MakeFileKey(for: fileClass, file: file), as: client)
    }

    package func fileKey(
        for fileClass: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> SecretBytes {
        try perform(OpenFileKey(for: fileClass, file: file, wrapped: wrapped), as: client).key
    }

    package func rewrapFileKey(
        from present: FileProtectionClass, to next: FileProtectionClass, file: Data, wrapped: Data, as client: Client
    ) throws(VaultError) -> Data {
        try perform(RewrapFileKey(from: present, to: next, file: file, wrapped: wrapped), as: client)
    }
}

extension StoredItem {
    /// A vault does not send a value back to the caller who gave it.
    fileprivate func withValue(of item: NewItem) -> StoredItem {
        var copy = self
        copy.value = item.value ?? value
        return copy
    }
}
