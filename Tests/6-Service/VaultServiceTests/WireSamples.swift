import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import VaultInterface
import VaultService

/// Random requests, replies and errors, from a seed.
struct WireSamples {
    var random: SeededGenerator
    /// Whether each number is at an edge, and everything else is what a vault takes.
    private let hasEdges: Bool
    /// The group of items with numbers at edges.
    static let edgeGroup = "TEAM.shared"

    init(_ random: SeededGenerator = SeededGenerator(), hasEdges: Bool = false) {
        self.random = random
        self.hasEdges = hasEdges
    }

    private mutating func number(below bound: Int) -> Int {
        hasEdges ? Int(random.integerAtAnEdge()) : random.int(below: bound)
    }

    mutating func anyNumber() -> Int64 {
        hasEdges ? random.integerAtAnEdge() : Int64(bitPattern: random.next())
    }

    private mutating func group() -> String? { hasEdges ? Self.edgeGroup : maybe { $0.string() } }

    /// Attributes that items of a class have, of their kinds.
    private mutating func attributes(of itemClass: ItemClass) -> ItemAttributes {
        guard hasEdges else { return attributes() }
        var attributes: ItemAttributes = [:]
        for name in itemClass.schema.names.sorted() where bool() {
            switch itemClass.schema[name]?.kind {
            case .blob, .string: attributes[name] = .string(string())
            case .data: attributes[name] = .data(random.bytes(9))
            case .number: attributes[name] = bool() ? .number(anyNumber()) : .real(random.realAtAnEdge())
            case .date: attributes[name] = .date(date())
            case .accessible, .accessControl, nil: continue
            }
        }
        for name in [AttributeName.accessGroup, .synchronizable, .tombstone] { attributes[name] = nil }
        return attributes
    }

    mutating func maybe<Value>(_ make: (inout WireSamples) -> Value) -> Value? {
        random.int(below: 2) == 0 ? nil : make(&self)
    }

    mutating func bool() -> Bool { random.int(below: 2) == 0 }

    mutating func string() -> String {
        let pieces = ["a", "ß", "🔑", "\u{0}", "mail", " ", "\n", "é"]
        return (0..<random.int(below: 6)).map { _ in pieces[random.int(below: pieces.count)] }.joined()
    }

    mutating func date() -> Date {
        if hasEdges { return Date(timeIntervalSinceReferenceDate: random.realAtAnEdge()) }
        return Date(timeIntervalSinceReferenceDate: Double(random.int(below: 1 << 40)) / 16 - 1e9)
    }

