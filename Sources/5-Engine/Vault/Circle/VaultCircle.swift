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
    private let logs = CircleLogs()

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
                guard let session = try CircleSession(reader.circle, keybag, logs) else { return CircleStatus(.none) }
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
        guard let log = session.log else { return status }
        // Before the first unlocking, names stay unknown.
        let key = try? session.circleKey()
        func name(_ sealed: Data) -> String? {
            key.flatMap { try? $0.open(sealed, in: log.circle) }.map { String(decoding: $0, as: UTF8.self) }
        }
        status.members = log.members.values.sorted { $0.number < $1.number }.map {
            CircleMember(
                number: $0.number, name: name($0.sealedName), rights: $0.rights.rawValue,
                fingerprint: $0.keys.fingerprint, isRemoved: $0.removed != nil)
        }
        let open = log.invitations.filter {
            !$0.value.isEnded && $0.value.left > 0 && $0.value.offer.deadline.date > now()
        }
        status.invitations = open.sorted { $0.key < $1.key }.map {
            CircleInvitation(
                identifier: $0.key.bytes, left: $0.value.left, deadline: $0.value.offer.deadline.date,
                rights: $0.value.offer.rights.rawValue)
        }
        guard let key else { return status }
        status.views = try session.heldViews().values.sorted { $0.body.name < $1.body.name }.map {
            CircleView(
                group: $0.body.name, generation: $0.entry.generation, holders: $0.body.holders.sorted(),
                items: try tables.countOfItems(in: $0.identifier.bytes))
        }
        status.offers = session.offers
        for (name, value) in try tables.states(withPrefix: CircleSession.State.requests) {
            let request = try JoinRequest(decoding: value)
            guard let offer = log.invitations[request.invitation]?.offer,
                let body = try? CircleRequests.open(request, offer, key, log),
                let identifier = [UInt8](hexadecimal: name.dropFirst(CircleSession.State.requests.count).utf8)
            else { continue }
            status.requests.append(
                CircleRequest(identifier: Data(identifier), name: body.name, fingerprint: body.keys.fingerprint))
        }
        return status
    }

    // MARK: Changing

    func change(_ operation: ChangeCircle, as client: Client) throws(VaultError) -> CircleChanged {
        let authorization = try gate.authorize(
            AccessRequest(.update, isAboutWholeVault: true), as: client, recordedAs: .written)
        return try gate.run(authorization) {
            try vault.writing(for: authorization) { writer, keybag in
                if case .leave = operation.change {
                } else {
                    try keybag.keys.checkAvailable(.whenUnlockedThisDeviceOnly)
                }
                switch operation.change {
                case .create(let name, let groups, let location): try create(name, groups, location, writer, keybag)
                case .join(let secret, let name, let location, let groups):
                    try join(secret, name, location, writer, keybag)
                    for group in groups { try writer.circle.set(CircleSession.State.groups + group, Data()) }
                case .leave: try leave(writer, keybag)
                default: return try change(operation.change, making(writer, keybag))
                }
                return CircleChanged()
            }
        }
    }

    private func making(_ writer: ItemStore.Writer, _ keybag: OpenedKeybag) throws -> CircleMaking {
        guard let session = try CircleSession(writer.reader.circle, keybag, logs) else {
            throw VaultError.invalidRequest(
                reason: "this vault is in no circle; make one with `keychain circle create`, or join one")
        }
        return CircleMaking(session: session, writer: writer, logs: logs, now: now())
    }

    private func change(_ change: ChangeCircle.Change, _ making: CircleMaking) throws -> CircleChanged {
        switch change {
        case .invite(let count, let seconds, let rights):
            return CircleChanged(secret: try invite(count, seconds, MemberRights(rawValue: rights), making))
        case .approve(let request, let groups): return CircleChanged(member: try approve(request, groups, making))
        case .refuse(let request):
            _ = try takeRequest(request, making)
            // It is still in the store, and comes again.
            try making.tables.set(CircleSession.State.refused + request.hexadecimal(), Data())
        case .remove(let member): return CircleChanged(member: member, items: try remove(member, making))
        case .addView(let group):
            try making.makeView(of: group)
            while try CircleScan(making).run() {}
        case .end(let invitation):
            guard let invitation = Identifier16(invitation) else { throw Self.noInvitation }
            try making.append(.end(invitation))
        case .move(let location): try making.tables.set(CircleSession.State.location, try Self.data(of: location))
        case .create, .join, .leave: break
        }
        return CircleChanged()
    }

    private static func data(of location: String) throws(VaultError) -> Data {
        guard location.utf8.count <= 4_096 else { throw .invalidRequest(reason: "a location has at most 4096 bytes") }
        return Data(location.utf8)
    }

    private static let noInvitation = VaultError.invalidRequest(reason: "there is no such invitation")

    /// Makes room for a circle.
    private func begin(
        _ name: String, _ location: String, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws -> CircleSession {
        if let session = try CircleSession(writer.reader.circle, keybag, logs) {
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
            keyCommitment: key.commitment, formats: CircleMaking.formats)
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
        _ count: UInt16, _ seconds: Int64, _ rights: MemberRights, _ making: CircleMaking
    ) throws -> SecretBytes {
        let (log, member) = try making.membership()
        guard member.rights.contains(.admit), rights.isSubset(of: member.rights) else { throw CircleMaking.lacksRight }
        guard count > 0, (1...(366 * 24 * 3_600)).contains(seconds), rights.isSubset(of: .all) else {
            throw VaultError.invalidRequest(reason: "an invitation admits at least one vault, within a year")
        }
        guard let key = try making.session.circleKey() else {
            throw VaultError.corruptVault(reason: "the circle's key is missing")
        }
        let invitation = Invitation()
        let requestKey = invitation.requestKey(pin: log.pin).withUnsafeBytes { Data($0) }
        try making.append(
            .invite(
                MembershipEntry.Offer(
                    invitation: invitation.identifier(pin: log.pin), count: count,
                    deadline: HybridTime(now().addingTimeInterval(Double(seconds))), rights: rights, flags: [],
                    key: invitation.publicKey(pin: log.pin), sealedRequestKey: try key.seal(requestKey, in: log.circle))
            ))
        return try invitation.secret.withUnsafeBytes { try SecretBytes(copying: $0) }
    }

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

    /// Takes a request from those that wait.
    private func takeRequest(_ identifier: Data, _ making: CircleMaking) throws -> JoinRequest {
        let name = CircleSession.State.requests + identifier.hexadecimal()
        guard let request = try making.tables.reader.state(name) else {
            throw VaultError.invalidRequest(reason: "no vault asks to join with this request")
        }
        try making.tables.set(name, nil)
        return try JoinRequest(decoding: request)
    }

    private func approve(_ identifier: Data, _ groups: [String]?, _ making: CircleMaking) throws -> UInt32 {
        let (log, member) = try making.membership()
        guard member.rights.contains(.admit) else { throw CircleMaking.lacksRight }
        let request = try takeRequest(identifier, making)
        guard let invitation = log.invitations[request.invitation], let key = try making.session.circleKey() else {
            throw Self.noInvitation
        }
        guard invitation.offer.deadline.date > now() else {
            throw VaultError.invalidRequest(reason: "the invitation is over; make a new one")
        }
        let held = try making.session.heldViews().values.sorted { $0.identifier < $1.identifier }
        let given =
            groups.map { groups in held.filter { view in groups.contains { $0.isSameGroup(as: view.body.name) } } }
            ?? held
        if let groups, given.count < Set(groups).count {
            throw VaultError.invalidRequest(
                reason: "this vault can give only the access groups that `circle list` shows")
        }
        let body = try CircleRequests.open(request, invitation.offer, key, log)
        let number = log.nextNumber
        try making.append(
            .admit(
                MembershipEntry.Admission(
                    number: number, rights: invitation.offer.rights, invitation: request.invitation, keys: body.keys,
                    proof: request.proof, sealedName: try key.seal(Data(body.name.utf8), in: log.circle),
                    attestation: Data(count: 32), formats: body.formats)))
        try making.deliverCircleKey(to: number)
        guard given.isEmpty || member.rights.contains(.views) else { throw CircleMaking.lacksRight }
        for view in given { try making.admit(number, to: view) }
        return number
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
        // The vault stays what it was until the others have been told.
        try making.append(.leave)
    }

    // MARK: Travelling

    func collect(
        _ operation: CollectCircleObjects, as client: Client, send: Sink<CircleObject>
    ) throws(VaultError) -> CollectedObjects {
        let authorization = try gate.authorize(AccessRequest(.synchronize), as: client, recordedAs: .inspected)
        return try gate.run(authorization) {
            guard try vault.reading(for: authorization, { reader, _ in try reader.circle.isThere }) else {
                return CollectedObjects(standing: .none)
            }
            let (parcels, reply) = try vault.writing(for: authorization) { writer, keybag in
                try collected(operation, writer, keybag)
            }
            for parcel in parcels {
                guard let kind = CircleObject.Kind(rawValue: parcel.kind) else { continue }
                try send(CircleObject(kind, key: parcel.key, value: parcel.value))
            }
            return reply
        }
    }

    private func collected(
        _ operation: CollectCircleObjects, _ writer: ItemStore.Writer, _ keybag: OpenedKeybag
    ) throws -> ([CircleParcel], CollectedObjects) {
        try writer.circle.removeOutgoing(through: operation.settled)
        guard let session = try CircleSession(writer.reader.circle, keybag, logs) else {
            return ([], CollectedObjects(standing: .none))
        }
        let making = CircleMaking(session: session, writer: writer, logs: logs, now: now())
        var hasMore = false
        // Before the first unlocking nothing can be sealed, and what was sealed before can go.
        if operation.limit > 0, keybag.keys.lockState.permits(.afterFirstUnlock) {
            let intake = CircleIntake(making)
            if session.standing == .member { try intake.take([]) }
            try renewKeysOfThoseThatLeft(making)
            hasMore = try CircleScan(making).run()
        }
        let tables = writer.reader.circle
        let limit = max(0, min(operation.limit, CircleObject.most))
        var (parcels, bytes) = ([CircleParcel](), 0)
        for parcel in limit == 0 ? [] : try tables.outgoing(after: 0, limit: limit) {
            bytes += parcel.value.count
            guard parcels.isEmpty || bytes <= CircleObject.largest else { break }
            parcels.append(parcel)
        }
        let all = try tables.countOfOutgoing()
        if all == 0, session.standing == .removed, session.hasLeft { try writer.circle.clear() }
        let reply = CollectedObjects(
            standing: session.standing, circle: session.log?.circle.bytes, member: session.number ?? 0,
            through: parcels.last?.number ?? 0, hasMore: hasMore || parcels.count < all,
            place: try tables.state(CircleSession.State.place + operation.carrier),
            location: String(decoding: try tables.state(CircleSession.State.location) ?? Data(), as: UTF8.self))
        return (parcels, reply)
    }

    /// A member that left still has keys: the first of those that may gives its views new ones.
    private func renewKeysOfThoseThatLeft(_ making: CircleMaking) throws {
        guard making.keybag.keys.lockState == .unlocked, let log = making.session.log,
            let member = making.session.member, member.rights.contains(.views)
        else { return }
        for view in try making.session.heldViews().values {
            let gone = view.body.holders.filter { log.member($0) == nil }
            guard !gone.isEmpty else { continue }
            let first = view.body.holders.filter { log.member($0)?.rights.contains(.views) == true }.min()
            guard first == member.number, let last = gone.compactMap({ log.members[$0]?.removed }).max() else {
                continue
            }
            _ = try making.renewKeys(of: view, generation: last + 1)
        }
    }

    func take(_ operation: TakeCircleObjects, as client: Client) throws(VaultError) -> TakenObjects {
        let authorization = try gate.authorize(AccessRequest(.synchronize), as: client, recordedAs: .written)
        return try gate.run(authorization, asking: .init(), items: \.changed) { _ in
            let standing: CircleStanding = try vault.reading(for: authorization) { reader, keybag in
                guard let session = try session(reader.circle, keybag) else { return .none }
                // Before the first unlocking nothing can be opened. The carrier keeps its place.
                try keybag.keys.checkAvailable(.afterFirstUnlockThisDeviceOnly)
                return session.standing
            }
            var result = TakenObjects()
            guard standing != .none else { return result }
            var (rest, isToBeReadAgain) = (operation.objects[...], false)
            repeat {
                // A vault that looks for its circle needs all entries at once.
                let slice = standing == .joining ? rest : rest.prefix(Self.slice)
                rest = rest.dropFirst(slice.count)
                let place = rest.isEmpty && !isToBeReadAgain ? operation.place : nil
                let taken: (result: TakenObjects, isToBeReadAgain: Bool)
                do {
                    taken = try vault.writing(for: authorization) { writer, keybag in
                        try take(slice, operation.carrier, place, writer, keybag)
                    }
                } catch {
                    // What was opened is not stored.
                    logs.tryAgain()
                    throw error
                }
                isToBeReadAgain = isToBeReadAgain || taken.isToBeReadAgain
                result.add(taken.result)
                if !rest.isEmpty { try CurrentCall.served?.giveWay() }
            } while !rest.isEmpty
            return result
        }
    }

    /// How many objects are taken in one transaction: others wait so long.
    private static let slice = 100

    private func take(
        _ objects: ArraySlice<CircleObject>, _ carrier: String, _ place: Data?, _ writer: ItemStore.Writer,
        _ keybag: OpenedKeybag
    ) throws -> (result: TakenObjects, isToBeReadAgain: Bool) {
        guard let session = try session(writer.reader.circle, keybag) else { return (TakenObjects(), false) }
        let making = CircleMaking(session: session, writer: writer, logs: logs, now: now())
        let wasMember = session.standing == .member
        // What changed here has its version before others' versions are seen.
        if wasMember { while try CircleScan(making).run() {} }
        let intake = CircleIntake(making)
        try intake.take(Array(objects))
        var result = intake.result
        result.standing = session.standing
        // A vault that is only now a member, or that has new keys, reads everything once more.
        if session.standing != .joining, wasMember || session.standing == .removed, !intake.isToBeReadAgain, let place {
            try writer.circle.set(CircleSession.State.place + carrier, place)
        }
        return (result, intake.isToBeReadAgain)
    }
}
