import Access
import Bytes
import Circle
import Crypto
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import Sealing
import VaultInterface

/// Makes and changes the circle that the vault is in, and lets its items travel.
///
/// A carrier hands objects over in both directions. It needs no key: all that it sees is sealed or signed, and all that
/// it brings is checked here.
struct VaultCircle: CircleKeeping {
    let vault: OpenedVault
    let gate: VaultGate
    let now: @Sendable () -> Date
    let logs = CircleLogs()

    init(_ vault: OpenedVault, _ gate: VaultGate, now: @escaping @Sendable () -> Date) {
        (self.vault, self.gate, self.now) = (vault, gate, now)
    }

    /// Nil for a vault that is in no circle.
    func session(_ tables: CircleReader, _ keybag: OpenedKeybag) throws -> CircleSession? {
        try CircleSession(tables, keybag, logs)
    }

    // MARK: Looking

    func status(_ operation: ReadCircle, as client: Client) throws(VaultError) -> CircleStatus {
        let authorization = try gate.authorize(
            AccessRequest(.status, isAboutWholeVault: true), as: client, recordedAs: .inspected)
        return try gate.run(authorization) {
            try vault.reading(for: authorization) { reader, keybag in
                guard let session = try self.session(reader.circle, keybag) else { return CircleStatus(.none) }
                return try status(session, reader.circle)
            }
        }
    }

    private func status(_ session: CircleSession, _ tables: CircleReader) throws -> CircleStatus {
        var status = CircleStatus(session.standing, circle: session.log?.circle.bytes)
        status.number = session.number ?? 0
        status.fingerprint = session.own.keys.fingerprint
        status.location = String(decoding: try tables.state(CircleSession.State.location) ?? Data(), as: UTF8.self)
        (status.waiting, status.outgoing) = (
            // Entries of views that others hold stay for the case that this vault gets a key.
            try tables.countOfWaiting(except: CircleObject.Kind.viewEntry.rawValue), try tables.countOfOutgoing()
        )
        status.conflicts = try tables.conflicts().count
        status.tooLarge = try tables.states(withPrefix: CircleSession.State.large).count
        status.isRecovering = session.isRecovering
        guard let log = session.log else { return status }
        // Before the first unlocking, names stay unknown.
        let key = try? session.circleKey()
        func name(_ sealed: Data) -> String? {
            key.flatMap { try? $0.open(sealed, in: log.circle) }.map { String(decoding: $0, as: UTF8.self) }
        }
        func terms(_ offer: MembershipEntry.Offer) -> InvitationTerms? {
            key.flatMap { try? InvitationTerms(decoding: $0.open(offer.sealedTerms, in: log.circle)) }
        }
        status.members = log.members.values.sorted { $0.number < $1.number }.map {
            CircleMember(
                number: $0.number, name: name($0.sealedName), rights: $0.rights.rawValue,
                fingerprint: $0.keys.fingerprint, isRemoved: $0.removed != nil,
                isAttested: $0.attestation != Data(count: 32), invitation: $0.invitation?.bytes)
        }
        (status.hasRecoveryKey, status.needs) = (log.recovery != nil, try session.needs)
        let open = log.invitations.filter {
            !$0.value.isEnded && $0.value.left > 0 && $0.value.offer.deadline.date > now()
        }
        status.invitations = open.sorted { $0.key < $1.key }.map {
            CircleInvitation(
                identifier: $0.key.bytes, left: $0.value.left, deadline: $0.value.offer.deadline.date,
                rights: $0.value.offer.rights.rawValue, flags: $0.value.offer.flags.rawValue,
                groups: terms($0.value.offer)?.groups ?? [])
        }
        guard let key else { return status }
        status.said = try CircleHeads(session: session).said()
        for (carrier, heads) in try CircleHeads(session: session).known() {
            for head in heads {
                guard let place = status.members.firstIndex(where: { $0.number == head.member }) else { continue }
                status.members[place].heads[carrier] = head
            }
        }
        status.views = try session.heldViews().values.sorted { $0.body.name < $1.body.name }.map {
            CircleView(
                group: $0.body.name, generation: $0.entry.generation, holders: $0.body.holders.sorted(),
                items: try tables.countOfItems(in: $0.identifier.bytes))
        }
        status.offers = session.offers
        for waiting in try CircleAdmission.waiting(tables) {
            guard let offer = log.invitations[waiting.request.invitation]?.offer,
                let opened = try? CircleAdmission.open(waiting.request, offer, key, log),
                !log.members.values.contains(where: { $0.keys.signing == opened.body.keys.signing })
            else { continue }
            status.requests.append(
                CircleRequest(
                    identifier: waiting.identifier, name: opened.body.name, fingerprint: opened.body.keys.fingerprint,
                    attester: opened.attestation?.attester, maker: opened.attestation?.maker))
        }
        return status
    }

