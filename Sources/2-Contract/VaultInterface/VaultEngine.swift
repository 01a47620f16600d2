import Access
import Bytes
import FoundationEssentials
import KeychainModel

/// An operation by its number on the wire. A number is never given to another operation. 11 and 29 are subscriptions.
package struct OperationCode: Hashable, Sendable, CaseIterable {
    package let operation: any VaultOperation.Type

    package init(_ operation: any VaultOperation.Type) { self.operation = operation }

    /// Nil for a number without an operation.
    package init?(rawValue: UInt8) {
        guard let code = Self.byNumber[rawValue] else { return nil }
        self = code
    }

    package var rawValue: UInt8 { operation.number }

    package static func == (one: OperationCode, other: OperationCode) -> Bool { one.rawValue == other.rawValue }
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    // A test (`FloorTests`) refuses equal numbers, and an operation that is not in the list.
    private static let byNumber = Dictionary(allCases.map { ($0.rawValue, $0) }) { first, _ in first }

    package static let allCases = operations.map(OperationCode.init)

    private static let operations: [any VaultOperation.Type] = [
        AddItem.self, AddIdentity.self, CopyItems.self, UpdateItems.self, DeleteItems.self, PutItem.self,
        ExchangeItem.self,
        ReadStatus.self, EraseVault.self, VerifyItems.self, SetPasscode.self, ChangePasscode.self, RemovePasscode.self,
        UnlockVault.self, LockVault.self, ReadPresenceAvailability.self, Authenticate.self, EndContext.self,
        DescribeCaller.self, ReadAudit.self, VerifyAudit.self, DeleteDamagedItems.self, MakeEnclaveKey.self,
        UseEnclaveKey.self, MakeFileKey.self, OpenFileKey.self, RewrapFileKey.self, MakeRecoveryKey.self,
        MakeBackup.self,
        ReadUnlockFindings.self, ChangesSince.self, CopyVersions.self, CopyVersion.self, RestoreVersion.self,
        PurgeVersions.self, KeepVersions.self, ReceiveItems.self, RenewKeys.self, ReadCondition.self,
        PutBackDeviceSecret.self, ReadUsage.self, MakeFirstRecoveryKey.self,
        CopyKeyObjects.self, UseKey.self, AddKey.self, StoreCertificate.self, CopyPassword.self,
        ReadCircle.self, ChangeCircle.self, CollectCircleObjects.self, TakeCircleObjects.self,
        ReadCircleConflicts.self, RecordRequest.self, ProposeInCircle.self, AskProposal.self,
    ]
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
    var keys: any KeyUsing { get }
    var fileKeys: any FileKeyKeeping { get }
    var backup: any BackupMaking { get }
    var circle: any CircleKeeping { get }
}

extension VaultEngine {
    package func perform<Operation: VaultOperation>(
        _ operation: Operation, as client: Client, send: Sink<Operation.Part>
    ) throws(VaultError) -> Operation.Reply {
        try operation.perform(by: self, as: client, send: send)
    }
}

/// Items: storing, finding, changing and deleting them.
package protocol ItemKeeping: Sendable {
    func add(_ operation: AddItem, as client: Client) throws(VaultError) -> StoredItem
    func add(_ operation: AddIdentity, as client: Client) throws(VaultError)
    func copy(_ operation: CopyItems, as client: Client, send: Sink<CopyItems.Part>) throws(VaultError)
    func update(_ operation: UpdateItems, as client: Client) throws(VaultError) -> Int
    func delete(_ operation: DeleteItems, as client: Client) throws(VaultError) -> Int
    func put(_ operation: PutItem, as client: Client) throws(VaultError) -> StoredItem
    func exchange(_ operation: ExchangeItem, as client: Client) throws(VaultError) -> Bool
    func receive(_ operation: ReceiveItems, as client: Client) throws(VaultError) -> [StoredItem]
}

/// Versions and changes of items.
package protocol HistoryKeeping: Sendable {
    func changes(
        _ operation: ChangesSince, as client: Client, send: Sink<ChangedItem>
    ) throws(VaultError) -> KnownChanges
    func versions(_ operation: CopyVersions, as client: Client, send: Sink<ItemVersion>) throws(VaultError)
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
    func usage(_ operation: ReadUsage, as client: Client, send: Sink<GroupUsage>) throws(VaultError)
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
        _ operation: RenewKeys, as client: Client, send: Sink<RenewalProgress>
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

/// The circle of vaults that the vault is in.
package protocol CircleKeeping: Sendable {
    func status(_ operation: ReadCircle, as client: Client) throws(VaultError) -> CircleStatus
    func change(_ operation: ChangeCircle, as client: Client) throws(VaultError) -> CircleChanged
    func collect(
        _ operation: CollectCircleObjects, as client: Client, send: Sink<CircleObject>
    ) throws(VaultError) -> CollectedObjects
    func take(_ operation: TakeCircleObjects, as client: Client) throws(VaultError) -> TakenObjects
    func conflicts(
        _ operation: ReadCircleConflicts, as client: Client, send: Sink<CircleConflict>
    ) throws(VaultError)
    func propose(_ operation: ProposeInCircle, as client: Client) throws(VaultError) -> ProposalReply
    func ask(_ operation: AskProposal, as client: Client) throws(VaultError) -> ProposalState
}

/// The audit log.
package protocol AuditReading: Sendable {
    func records(_ operation: ReadAudit, as client: Client, send: Sink<AuditRecord>) throws(VaultError) -> Int
    func verify(_ operation: VerifyAudit, as client: Client) throws(VaultError) -> AuditReport
    func record(_ operation: RecordRequest, as client: Client) throws(VaultError)
}

/// Keys that never leave the enclave.
package protocol EnclaveKeyKeeping: Sendable {
    func make(_ operation: MakeEnclaveKey, as client: Client) throws(VaultError) -> EnclaveKeyRecord
    func use(_ operation: UseEnclaveKey, as client: Client) throws(VaultError) -> Data
}

/// Keys and certificates of the keychain, used where they are.
package protocol KeyUsing: Sendable {
    func copy(_ operation: CopyKeyObjects, as client: Client, send: Sink<KeyObject>) throws(VaultError)
    func use(_ operation: UseKey, as client: Client) throws(VaultError) -> Data
    func add(_ operation: AddKey, as client: Client) throws(VaultError) -> Data
    func store(_ operation: StoreCertificate, as client: Client) throws(VaultError)
    func copy(_ operation: CopyPassword, as client: Client) throws(VaultError) -> Data
}

/// Keys of protected files.
package protocol FileKeyKeeping: Sendable {
    func make(_ operation: MakeFileKey, as client: Client) throws(VaultError) -> FileKey
    func open(_ operation: OpenFileKey, as client: Client) throws(VaultError) -> SecretBytes
    func rewrap(_ operation: RewrapFileKey, as client: Client) throws(VaultError) -> Data
}

/// Backups.
package protocol BackupMaking: Sendable {
    func make(_ operation: MakeBackup, as client: Client, send: Sink<Data>) throws(VaultError) -> BackupSummary
}
