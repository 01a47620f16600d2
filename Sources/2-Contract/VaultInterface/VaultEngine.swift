import Access
import Bytes
import FoundationEssentials
import KeychainModel

/// Every operation that goes over the wire, by its number. A number is never given to another operation.
package enum OperationCode: UInt8, Sendable, CaseIterable {
    case addItem = 1
    case addIdentity = 2
    case copyItems = 3
    case updateItems = 4
    case deleteItems = 5
    case putItem = 6
    case exchangeItem = 7
    case readStatus = 8
    case eraseVault = 9
    case verifyItems = 10
    // 11 is `VaultSubscription.changes`.
    case setPasscode = 12
    case changePasscode = 13
    case removePasscode = 14
    case unlockVault = 15
    case lockVault = 16
    case readPresenceAvailability = 17
    case authenticate = 18
    case endContext = 19
    case describeCaller = 20
    case readAudit = 21
    case verifyAudit = 22
    case deleteDamagedItems = 23
    case makeEnclaveKey = 24
    case useEnclaveKey = 25
    case makeFileKey = 26
    case openFileKey = 27
    case rewrapFileKey = 28
    // 29 is `VaultSubscription.lockEvents`.
    case makeRecoveryKey = 30
    case makeBackup = 31
    case readUnlockFindings = 32
    case changesSince = 33
    case copyVersions = 34
    case copyVersion = 35
    case restoreVersion = 36
    case purgeVersions = 37
    case keepVersions = 38
    case receiveItems = 39
    case renewKeys = 40
    case readCondition = 41
    case putBackDeviceSecret = 42
    case readUsage = 43
    case makeFirstRecoveryKey = 44

    package var operation: any VaultOperation.Type {
        switch self {
        case .addItem: AddItem.self
        case .addIdentity: AddIdentity.self
        case .copyItems: CopyItems.self
        case .updateItems: UpdateItems.self
        case .deleteItems: DeleteItems.self
        case .putItem: PutItem.self
        case .exchangeItem: ExchangeItem.self
        case .readStatus: ReadStatus.self
        case .eraseVault: EraseVault.self
        case .verifyItems: VerifyItems.self
        case .setPasscode: SetPasscode.self
        case .changePasscode: ChangePasscode.self
        case .removePasscode: RemovePasscode.self
        case .unlockVault: UnlockVault.self
        case .lockVault: LockVault.self
        case .readPresenceAvailability: ReadPresenceAvailability.self
        case .authenticate: Authenticate.self
        case .endContext: EndContext.self
        case .describeCaller: DescribeCaller.self
        case .readAudit: ReadAudit.self
        case .verifyAudit: VerifyAudit.self
        case .deleteDamagedItems: DeleteDamagedItems.self
        case .makeEnclaveKey: MakeEnclaveKey.self
        case .useEnclaveKey: UseEnclaveKey.self
        case .makeFileKey: MakeFileKey.self
        case .openFileKey: OpenFileKey.self
        case .rewrapFileKey: RewrapFileKey.self
        case .makeRecoveryKey: MakeRecoveryKey.self
        case .makeBackup: MakeBackup.self
        case .readUnlockFindings: ReadUnlockFindings.self
        case .changesSince: ChangesSince.self
        case .copyVersions: CopyVersions.self
        case .copyVersion: CopyVersion.self
        case .restoreVersion: RestoreVersion.self
        case .purgeVersions: PurgeVersions.self
        case .keepVersions: KeepVersions.self
        case .receiveItems: ReceiveItems.self
        case .renewKeys: RenewKeys.self
        case .readCondition: ReadCondition.self
        case .putBackDeviceSecret: PutBackDeviceSecret.self
        case .readUsage: ReadUsage.self
        case .makeFirstRecoveryKey: MakeFirstRecoveryKey.self
        }
    }
}