    // MARK: Changing

    func change(_ operation: ChangeCircle, as client: Client) throws(VaultError) -> CircleChanged {
        let authorization = try gate.authorize(
            AccessRequest(.update, isAboutWholeVault: true), as: client, recordedAs: .written)
        return try gate.run(authorization) {
            try vault.writing(for: authorization) { writer, keybag in
                switch operation.change {
                case .leave, .forget: break
                default: try keybag.keys.checkAvailable(.whenUnlockedThisDeviceOnly)
                }
                switch operation.change {
                case .create(let name, let groups, let location): try create(name, groups, location, writer, keybag)
                case .join(let secret, let name, let location, let groups):
                    try join(secret, name, location, writer, keybag)
                    for group in groups { try writer.circle.set(CircleSession.State.groups + group, Data()) }
                case .recover(let key, let name, let location): try recover(key, name, location, writer, keybag)
                case .leave: try leave(writer, keybag)
                case .forget:
                    _ = try making(writer, keybag)
                    try writer.circle.clear()
                default: return try change(operation.change, making(writer, keybag))
                }
                return CircleChanged()
            }
        }
    }

    /// - Throws: ``VaultError/invalidRequest(reason:)`` for a vault that is in no circle.
    private func making(_ writer: ItemStore.Writer, _ keybag: OpenedKeybag) throws -> CircleMaking {
        guard let session = try self.session(writer.reader.circle, keybag) else {
            throw VaultError.invalidRequest(
                reason: "this vault is in no circle; make one with `keychain circle create`, or join one")
        }
        return CircleMaking(session: session, writer: writer, logs: logs, now: now())
    }

    private func change(_ change: ChangeCircle.Change, _ making: CircleMaking) throws -> CircleChanged {
        switch change {
        case .invite(let count, let seconds, let rights, let flags, let groups, let attesters):
            return CircleChanged(
                secret: try invite(
                    count, seconds, MemberRights(rawValue: rights), InvitationFlags(rawValue: flags),
                    InvitationTerms(groups: groups, attesters: attesters), making))
        case .approve(let request, let groups):
            return CircleChanged(member: try CircleAdmission(making).approve(request, groups))
        case .refuse(let request): try CircleAdmission(making).refuse(request)
        case .remove(let member): return CircleChanged(member: member, items: try remove(member, making))
        case .addView(let group):
            try making.makeView(of: group)
            while try CircleScan(making).run() {}
        case .end(let invitation):
            guard let invitation = Identifier16(invitation) else { throw Self.noInvitation }
            guard making.session.log?.invitations[invitation]?.isEnded == false else { throw Self.noInvitation }
            try making.append(.end(invitation))
        case .move(let location): try move(to: location, making)
        case .makeRecoveryKey: return CircleChanged(secret: try makeRecoveryKey(making))
        case .tell:
            while try CircleScan(making).run() {}
            try CircleHeads(session: making.session).tellAnew(making)
        case .create, .join, .leave, .forget, .recover: break
        }
        return CircleChanged()
    }

