/// Something that happened to a vault, as the audit log tells it. Holds no attribute and no value of any
/// item.
package struct AuditEvent: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Values were handed out.
        case read
        /// Attributes were handed out, and no value.
        case listed
        case written, deleted, erased
        /// Former versions of items, and what was left of deleted items, were removed for good.
        case purged
        /// A key that the enclave keeps signed, decrypted or agreed, or a class key wrapped or opened a file's.
        case used
        /// A program used secrets through a broker, as the broker tells it.
        case brokered
        /// The vault's state or soundness was looked at.
        case inspected
        /// Access control said no, and nothing was done.
        case refused
        case unlocked, locked
        case unlockFailed = "unlock-failed"
        case passcodeSet = "passcode-set"
        case passcodeChanged = "passcode-changed"
        case passcodeRemoved = "passcode-removed"
        /// The vault got new class keys.
        case keysRenewed = "keys-renewed"
        /// An unlocking found another `file-agreement-key` than the vault had left.
        case agreementKeyReplaced = "agreement-key-replaced"
        /// A key was made that opens the vault without its enclave, and one was used.
        case recoveryKeyMade = "recovery-key-made"
        case recovered
        /// The device secret of an open vault was written into its folder again.
        case deviceSecretPutBack = "device-secret-put-back"
        /// Sealed items were handed out as a backup, and taken back from one.
        case backedUp = "backed-up"
        case restored
        case authenticated
        case authenticationFailed = "authentication-failed"
        case authenticationCanceled = "authentication-canceled"
        /// A process that serves others began or ended to do so.
        case started, stopped

        /// Whether only looking is meant, which nothing that is stored depends on.
        package var isLook: Bool { [.read, .listed, .inspected].contains(self) }

        /// Whether the event changes items.
        package var isChange: Bool { [.written, .deleted, .purged].contains(self) }

        /// Whether a program without rights can bring the event about as often as it likes. The others take a right, or
        /// are the daemon's own.
        package var isFree: Bool {
            switch self {
            case .read, .listed, .inspected, .written, .deleted, .purged, .used, .brokered, .refused,
                .authenticated, .authenticationFailed, .authenticationCanceled:
                true
            case .agreementKeyReplaced, .erased, .unlocked, .locked, .unlockFailed, .passcodeSet, .passcodeChanged,
                .passcodeRemoved, .keysRenewed, .recoveryKeyMade, .recovered, .deviceSecretPutBack, .backedUp,
                .restored,
                .started, .stopped:
                false
            }
        }
    }

    package var kind: Kind
    /// The client's identifier.
    package var client: String
    /// Which program a server takes the client for; nil as in ``Client/program``.
    package var program: ServedProgram?
    /// The process that asked; nil for the process that keeps the log.
    package var process: ClientProcess?
    /// What was asked for; nil for what is no operation on items.
    package var operation: AccessRequest?
    /// How many items were handed out or changed; nil where that makes no sense.
    package var items: Int?
    /// Nil when it was done.
    package var failure: AuditFailure?
    /// For ``Kind/brokered``.
    package var request: BrokeredRequest?

    package init(
        _ kind: Kind, client: String, program: ServedProgram? = nil, process: ClientProcess? = nil,
        operation: AccessRequest? = nil, items: Int? = nil, failure: AuditFailure? = nil,
        request: BrokeredRequest? = nil
    ) {
        self.kind = kind
        self.client = client
        self.program = program
        self.process = process
        self.operation = operation
        self.items = items
        self.failure = failure
        self.request = request
    }
}

/// Why something was not done, in words that never differ with what is stored.
package enum AuditFailure: String, Sendable, CaseIterable {
    case noAccessGroups = "no-access-groups"
    case groupNotHeld = "group-not-held"
    case tokenGroup = "token-group"
    case rightNotHeld = "right-not-held"
    case unknownCaller = "unknown-caller"
    case notFound = "not-found"
    case expired
    case duplicate
    /// Locked, or nobody may be asked.
    case locked
    case authenticationFailed = "authentication-failed"
    case canceled
    case wrongPasscode = "wrong-passcode"
    /// No passcode was looked at: there is a time to wait.
    case delayed
    case noPasscode = "no-passcode"
    case erased
    case invalid
    case damaged
    case storage
    case other

    package init(_ refusal: AccessDenied) {
        self =
            switch refusal {
            case .noAccessGroups: .noAccessGroups
            case .groupNotHeld: .groupNotHeld
            case .tokenGroupIsReadOnly: .tokenGroup
            case .rightNotHeld: .rightNotHeld
            case .unknownCaller: .unknownCaller
            }
    }
}
