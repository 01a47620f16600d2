import Access
import FoundationEssentials
import KeychainModel
import VaultInterface

/// What a client asks for.
package enum WireRequest: Sendable {
    case add(NewItem)
    case addIdentity(certificate: NewItem, key: NewItem)
    case copy(ItemQuery, includingValues: Bool, SearchReports)
    case update(ItemQuery, ItemChanges)
    case delete(ItemQuery)
    case put(NewItem)
    case exchange(NewItem, expected: Data?)
    case status
    case erase
    case verify
    /// From now on the connection only tells of changes.
    case changes
    case setPasscode(SecretBytes, PasscodeOptions)
    case changePasscode(SecretBytes, to: SecretBytes, PasscodeOptions)
    case removePasscode(SecretBytes)
    case unlock(SecretBytes)
    case lock(after: Duration)
    case presenceAvailability
    case authenticate(AccessControl.Flags, context: UUID, AuthenticationOptions)
    case endContext(UUID)
    case describeCaller
    case auditRecords(AuditQuery)
    case verifyAudit
    case makeEnclaveKey(EnclaveKeyKind, AccessControl, AuthenticationOptions)
    case useEnclaveKey(EnclaveKeyRecord, EnclaveKeyOperation, AuthenticationOptions)
    case deleteDamaged
    case makeFileKey(FileProtectionClass, file: Data)
    case fileKey(FileProtectionClass, file: Data, wrapped: Data)
    case rewrapFileKey(FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data)
    /// From now on the connection only tells of the lock.
    case lockEvents

    /// The number that stands for the operation.
    package var code: UInt8 {
        switch self {
        case .add: 1
        case .addIdentity: 2
        case .copy: 3
        case .update: 4
        case .delete: 5
        case .put: 6
        case .exchange: 7
        case .status: 8
        case .erase: 9
        case .verify: 10
        case .changes: 11
        case .setPasscode: 12
        case .changePasscode: 13
        case .removePasscode: 14
        case .unlock: 15
        case .lock: 16
        case .presenceAvailability: 17
        case .authenticate: 18
        case .endContext: 19
        case .describeCaller: 20
        case .auditRecords: 21
        case .verifyAudit: 22
        case .makeEnclaveKey: 24
        case .useEnclaveKey: 25
        case .deleteDamaged: 23
        case .makeFileKey: 26
        case .fileKey: 27
        case .rewrapFileKey: 28
        case .lockEvents: 29
        }
    }

    /// The operation's name in logs and metrics.
    package var name: String {
        switch self {
        case .add: "add"
        case .addIdentity: "add-identity"
        case .copy: "copy"
        case .update: "update"
        case .delete: "delete"
        case .put: "put"
        case .exchange: "exchange"
        case .status: "status"
        case .erase: "erase"
        case .verify: "verify"
        case .changes: "changes"
        case .setPasscode: "set-passcode"
        case .changePasscode: "change-passcode"
        case .removePasscode: "remove-passcode"
        case .unlock: "unlock"
        case .lock: "lock"
        case .presenceAvailability: "presence-availability"
        case .authenticate: "authenticate"
        case .endContext: "end-context"
        case .describeCaller: "describe-caller"
        case .auditRecords: "audit-records"
        case .verifyAudit: "verify-audit"
        case .makeEnclaveKey: "make-enclave-key"
        case .useEnclaveKey: "use-enclave-key"
        case .deleteDamaged: "delete-damaged"
        case .makeFileKey: "make-file-key"
        case .fileKey: "open-file-key"
        case .rewrapFileKey: "rewrap-file-key"
        case .lockEvents: "lock-events"
        }
    }

    /// How a person may be asked on the way.
    package var authentication: AuthenticationOptions? {
        switch self {
        case .add(let item), .put(let item), .exchange(let item, _): item.authentication
        case .addIdentity(let certificate, _): certificate.authentication
        case .copy(let query, _, _), .update(let query, _), .delete(let query): query.authentication
        case .authenticate(_, _, let options): options
        default: nil
        }
    }

    /// Whether doing it twice is the same as once, so that it may be sent again when the first answer
    /// was lost.
    package var isRepeatable: Bool {
        switch self {
        case .copy, .status, .verify, .changes, .presenceAvailability, .describeCaller, .lock, .endContext,
            .auditRecords, .verifyAudit, .deleteDamaged, .makeFileKey, .fileKey, .rewrapFileKey, .lockEvents:
            true
        default: false
        }
    }
}

/// A request and on whose behalf it is.
package struct WireCall: Sendable {
    package var request: WireRequest
    /// Who the client says it is: the server grants what is both claimed here and held there.
    package var claim: Client
    /// Whether the client could put a question to a person.
    package var canAsk: Bool

    package init(_ request: WireRequest, claim: Client, canAsk: Bool) {
        self.request = request
        self.claim = claim
        self.canAsk = canAsk
    }

    package func encode(to buffer: WireBuffer) {
        buffer.append(request.code)
        buffer.append(canAsk)
        buffer.append(claim.identifier)
        buffer.append(list: claim.accessGroups) { buffer.append($0) }
        switch request {
        case .add(let item), .put(let item):
            buffer.append(item)
        case .addIdentity(let certificate, let key):
            buffer.append(certificate)
            buffer.append(key)
        case .copy(let query, let includingValues, _):
            buffer.append(query)
            buffer.append(includingValues)
        case .update(let query, let changes):
            buffer.append(query)
            buffer.append(changes)
        case .delete(let query):
            buffer.append(query)
        case .exchange(let item, let expected):
            buffer.append(item)
            buffer.append(optional: expected) { buffer.append($0) }
        case .setPasscode(let passcode, let options):
            buffer.append(passcode)
            buffer.append(options)
        case .changePasscode(let passcode, let next, let options):
            buffer.append(passcode)
            buffer.append(next)
            buffer.append(options)
        case .removePasscode(let passcode), .unlock(let passcode):
            buffer.append(passcode)
        case .lock(let grace):
            buffer.append(UInt64(clamping: grace / .milliseconds(1)))
        case .authenticate(let flags, let context, let options):
            buffer.append(flags.rawValue)
            buffer.append(context)
            buffer.append(options)
        case .endContext(let context):
            buffer.append(context)
        case .auditRecords(let query):
            buffer.append(optional: query.since) { buffer.append($0) }
            buffer.append(optional: query.limit) { buffer.append(UInt32(clamping: $0)) }
        case .makeEnclaveKey(let kind, let accessControl, let options):
            buffer.append(kind.rawValue)
            buffer.append(accessControl)
            buffer.append(options)
        case .useEnclaveKey(let key, let operation, let options):
            buffer.append(key.encoded)
            buffer.append(operation)
            buffer.append(options)
        case .makeFileKey(let fileClass, let file):
            buffer.append(fileClass.rawValue)
            buffer.append(file)
        case .fileKey(let fileClass, let file, let wrapped):
            buffer.append(fileClass.rawValue)
            buffer.append(file)
            buffer.append(wrapped)
        case .rewrapFileKey(let from, let to, let file, let wrapped):
            buffer.append(from.rawValue)
            buffer.append(to.rawValue)
            buffer.append(file)
            buffer.append(wrapped)
        case .status, .erase, .verify, .changes, .presenceAvailability, .describeCaller, .verifyAudit, .deleteDamaged,
            .lockEvents:
            break
        }
    }
}

extension UInt64 {
    fileprivate init(clamping real: Double) {
        self = real.isFinite && real > 0 ? UInt64(Swift.min(real, 1e15)) : 0
    }
}
