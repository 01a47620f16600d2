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
/// The engine is linked into every program and found by its name (`ProcessVault`), so that no module which Apple's
/// names are in imports it. A compiler that reads `Security` reads all that it imports, and the engine imports C
/// libraries, whose headers SwiftPM shows only to those who depend on them: a package that finds
/// `Security` without having asked for it could not be compiled.
package protocol VaultEngine: Vault {
    /// The vault in the folder at `path`; made if there is none.
    ///
    /// - Parameter prompt: Returns how to ask a person; nil for the standard prompt.
    static func openVault(
        at path: String, asking prompt: @escaping @Sendable () -> (any PasscodePrompt)?
    ) throws(VaultError) -> any VaultEngine

    /// Takes what was written in from the log; the vault cannot be used afterwards. Files that were only read
    /// are left to the end of the process.
    ///
    /// For programs that end right away: what they leave in the write-ahead log would be read again by
    /// every program that comes after.
    func close()

    // Its parts. An operation names the one that performs it.
    var items: any ItemKeeping { get }
    var history: any HistoryKeeping { get }
    var maintenance: any VaultMaintaining { get }
    var recovery: any RecoveryKeeping { get }
    var passcode: any PasscodeKeeping { get }
    var renewal: any KeyRenewing { get }
    var lock: any Locking { get }
    var presence: any PersonAsking { get }
    var audit: any AuditReading { get }
    var enclaveKeys: any EnclaveKeyKeeping { get }
    var fileKeys: any FileKeyKeeping { get }
    var backup: any BackupMaking { get }
}

extension VaultEngine {
    package func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: (Operation.Part) throws(VaultError) -> Void
    ) throws(VaultError) -> Operation.Reply {
        try operation.perform(by: self, as: client, send: send)
    }
}

/// Items: storing, finding, changing and deleting them.
package protocol ItemKeeping: Sendable {
    func add(_ operation: AddItem, as client: Client) throws(VaultError) -> StoredItem
    func add(_ operation: AddIdentity, as client: Client) throws(VaultError)
    func copy(
        _ operation: CopyItems, as client: Client, send: (CopyItems.Part) throws(VaultError) -> Void
    ) throws(VaultError)
    func update(_ operation: UpdateItems, as client: Client) throws(VaultError) -> Int
    func delete(_ operation: DeleteItems, as client: Client) throws(VaultError) -> Int
    func put(_ operation: PutItem, as client: Client) throws(VaultError) -> StoredItem
    func exchange(_ operation: ExchangeItem, as client: Client) throws(VaultError) -> Bool
    func receive(_ operation: ReceiveItems, as client: Client) throws(VaultError) -> [StoredItem]
}

/// Versions and changes of items.
package protocol HistoryKeeping: Sendable {
    func changes(
        _ operation: ChangesSince, as client: Client, send: (ChangedItem) throws(VaultError) -> Void
    ) throws(VaultError) -> KnownChanges
    func versions(
        _ operation: CopyVersions, as client: Client, send: (ItemVersion) throws(VaultError) -> Void
    ) throws(VaultError)
    func version(_ operation: CopyVersion, as client: Client) throws(VaultError) -> StoredItem
    func restore(_ operation: RestoreVersion, as client: Client) throws(VaultError) -> StoredItem
    func purge(_ operation: PurgeVersions, as client: Client) throws(VaultError) -> Int
    func keep(_ operation: KeepVersions, as client: Client) throws(VaultError) -> Int
}

/// The vault as a whole: its state, its erasure, damaged items.
package protocol VaultMaintaining: Sendable {
    func status(_ operation: ReadStatus, as client: Client) throws(VaultError) -> VaultStatus
    func erase(_ operation: EraseVault, as client: Client) throws(VaultError)
    func verify(_ operation: VerifyItems, as client: Client) throws(VaultError) -> IntegrityReport
    func deleteDamaged(_ operation: DeleteDamagedItems, as client: Client) throws(VaultError) -> Int
    func condition(_ operation: ReadCondition, as client: Client) throws(VaultError) -> VaultCondition
    func usage(
        _ operation: ReadUsage, as client: Client, send: (GroupUsage) throws(VaultError) -> Void
    ) throws(VaultError)
}

/// The recovery key, and the device secret that is lost.
package protocol RecoveryKeeping: Sendable {
    func putBack(_ operation: PutBackDeviceSecret, as client: Client) throws(VaultError) -> PutBackDeviceSecret.Reply
    func makeKey(_ operation: MakeRecoveryKey, as client: Client) throws(VaultError) -> SecretBytes
    func makeKey(_ operation: MakeFirstRecoveryKey, as client: Client) throws(VaultError) -> SecretBytes
}

/// The passcode.
package protocol PasscodeKeeping: Sendable {
    func set(_ operation: SetPasscode, as client: Client) throws(VaultError)
    func change(_ operation: ChangePasscode, as client: Client) throws(VaultError)
    func remove(_ operation: RemovePasscode, as client: Client) throws(VaultError)
}

/// New class keys.
package protocol KeyRenewing: Sendable {
    func renew(
        _ operation: RenewKeys, as client: Client, send: (RenewalProgress) throws(VaultError) -> Void
    ) throws(VaultError) -> RenewalSummary
}

/// The lock.
package protocol Locking: Sendable {
    func unlock(_ operation: UnlockVault, as client: Client) throws(VaultError)
    func lock(_ operation: LockVault, as client: Client) throws(VaultError)
    func findings(_ operation: ReadUnlockFindings, as client: Client) throws(VaultError) -> UnlockFindings
}

/// Asking a person.
package protocol PersonAsking: Sendable {
    func availability(
        _ operation: ReadPresenceAvailability, as client: Client
    ) throws(VaultError) -> PresenceAvailability
    func authenticate(_ operation: Authenticate, as client: Client) throws(VaultError) -> PresenceProofs
    func end(_ operation: EndContext, as client: Client) throws(VaultError)
}

/// The audit log.
package protocol AuditReading: Sendable {
    func records(
        _ operation: ReadAudit, as client: Client, send: (AuditRecord) throws(VaultError) -> Void
    ) throws(VaultError) -> Int
    func verify(_ operation: VerifyAudit, as client: Client) throws(VaultError) -> AuditReport
}

/// Keys that never leave the enclave.
package protocol EnclaveKeyKeeping: Sendable {
    func make(_ operation: MakeEnclaveKey, as client: Client) throws(VaultError) -> EnclaveKeyRecord
    func use(_ operation: UseEnclaveKey, as client: Client) throws(VaultError) -> Data
}

/// Keys of protected files.
package protocol FileKeyKeeping: Sendable {
    func make(_ operation: MakeFileKey, as client: Client) throws(VaultError) -> FileKey
    func open(_ operation: OpenFileKey, as client: Client) throws(VaultError) -> SecretBytes
    func rewrap(_ operation: RewrapFileKey, as client: Client) throws(VaultError) -> Data
}

/// Backups.
package protocol BackupMaking: Sendable {
    func make(
        _ operation: MakeBackup, as client: Client, send: (Data) throws(VaultError) -> Void
    ) throws(VaultError) -> BackupSummary
}