    private mutating func uuid() -> UUID {
        let bytes = [UInt8](random.bytes(16))
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private mutating func attributes() -> ItemAttributes {
        var attributes: ItemAttributes = [:]
        for _ in 0..<random.int(below: 6) {
            let value: AttributeValue =
                switch random.int(below: 5) {
                case 0: .string(string())
                case 1: .data(random.bytes(random.int(below: 40)))
                case 2: .number(Int64(bitPattern: random.next()))
                case 3: .real(Double(random.int(below: 1 << 30)) / 7)
                default: .date(date())
                }
            attributes[AttributeName(code: UInt32(truncatingIfNeeded: random.next()))] = value
        }
        return attributes
    }

    private mutating func itemClass() -> ItemClass {
        if hasEdges { return ItemClass.stored[random.int(below: ItemClass.stored.count)] }
        return ItemClass.allCases[random.int(below: ItemClass.allCases.count)]
    }

    private mutating func control() -> AccessControl {
        if hasEdges { return AccessControl(protection: .afterFirstUnlock) }
        let protection = ProtectionClass.allCases[random.int(below: ProtectionClass.allCases.count)]
        return AccessControl(
            protection: protection, flags: maybe { AccessControl.Flags(rawValue: $0.random.next()) })
    }

    private func secret(_ bytes: Data) -> SecretBytes? {
        try? bytes.withUnsafeBytes { try SecretBytes(copying: $0) }
    }

    private mutating func someSecret() throws -> SecretBytes {
        try random.bytes(random.int(below: 40)).withUnsafeBytes { try SecretBytes(copying: $0) }
    }

    private mutating func authentication() -> AuthenticationOptions {
        let interactions: [AuthenticationOptions.Interaction] = [.allow, .fail, .skip]
        return AuthenticationOptions(
            interaction: interactions[random.int(below: 3)], prompt: maybe { $0.string() },
            context: maybe { $0.uuid() },
            applicationPassword: bool() ? nil : secret(random.bytes(12)))
    }

    private mutating func customAttributes() -> CustomAttributes {
        var attributes: CustomAttributes = [:]
        for _ in 0..<random.int(below: 3) { attributes["a" + string()] = string() }
        return attributes
    }

    private mutating func expiry() -> Expiry { bool() ? .never : .at(date()) }

    private mutating func kept() -> KeptVersions { bool() ? .vaultDefault : .atMost(number(below: 2_000)) }

    private mutating func newItem() -> NewItem {
        let itemClass = itemClass()
        var item = NewItem(
            itemClass: itemClass, attributes: attributes(of: itemClass), accessGroup: group(),
            accessControl: control(), isSynchronizable: bool(),
            value: maybe { $0.random.bytes($0.random.int(below: 200)) }, authentication: authentication())
        item.customAttributes = maybe { $0.customAttributes() }
        item.expiry = maybe { $0.expiry() }
        item.kept = maybe { $0.kept() }
        return item
    }

    private mutating func query() -> ItemQuery {
        let scopes: [SynchronizableScope] = [.localOnly, .synchronizableOnly, .any]
        var filters: [ItemFilter] = []
        for _ in 0..<random.int(below: 3) {
            switch random.int(below: 4) {
            case 0: filters.append(.hostOrSubdomain(string()))
            case 1: filters.append(.emailAddress(string()))
            case 2: filters.append(.validOn(date()))
            default: filters.append(.issuers([random.bytes(9), random.bytes(3)]))
            }
        }
        let itemClass = itemClass()
        // With numbers at edges, half of the queries find something.
        let isOpen = hasEdges && bool()
        var query = ItemQuery(
            itemClass: itemClass, attributes: isOpen ? [:] : attributes(of: itemClass), accessGroup: group(),
            synchronizable: scopes[random.int(below: 3)], identifier: isOpen ? nil : maybe { $0.uuid() },
            limit: maybe { $0.number(below: 100) }, filters: filters, includesTombstones: bool(),
            authentication: authentication())
        query.customAttributes = isOpen ? [:] : customAttributes()
        query.includesExpired = bool()
        return query
    }

    private mutating func changes() -> ItemChanges {
        var changes = ItemChanges(
            attributes: hasEdges ? attributes(of: .genericPassword) : attributes(), accessGroup: group(),
            accessControl: maybe { $0.control() },
            isSynchronizable: maybe { $0.bool() }, value: maybe { $0.random.bytes(30) })
        changes.customAttributes = maybe { $0.customAttributes() }
        changes.expiry = maybe { $0.expiry() }
        changes.kept = maybe { $0.kept() }
        return changes
    }

    private mutating func passcodeOptions() -> PasscodeOptions {
        PasscodeOptions(
            cost: bool() ? .interactive : .explicit(memoryMiB: number(below: 512), passes: number(below: 9)),
            eraseAfter: maybe { $0.number(below: 20) })
    }

    /// A request for an operation of each kind in turn, or of a random one.
    mutating func request(
        for code: OperationCode? = nil
    ) throws -> (operation: any VaultOperation, claim: Client, canAsk: Bool) {
        let code = code ?? OperationCode.allCases[random.int(below: OperationCode.allCases.count)]
        guard !hasEdges else {
            return (try operation(code), Client(identifier: "x", accessGroups: [Self.edgeGroup]), false)
        }
        let claim = Client(identifier: string(), accessGroups: (0..<random.int(below: 4)).map { _ in string() })
        return (try operation(code), claim, bool())
    }

    private mutating func operation(_ code: OperationCode) throws -> any VaultOperation {
        switch code.operation {
        case is AddItem.Type: AddItem(newItem())
        case is AddIdentity.Type: AddIdentity(certificate: newItem(), key: newItem())
        case is CopyItems.Type: CopyItems(query(), includingValues: bool())
        case is UpdateItems.Type: UpdateItems(query(), with: changes())
        case is DeleteItems.Type: DeleteItems(query())
        case is PutItem.Type: PutItem(newItem())
        case is ExchangeItem.Type: ExchangeItem(newItem(), expecting: maybe { $0.random.bytes(20) })
        case is ReadStatus.Type: ReadStatus()
        case is EraseVault.Type: EraseVault()
        case is VerifyItems.Type: VerifyItems()
        case is SetPasscode.Type: SetPasscode(try someSecret(), options: passcodeOptions())
        case is ChangePasscode.Type:
            ChangePasscode(from: try someSecret(), to: try someSecret(), options: passcodeOptions())
        case is RemovePasscode.Type: RemovePasscode(try someSecret())
        case is UnlockVault.Type: UnlockVault(with: try someSecret())
        case is LockVault.Type: LockVault(after: .milliseconds(number(below: 100_000)))
        case is ReadPresenceAvailability.Type: ReadPresenceAvailability()
        case is Authenticate.Type:
            Authenticate(
                AccessControl.Flags(rawValue: random.next()), context: uuid(), options: authentication())
        case is EndContext.Type: EndContext(uuid())
        case is DescribeCaller.Type: DescribeCaller()
        case is ReadAudit.Type:
            ReadAudit(
                AuditQuery(
                    since: maybe { $0.anyNumber() }, limit: maybe { $0.number(below: 99) },
                    item: maybe { AuditQuery.Item(service: $0.string(), account: $0.string()) }))
        case is VerifyAudit.Type: VerifyAudit()
        case is DeleteDamagedItems.Type: DeleteDamagedItems()
        case is MakeRecoveryKey.Type: MakeRecoveryKey()
        case is ReadUnlockFindings.Type: ReadUnlockFindings()
        case is ReadCondition.Type: ReadCondition()
        case is PutBackDeviceSecret.Type: PutBackDeviceSecret()
        case is ReadUsage.Type: ReadUsage()
        case is MakeFirstRecoveryKey.Type: MakeFirstRecoveryKey()
        case is ChangesSince.Type: ChangesSince(anyNumber())
        case is CopyVersions.Type: CopyVersions(query())
        case is CopyVersion.Type: CopyVersion(query(), version: anyNumber())
        case is RestoreVersion.Type: RestoreVersion(query(), version: maybe { $0.anyNumber() })
        case is PurgeVersions.Type: PurgeVersions(maybe { $0.query() })
        case is KeepVersions.Type: KeepVersions(maybe { $0.number(below: 9_999) })
        case is ReceiveItems.Type:
            ReceiveItems(
                (0...random.int(below: 3)).map { _ in storedItem() }, accessGroup: maybe { $0.string() },
                keepsIdentity: bool(), options: authentication())
        case is MakeBackup.Type:
            MakeBackup(
                [
                    .password(
                        stretched: try random.bytes(32).withUnsafeBytes { try SecretBytes(copying: $0) },
                        salt: Array(random.bytes(16)),
                        cost: Argon2Cost(memoryKiB: 8, passes: UInt32(truncatingIfNeeded: random.int(below: 9)))),
                    .recoveryKey, .thisVault,
                ][random.int(below: 3)])
        case is RenewKeys.Type:
            RenewKeys(
                passcode: bool() ? try someSecret() : nil, next: bool() ? try someSecret() : nil,
                options: passcodeOptions())
        case is MakeEnclaveKey.Type: MakeEnclaveKey(key().kind, accessControl: control(), options: authentication())
        case is UseEnclaveKey.Type: UseEnclaveKey(key(), for: keyOperation(), options: authentication())
        case is CopyKeyObjects.Type: CopyKeyObjects(label: bool() ? string() : nil, includingPasswords: bool())
        case is UseKey.Type:
            UseKey(
                random.bytes(20), in: string(),
                to: [.sign, .decrypt, .agree, .encrypt, .decapsulate][random.int(below: 5)],
                by: "algid:sign:ECDSA:digest-RFC4754", random.bytes(random.int(below: 64)),
                context: random.bytes(random.int(below: 16)), binding: random.bytes(random.int(below: 16)),
                options: authentication())
        case is AddKey.Type:
            AddKey(
                [.public, .private, .secret][random.int(below: 3)], 73, sizeInBits: 256, isInEnclave: bool(),
                label: string(), name: random.bytes(random.int(below: 20)), value: random.bytes(random.int(below: 64)))
        case is CopyPassword.Type: CopyPassword(UUID(), in: string(), options: authentication())
        case is ReadCircle.Type: ReadCircle()
        case is RecordRequest.Type:
            RecordRequest(
                brokeredRequest(),
                items: (0..<random.int(below: 3)).map { _ in .init(service: string(), account: string()) })
        case is ProposeInCircle.Type:
            ProposeInCircle(newItem(), expecting: maybe { $0.random.bytes(9) }, within: anyNumber())
        case is AskProposal.Type: AskProposal(circleProposal(), isWithdrawn: bool())
        case is ReadCircleConflicts.Type: ReadCircleConflicts(isForgetting: bool())
        case is ChangeCircle.Type: ChangeCircle(try circleChange())
        case is CollectCircleObjects.Type:
            CollectCircleObjects(
                for: string(), settled: anyNumber(), limit: number(below: 1_000), isAnew: bool(),
                isCaughtUp: bool(), place: maybe { $0.random.bytes(48) }, statement: maybe { $0.random.bytes(92) })
        case is TakeCircleObjects.Type:
            TakeCircleObjects(
                (0..<random.int(below: 3)).map { _ in circleObject() }, from: string(),
                place: maybe { $0.random.bytes(48) }, isDecided: bool())
        case is StoreCertificate.Type:
            StoreCertificate(random.bytes(random.int(below: 64)), label: bool() ? string() : nil)
        case is MakeFileKey.Type: MakeFileKey(for: fileClass(), file: random.bytes(16))
        case is OpenFileKey.Type:
            OpenFileKey(for: fileClass(), file: random.bytes(16), wrapped: random.bytes(random.int(below: 80)))
        case is RewrapFileKey.Type:
            RewrapFileKey(
                from: fileClass(), to: fileClass(), file: random.bytes(random.int(below: 20)), wrapped: random.bytes(72)
            )
        default: throw VaultError.unsupported(reason: "no sample of \(code.operation)")
        }
    }

    private mutating func brokeredRequest() -> BrokeredRequest {
        var request = BrokeredRequest(
            BrokeredRequest.Outcome.allCases[random.int(below: BrokeredRequest.Outcome.allCases.count)],
            secrets: (0..<random.int(below: 3)).map { _ in string() }, host: string(), port: random.int(below: 65_536),
            method: maybe { $0.string() }, path: maybe { $0.string() }, status: maybe { $0.random.int(below: 600) },
            sent: Int64(bitPattern: random.next()), received: Int64(bitPattern: random.next()),
            reason: maybe { $0.string() })
        request.program = maybe { $0.string() }
        return request
    }

    private mutating func fileClass() -> FileProtectionClass {
        FileProtectionClass.allCases[random.int(below: FileProtectionClass.allCases.count)]
    }

    private mutating func key() -> EnclaveKeyRecord {
        EnclaveKeyRecord(
            kind: EnclaveKeyKind.allCases[random.int(below: EnclaveKeyKind.allCases.count)], accessControl: control(),
            salt: random.bytes(EnclaveKeyRecord.saltSize), factors: random.bytes(random.int(below: 40)),
            publicKey: random.bytes(65), blob: random.bytes(random.int(below: 300)),
            tag: random.bytes(EnclaveKeyRecord.tagSize))
    }

    private mutating func keyOperation() -> EnclaveKeyOperation {
        switch random.int(below: 6) {
        case 0: .sign(digest: random.bytes(32))
        case 1: .agree(with: random.bytes(65))
        case 2: .decapsulate(random.bytes(1088))
        case 3: .signMessage(random.bytes(random.int(below: 99)), context: random.bytes(random.int(below: 9)))
        case 4: .attest(nonce: random.bytes(random.int(below: 40)))
        default: .recognize
        }
    }

    mutating func storedItem() -> StoredItem {
        let itemClass = itemClass()
        var item = StoredItem(
            itemClass: itemClass, identifier: uuid(), attributes: attributes(of: itemClass),
            customAttributes: customAttributes(), accessGroup: group() ?? string(), accessControl: control(),
            isSynchronizable: bool(), isTombstone: !hasEdges && bool(),
            creationDate: date(),
            modificationDate: date(), value: maybe { $0.random.bytes(50) })
        item.expiry = expiry()
        item.kept = kept()
        item.version = anyNumber()
        item.identityKey =
            hasEdges
            ? nil
            : maybe {
                StoredItem.IdentityKey(
                    identifier: $0.uuid(), attributes: $0.attributes(), value: $0.maybe { $0.random.bytes(9) })
            }
        return item
    }

    /// One of each type of reply and of part.
    mutating func replies() throws -> [any WireValue & Equatable] {
        var status = VaultStatus(
            path: maybe { $0.string() }, enclave: string(),
            lockState: LockState.allCases[random.int(below: LockState.allCases.count)], isPasscodeSet: bool(),
            itemCounts: [.key: random.int(below: 9), .certificate: 3], formatVersion: random.int(below: 9))
        status.failedAttempts = random.int(below: 20)
        status.retryAfter = random.int(below: 4000)
        status.isShared = true
        status.recoveryKey =
            [.undisclosed, .absent, .made(secondsSince1970: random.int(below: 1 << 33))][
                random.int(below: 3)]
        var record = AuditRecord(
            sequence: random.next(), time: Int64(bitPattern: random.next()), event: string())
        record.client = maybe { $0.string() }
        record.items = maybe { $0.random.int(below: 9) }
        record.count = maybe { $0.random.int(below: 9) }
        record.until = maybe { Int64(bitPattern: $0.random.next()) }
        record.key = maybe { $0.string() }
        record.other = maybe { $0.random.next() }
        record.request = maybe { $0.brokeredRequest() }
        record.log = maybe { $0.string() }
        record.user = maybe { UInt32(truncatingIfNeeded: $0.random.next()) }
        record.process = maybe { Int32(clamping: $0.random.int(below: 1 << 22)) }
        record.itemDigests = maybe { [$0.string(), $0.string()] }
        return [
            Done(), random.int(below: 1 << 40), bool(), random.bytes(random.int(below: 99)), storedItem(), status,
            record, PresenceProofs(rawValue: UInt8(truncatingIfNeeded: random.int(below: 8))), key(),
            UnlockFindings(rawValue: UInt8(truncatingIfNeeded: random.int(below: 4))),
            VaultCondition(
                problems: VaultProblem.Kind.allCases.map { VaultProblem($0, string()) },
                cost: maybe { Argon2Cost(memoryKiB: 8, passes: UInt32(truncatingIfNeeded: $0.random.int(below: 9))) },
                eraseAfter: maybe { UInt8(truncatingIfNeeded: $0.random.int(below: 200)) }),
            GroupUsage(
                group: maybe { $0.string() }, items: random.int(below: 99), bytes: random.int(below: 1 << 40),
                quota: maybe { $0.random.int(below: 1 << 40) }),
            PutBackDeviceSecret.Reply(isWritten: bool(), other: maybe { $0.string() }),
            CopyItems.Part.item(storedItem()), CopyItems.Part.damage(reason: string()),
            CopyItems.Part.expired(storedItem()), CopyItems.Part.locked(uuid()), CopyItems.Part.guarded(storedItem()),
            CopyItems.Part.withheld(
                WithheldItem(itemClass: itemClass(), identifier: uuid(), accessControl: control())),
            ChangedItem(
                itemClass: itemClass(), identifier: uuid(), change: Int64(bitPattern: random.next()),
                version: Int64(bitPattern: random.next()), overruled: Int64(bitPattern: random.next())),
            KnownChanges(next: Int64(bitPattern: random.next()), isComplete: bool()),
            ItemVersion(
                item: storedItem(), change: Int64(bitPattern: random.next()),
                ended: maybe { Int64(bitPattern: $0.random.next()) }, isDeleted: bool(), isOverruled: bool()),
            AuditReport(
                records: random.int(below: 99), recordsOfEarlierKeys: random.int(below: 99),
                missedEvents: random.int(below: 99), problems: (0..<random.int(below: 4)).map { _ in string() }),
            IntegrityReport(
                validItems: random.int(below: 99), lockedItems: random.int(below: 99),
                problems: (0..<random.int(below: 4)).map { _ in string() }),
            PresenceAvailability(
                biometryKind: .fingerprint, biometryFailure: maybe { _ in .biometryLockout },
                biometryState: maybe { $0.random.bytes(8) }, isPasscodeSet: bool(),
                passcodeFailure: maybe { _ in .notInteractive }),
            circleStatus(), takenObjects(), try circleChanged(), circleObject(), proposalReply(),
            [ProposalState.pending, .accepted, .refused, .undecided][random.int(below: 4)],
            CircleConflict(
                group: string(), found: date(), member: 3, item: maybe { $0.storedItem() }, isDeletion: bool(),
                differences: [string()]),
            collectedObjects(),
            CallerDescription(
                identifier: string(), accessGroups: [string(), string()], listableGroups: [string()],
                rights: CallerRights(rawValue: UInt8(truncatingIfNeeded: random.int(below: 8)))),
        ]
    }

    /// The replies that hold secrets, and their secrets.
    mutating func secretReplies() throws -> (FileKey, OpenFileKey.Reply) {
        let key = try random.bytes(FileKey.size).withUnsafeBytes { try SecretBytes(copying: $0) }
        return (FileKey(key: key, wrapped: random.bytes(random.int(below: 80))), OpenFileKey.Reply(key: key))
    }

    mutating func error() -> VaultError {
        let failures = AuthenticationFailure.allCases
        let reason = string()
        let number = random.int(below: 1 << 30)
        let all: [VaultError] = [
            .itemNotFound, .duplicateItem, .accessDenied(.noAccessGroups(client: reason)),
            .accessDenied(.groupNotHeld(group: reason, client: string())), .accessDenied(.tokenGroupIsReadOnly),
            .accessDenied(.rightNotHeld(right: "list", client: reason)), .accessDenied(.unknownCaller(reason: reason)),
            .interactionNotAllowed(reason: reason), .classKeyAbsent(.afterFirstUnlock), .authenticationFailed,
            .userCanceled, .presence(failures[random.int(below: failures.count)]), .wrongPasscode(retryAfter: number),
            .passcodeDelayed(retryAfter: number), .passcodeNotSet, .passcodeIsSet, .erasedAfterWrongPasscodes,
            .invalidRequest(reason: reason), .valueTooLarge(size: number, limit: 7),
            .attributesTooLarge(size: number, limit: 8), .unsupported(reason: reason),
            .corruptItem(row: Int64(number), reason: reason), .corruptVault(reason: reason),
            .unusableVault(reason: reason), .readOnly(reason: reason), .diskFull(reason: reason),
            .inputOutput(reason: reason), .busy, .memoryUnavailable, .enrolmentChanged, .corruptFileKey,
            .corruptBackup(reason: reason), .quotaExceeded(group: reason, limit: number),
            .itemPasswordMissing, .itemExpired(date()),
        ]
        return all[random.int(below: all.count)]
    }
}