/// What performs the operations: the engine, in whatever process it runs.
///
/// The engine is linked into every program and found by its name (``ProcessVault``), so that no module which Apple's
/// names are in imports it. A compiler that reads `Security` reads all that it imports, and the engine imports C
/// libraries, whose headers SwiftPM shows only to those who depend on them: a package that finds
/// `Security` without having asked for it could not be compiled.
package protocol VaultEngine: Vault {
    /// The vault in the folder at `path`; made if there is none.
    static func openVault(at path: String) throws(VaultError) -> any VaultEngine

    /// Takes what was written in from the log; the vault cannot be used afterwards. Files that were only read
    /// are left to the end of the process.
    ///
    /// For programs that end right away: what they leave in the write-ahead log would be read again by
    /// every program that comes after.
    func close()

    // Each operation's own function. The label `for` keeps the generic functions of ``Vault`` from standing in for one
    // that is missing.

    // Items.
    func perform(_ operation: AddItem, for client: Client) throws(VaultError) -> StoredItem
    func perform(_ operation: AddIdentity, for client: Client) throws(VaultError)
    func perform(
        _ operation: CopyItems, for client: Client, send: (CopyItems.Part) throws(VaultError) -> Void
    ) throws(VaultError)
    func perform(_ operation: UpdateItems, for client: Client) throws(VaultError) -> Int
    func perform(_ operation: DeleteItems, for client: Client) throws(VaultError) -> Int
    func perform(_ operation: PutItem, for client: Client) throws(VaultError) -> StoredItem
    func perform(_ operation: ExchangeItem, for client: Client) throws(VaultError) -> Bool
    func perform(_ operation: ReceiveItems, for client: Client) throws(VaultError) -> [StoredItem]

    // Versions and changes of items.
    func perform(
        _ operation: ChangesSince, for client: Client, send: (ChangedItem) throws(VaultError) -> Void
    ) throws(VaultError) -> KnownChanges
    func perform(
        _ operation: CopyVersions, for client: Client, send: (ItemVersion) throws(VaultError) -> Void
    ) throws(VaultError)
    func perform(_ operation: CopyVersion, for client: Client) throws(VaultError) -> StoredItem
    func perform(_ operation: RestoreVersion, for client: Client) throws(VaultError) -> StoredItem
    func perform(_ operation: PurgeVersions, for client: Client) throws(VaultError) -> Int
    func perform(_ operation: KeepVersions, for client: Client) throws(VaultError) -> Int

    // The vault as a whole.
    func perform(_ operation: ReadStatus, for client: Client) throws(VaultError) -> VaultStatus
    func perform(_ operation: EraseVault, for client: Client) throws(VaultError)
    func perform(_ operation: VerifyItems, for client: Client) throws(VaultError) -> IntegrityReport
    func perform(_ operation: DeleteDamagedItems, for client: Client) throws(VaultError) -> Int
    func perform(_ operation: ReadCondition, for client: Client) throws(VaultError) -> VaultCondition
    func perform(
        _ operation: ReadUsage, for client: Client, send: (GroupUsage) throws(VaultError) -> Void
    ) throws(VaultError)
    func perform(_ operation: PutBackDeviceSecret, for client: Client) throws(VaultError) -> PutBackDeviceSecret.Reply
    func perform(_ operation: MakeRecoveryKey, for client: Client) throws(VaultError) -> SecretBytes
    func perform(_ operation: MakeFirstRecoveryKey, for client: Client) throws(VaultError) -> SecretBytes
    func perform(
        _ operation: MakeBackup, for client: Client, send: (Data) throws(VaultError) -> Void
    ) throws(VaultError) -> BackupSummary
    func perform(
        _ operation: RenewKeys, for client: Client, send: (RenewalProgress) throws(VaultError) -> Void
    ) throws(VaultError) -> RenewalSummary

    // The passcode and the lock.
    func perform(_ operation: SetPasscode, for client: Client) throws(VaultError)
    func perform(_ operation: ChangePasscode, for client: Client) throws(VaultError)
    func perform(_ operation: RemovePasscode, for client: Client) throws(VaultError)
    func perform(_ operation: UnlockVault, for client: Client) throws(VaultError)
    func perform(_ operation: LockVault, for client: Client) throws(VaultError)
    func perform(_ operation: ReadUnlockFindings, for client: Client) throws(VaultError) -> UnlockFindings

    // Asking a person.
    func perform(_ operation: ReadPresenceAvailability, for client: Client) throws(VaultError) -> PresenceAvailability
    func perform(_ operation: Authenticate, for client: Client) throws(VaultError) -> PresenceProofs
    func perform(_ operation: EndContext, for client: Client) throws(VaultError)

    // The audit log.
    func perform(
        _ operation: ReadAudit, for client: Client, send: (AuditRecord) throws(VaultError) -> Void
    ) throws(VaultError) -> Int
    func perform(_ operation: VerifyAudit, for client: Client) throws(VaultError) -> AuditReport

    // Keys of the enclave, and of protected files.
    func perform(_ operation: MakeEnclaveKey, for client: Client) throws(VaultError) -> EnclaveKeyRecord
    func perform(_ operation: UseEnclaveKey, for client: Client) throws(VaultError) -> Data
    func perform(_ operation: MakeFileKey, for client: Client) throws(VaultError) -> FileKey
    func perform(_ operation: OpenFileKey, for client: Client) throws(VaultError) -> SecretBytes
    func perform(_ operation: RewrapFileKey, for client: Client) throws(VaultError) -> Data
}

extension VaultEngine {
    package func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: (Operation.Part) throws(VaultError) -> Void
    ) throws(VaultError) -> Operation.Reply {
        try operation.perform(by: self, as: client, send: send)
    }
}