    private static func data(of location: String) throws(VaultError) -> Data {
        guard location.utf8.count <= 4_096 else { throw .invalidRequest(reason: "a location has at most 4096 bytes") }
        return Data(location.utf8)
    }

    static let noInvitation = VaultError.invalidRequest(reason: "there is no such invitation")

    /// Makes room for a circle.
    func begin(
        _ name: String, _ location: String, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws -> CircleSession {
        if let session = try self.session(writer.reader.circle, keybag) {
            throw VaultError.invalidRequest(
                reason: session.standing == .member
                    ? "this vault is in a circle already"
                    : "this vault was in a circle, or waits to be admitted; "
                        + "leave it first with `keychain circle leave`")
        }
        guard !name.isEmpty, name.utf8.count <= 256 else {
            throw VaultError.invalidRequest(reason: "the name of a machine has 1 to 256 bytes")
        }
        try writer.circle.make()
        try writer.circle.clear()
        let own = try OwnMember(madeIn: keybag)
        try writer.circle.set(CircleSession.State.own, own.encoded)
        try writer.circle.set(CircleSession.State.name, Data(name.utf8))
        try writer.circle.set(CircleSession.State.location, try Self.data(of: location))
        return CircleSession(writer.reader.circle, keybag, own)
    }

    private func create(
        _ name: String, _ groups: [String], _ location: String, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws {
        let session = try begin(name, location, writer, keybag)
        let making = CircleMaking(session: session, writer: writer, logs: logs, now: now())
        let (circle, key) = (Identifier16.random(), CircleKey())
        let creation = MembershipEntry.Creation(
            keys: session.own.keys, sealedName: try key.seal(Data(name.utf8), in: circle),
            keyCommitment: key.commitment, formats: MembershipLog.formats)
        let entry = try MembershipEntry(
            .create(creation), in: circle, number: 0, previous: Data(count: 32), time: making.time(), signer: 1,
            signedBy: session.own.signer(in: keybag))
        session.logChanged(to: try MembershipLog(first: entry.encoded))
        try session.put(key, writer.circle)
        try making.store(entry)
        for group in Set(groups).sorted() { try making.makeView(of: group) }
        _ = try CircleScan(making).run()
    }

    private func invite(
        _ count: UInt16, _ seconds: Int64, _ rights: MemberRights, _ flags: InvitationFlags, _ terms: InvitationTerms,
        _ making: CircleMaking
    ) throws -> SecretBytes {
        let (log, member) = try making.membership()
        guard member.rights.contains(.admit), rights.isSubset(of: member.rights) else { throw CircleMaking.lacksRight }
        guard count > 0, (1...(366 * 24 * 3_600)).contains(seconds), rights.isSubset(of: .all) else {
            throw VaultError.invalidRequest(reason: "an invitation admits at least one vault, within a year")
        }
        guard let key = try making.session.circleKey() else {
            throw VaultError.corruptVault(reason: "the circle's key is missing")
        }
        let terms = try checked(terms, flags, making)
        let invitation = Invitation()
        let requestKey = invitation.requestKey(pin: log.pin).withUnsafeBytes { Data($0) }
        try making.append(
            .invite(
                MembershipEntry.Offer(
                    invitation: invitation.identifier(pin: log.pin), count: count,
                    deadline: HybridTime(now().addingTimeInterval(Double(seconds))), rights: rights, flags: flags,
                    key: invitation.publicKey(pin: log.pin), sealedRequestKey: try key.seal(requestKey, in: log.circle),
                    sealedTerms: try key.seal(terms.encoded, in: log.circle))))
        return try invitation.secret.withUnsafeBytes { try SecretBytes(copying: $0) }
    }

    /// What an invitation says, once it is sure that its demands can be met.
    private func checked(
        _ terms: InvitationTerms, _ flags: InvitationFlags, _ making: CircleMaking
    ) throws -> InvitationTerms {
        let (_, member) = try making.membership()
        guard flags.isSubset(of: [.requiresAttestation, .needsNoPerson]),
            max(terms.groups.count, terms.attesters.count) <= InvitationTerms.most,
            terms.attesters.allSatisfy({ $0.count == Self.attesterSize }),
            terms.attesters.isEmpty || flags.contains(.requiresAttestation)
        else {
            throw VaultError.invalidRequest(
                reason: "an invitation names at most \(InvitationTerms.most) groups and TPMs, each TPM with 68 digits")
        }
        let held = try making.session.heldViews().values.map(\.body.name)
        let groups = try terms.groups.map { group in
            guard let name = held.first(where: { $0.isSameGroup(as: group) }) else {
                throw VaultError.invalidRequest(
                    reason: "this vault can give only the access groups that `circle list` shows")
            }
            return name
        }
        var terms = terms
        terms.groups = Set(groups).sorted()
        guard flags.contains(.needsNoPerson) else { return terms }
        if terms.groups.isEmpty { terms.groups = held.sorted() }
        guard terms.groups.isEmpty || member.rights.contains(.views) else { throw CircleMaking.lacksRight }
        guard !flags.contains(.requiresAttestation) || !terms.attesters.isEmpty else {
            // Anybody can make a key that looks like that of a TPM.
            throw VaultError.invalidRequest(
                reason: "without a person, an attestation proves something only if the invitation names the TPMs: give "
                    + "the attester of each, which `keychain key attest` prints there")
        }
        return terms
    }

    /// The length of the name of an attestation key.
    private static let attesterSize = 34

    private func join(
        _ secret: SecretBytes, _ name: String, _ location: String, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws {
        guard secret.count == Invitation.size else {
            throw VaultError.invalidRequest(reason: "an invitation has \(Invitation.size) bytes")
        }
        _ = try begin(name, location, writer, keybag)
        let sealed = try secret.withUnsafeBytes { secret in
            try keybag.sealForCircle(
                SymmetricKey(data: secret), as: CircleSession.State.invitation, .afterFirstUnlock)
        }
        try writer.circle.set(CircleSession.State.invitation, sealed)
    }

    /// - Returns: How many items the member could read.
    private func remove(_ number: UInt32, _ making: CircleMaking) throws -> Int {
        let (log, member) = try making.membership()
        guard member.rights.isSuperset(of: [.remove, .views]) else { throw CircleMaking.lacksRight }
        guard number != member.number else {
            throw VaultError.invalidRequest(reason: "a vault leaves with `keychain circle leave`")
        }
        guard log.member(number) != nil else {
            throw VaultError.invalidRequest(reason: "the circle has no member \(number)")
        }
        // What changed here and was not told yet goes along under the new keys.
        while try CircleScan(making).run() {}
        let entry = try making.append(.remove(number))
        var items = 0
        for view in try making.session.heldViews().values where view.body.holders.contains(number) {
            items += try making.renewKeys(of: view, generation: entry.number + 1)
        }
        return items
    }

    private func leave(_ writer: ItemStore.Writer, _ keybag: OpenedKeybag) throws {
        let making = try making(writer, keybag)
        guard making.session.standing == .member else { return try writer.circle.clear() }
        try keybag.keys.checkAvailable(.whenUnlockedThisDeviceOnly)
        if making.session.log?.present.count == 1 { return try writer.circle.clear() }
        // What changed here and was not told yet goes along. The vault stays what it was until the others were told.
        while try CircleScan(making).run() {}
        try making.append(.leave)
    }

    private func move(to location: String, _ making: CircleMaking) throws {
        let former = String(
            decoding: try making.tables.reader.state(CircleSession.State.location) ?? Data(), as: UTF8.self)
        try making.tables.set(CircleSession.State.location, try Self.data(of: location))
        guard let place = CircleLocation(location), let before = CircleLocation(former), making.session.member != nil,
            !place.isSameKind(as: before)
        else { return }
        try making.handAnew()
    }
}
