import Access
import Bytes
import Circle
import Crypto
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

/// Makes what this vault says to the others of its circle, in a transaction: entries of the log and of views, keys,
/// certificates and records.
struct CircleMaking {
    let session: CircleSession
    let writer: ItemStore.Writer
    let logs: CircleLogs
    let now: Date

    var keybag: OpenedKeybag { session.keybag }
    var tables: CircleWriter { writer.circle }

    // MARK: Time

    /// Gives the time of a version of an item: that of the change, and after the version that it comes from. An item
    /// that was changed long ago is no newer for being told only now.
    ///
    /// It is even. A change that waits for the store's decision has an odd one, so that no two versions are the same.
    func time(ofChangeAt date: Date, after base: HybridTime) -> HybridTime {
        max(HybridTime(min(date, now)), base == .zero ? .zero : HybridTime(rawValue: (base.rawValue + 2) & ~1))
    }

    /// Gives the time of a version about which the store decides: after the version that it comes from, odd, and none
    /// that a proposal of this vault had before.
    func time(ofProposalAfter base: HybridTime) throws -> HybridTime {
        let next = try time(after: base).rawValue
        // This vault's clock does not follow a time that is far ahead, and gives no two times there.
        let spread: UInt64 = base.rawValue < next - 1 ? 0 : .random(in: 0..<2_048) * 2
        let time = HybridTime(rawValue: (next + spread) | 1)
        try see(time)
        return time
    }

    /// Gives a time that no entry of this vault had.
    ///
    /// - Parameters:
    ///   - base: What the change comes after.
    ///   - date: When the change happened.
    func time(after base: HybridTime = .zero, at date: Date? = nil) throws -> HybridTime {
        var clock = try clock()
        let time = clock.next(after: base, now: min(date ?? now, now))
        try tables.set(CircleSession.State.clock, Data(clock.last.rawValue.bigEndianBytes))
        return time
    }

    /// Notes the time of another member.
    func see(_ time: HybridTime) throws {
        let before = try clock()
        var clock = before
        clock.see(time, now: now)
        if clock != before { try tables.set(CircleSession.State.clock, Data(clock.last.rawValue.bigEndianBytes)) }
    }

    private func clock() throws -> CircleClock {
        let last = try tables.reader.state(CircleSession.State.clock)
        return CircleClock(last: HybridTime(rawValue: last.map { UInt64(bigEndianBytes: $0) } ?? 0))
    }

    // MARK: The log

    /// This vault and its circle.
    ///
    /// - Throws: ``VaultError/invalidRequest(reason:)`` unless it is a member.
    func membership() throws -> (log: MembershipLog, member: MembershipLog.Member) {
        guard let log = session.log, let member = session.member else {
            throw VaultError.invalidRequest(
                reason: session.standing == .removed
                    ? "this vault is a member of the circle no more; leave it here, and join again"
                    : "this vault is not in the circle yet: a member has to approve it")
        }
        return (log, member)
    }

    /// Appends an entry to the log, and has it handed on.
    @discardableResult
    func append(_ body: MembershipEntry.Body) throws -> MembershipEntry {
        var (log, member) = try membership()
        let entry = try log.entry(
            body, signer: member.number, time: time(after: log.lastTime), signedBy: session.own.signer(in: keybag))
        try log.append(entry.encoded)
        try store(entry)
        session.logChanged(to: log)
        return entry
    }

    func store(_ entry: MembershipEntry) throws {
        try tables.append(log: entry.encoded, number: entry.number)
        try hand(.entry, key: Data(entry.number.bigEndianBytes), entry.encoded)
    }

    /// Tells everything anew if this vault has another number than before: another entry counted in the place of that
    /// which admitted it.
    func tellAgainAsAnother() throws {
        guard let number = session.number, let stored = try tables.reader.state(CircleSession.State.writer),
            try WriterCertificate(decoding: Data(stored.prefix(WriterCertificate.size))).member != number
        else { return }
        session.writer = nil
        try tables.set(CircleSession.State.writer, nil)
        for prefix in [CircleSession.State.scanned, CircleSession.State.place] {
            for (name, _) in try tables.reader.states(withPrefix: prefix) { try tables.set(name, nil) }
        }
        try tables.forgetItems()
    }

    func hand(_ kind: CircleObject.Kind, key: Data, _ value: Data) throws {
        try tables.hand(kind: kind.rawValue, key: key, value: value)
    }

    /// Takes back what was made for a member that was not admitted after all, and was not handed on: its number is
    /// given to another one.
    func forget(_ number: UInt32) throws {
        try tables.removeOutgoing(
            CircleObject.Kind.delivery.rawValue, from: Data(number.bigEndianBytes),
            to: Data((number &+ 1).bigEndianBytes))
        for parcel in try tables.reader.outgoing(of: CircleObject.Kind.viewEntry.rawValue) {
            let entry = try ViewEntry(decoding: parcel.value)
            guard let key = try session.viewKey(entry.view, entry.generation, .afterFirstUnlock),
                try entry.open(under: key, signedBy: session.own.keys).holders.contains(number)
            else { continue }
            try tables.removeOutgoing(parcel)
            try tables.removeViewEntry(of: entry.view.bytes, generation: entry.generation, number: entry.number)
        }
        session.forgetViews()
    }

    /// Hands on all that this vault knows of the circle, for a store that lost what it had.
    func handAnew() throws {
        for (number, entry) in try tables.reader.log(from: 0).enumerated() {
            try hand(.entry, key: Data(UInt32(clamping: number).bigEndianBytes), entry)
        }
        for (member, serial, certificate) in try tables.reader.writers() {
            try hand(.certificate, key: Data(member.bigEndianBytes) + Data(serial.bigEndianBytes), certificate)
        }
        for encoded in try tables.reader.viewEntries() {
            let entry = try ViewEntry(decoding: encoded)
            let place = Data(entry.generation.bigEndianBytes) + Data(entry.number.bigEndianBytes)
            try hand(.viewEntry, key: entry.view.bytes + place, encoded)
        }
        let (log, member) = try membership()
        if member.rights.contains(.admit) {
            for other in log.present where other.number != member.number { try deliverCircleKey(to: other.number) }
        }
        for held in try session.heldViews().values.sorted(by: { $0.identifier < $1.identifier }) {
            if member.rights.contains(.views) {
                // Who was admitted may not have found its keys yet.
                for holder in held.body.holders.sorted() {
                    try deliver(held.identifier, held.entry.generation, to: holder)
                }
            }
            for item in try tables.reader.items(in: held.identifier.bytes, before: .max, exceptBy: [], limit: .max) {
                try hand(.record, key: item.view + item.name, item.record)
            }
        }
    }

    // MARK: Views

    /// The view of an access group that this vault holds.
    func view(of group: String) throws -> CircleSession.HeldView? {
        try session.heldViews().values.first { $0.body.name.isSameGroup(as: group) }
    }

    /// Makes the view of an access group.
    func makeView(of group: String) throws {
        let (_, member) = try membership()
        guard !group.isEmpty, group.utf8.count <= Int(UInt16.max), group != Client.tokenGroup,
            group != Client.everyGroup
        else { throw VaultError.invalidRequest(reason: "'\(group)' names no access group whose items could travel") }
        guard try view(of: group) == nil else {
            throw VaultError.invalidRequest(reason: "the items of '\(group)' travel already")
        }
        let isOffered = session.offers.contains { $0.isSameGroup(as: group) }
        guard isOffered || member.rights.contains(.views) else { throw Self.lacksRight }
        try session.accept(group, tables)
        guard !isOffered else {
            // Its records were of no use until now.
            for place in try tables.reader.states(withPrefix: CircleSession.State.place) {
                try tables.set(place.name, nil)
            }
            return
        }
        try putGeneration(0, of: .random(), name: group, holders: [member.number], previous: Data(count: 32))
    }

    static let lacksRight = VaultError.invalidRequest(
        reason: "this vault does not have the right to do that in the circle; ask a member that has it")

    /// Makes keys for a generation of a view, and delivers them to its holders.
    @discardableResult
    private func putGeneration(
        _ generation: UInt32, of view: Identifier16, name: String, holders: Set<UInt32>, previous: Data
    ) throws -> ViewKey {
        let (log, _) = try membership()
        let keys = [KeyClass.whileUnlocked: ViewKey(), .afterFirstUnlock: ViewKey()]
        guard let unlocked = keys[.whileUnlocked], let closed = keys[.afterFirstUnlock] else {
            throw VaultError.memoryUnavailable
        }
        for (keyClass, key) in keys { try session.put(key, of: view, generation, keyClass, tables) }
        let body = ViewEntry.Body(
            previous: previous, time: try time(after: log.lastTime), whileUnlocked: unlocked.commitment,
            afterFirstUnlock: closed.commitment, recovery: log.recovery?.fingerprint ?? ViewEntry.Body.noRecovery,
            name: name, holders: holders)
        // The keys go first: a member that finds the entry in a store finds its keys there, too.
        for holder in holders.sorted() { try deliver(view, generation, to: holder) }
        try deliver(view, generation, to: CircleRecovery.number)
        try put(body, of: view, generation: generation, number: 0, under: closed)
        return closed
    }

    private func put(
        _ body: ViewEntry.Body, of view: Identifier16, generation: UInt32, number: UInt32, under key: ViewKey
    ) throws {
        let (log, member) = try membership()
        let entry = try ViewEntry(
            body, of: view, in: log.circle, generation: generation, number: number, signer: member.number, under: key,
            signedBy: session.own.signer(in: keybag))
        try session.put(entry, tables)
        try hand(
            .viewEntry, key: view.bytes + Data(generation.bigEndianBytes) + Data(number.bigEndianBytes), entry.encoded)
    }

    /// Has the keys of a view handed on to a member, or to the recovery key. This vault has them already.
    func deliver(_ view: Identifier16, _ generation: UInt32, to number: UInt32) throws {
        guard number != session.number else { return }
        for keyClass in KeyClass.allCases {
            guard let key = try session.viewKey(view, generation, keyClass) else {
                throw VaultError.corruptVault(reason: "a key of the circle is missing")
            }
            try deliver(key.secret, of: view, generation, to: number, keyClass)
        }
    }

    /// Has the circle's key handed on to a member.
    func deliverCircleKey(to number: UInt32) throws {
        guard let key = try session.circleKey() else {
            throw VaultError.corruptVault(reason: "the circle's key is missing")
        }
        try deliver(key.secret, of: .zero, 0, to: number, .afterFirstUnlock)
    }

    private func deliver(
        _ key: SymmetricKey, of view: Identifier16, _ generation: UInt32, to number: UInt32, _ keyClass: KeyClass
    ) throws {
        let (log, _) = try membership()
        guard let keys = number == CircleRecovery.number ? log.recovery : log.member(number)?.keys else { return }
        let delivery = try KeyDelivery(
            key, of: view, generation: generation, in: log.circle, to: number, keyClass, keys)
        try hand(
            .delivery, key: Data(number.bigEndianBytes) + Identifier16.random().bytes, delivery.encoded)
    }

    /// Whether this vault has both keys of a view, and can hand them on: they may come one after the other.
    func hasKeys(_ held: CircleSession.HeldView) throws -> Bool {
        try KeyClass.allCases.allSatisfy { try session.hasViewKey(held.identifier, held.entry.generation, $0) }
    }

    /// Gives a view to one member more.
    func admit(_ number: UInt32, to held: CircleSession.HeldView) throws {
        var body = held.body
        guard body.holders.insert(number).inserted else { return }
        try deliver(held.identifier, held.entry.generation, to: number)
        try putNext(body, of: held)
    }

    /// Takes back that a member holds a view: another vault has its number.
    func withdraw(_ number: UInt32, from held: CircleSession.HeldView) throws {
        var body = held.body
        guard body.holders.remove(number) != nil else { return }
        try putNext(body, of: held)
    }

    /// Puts another entry after the last one of a view.
    func putNext(_ body: ViewEntry.Body, of held: CircleSession.HeldView) throws {
        let entry = held.entry
        var body = body
        (body.previous, body.time) = (entry.encoded.sha256, try time(after: body.time))
        try put(
            body, of: entry.view, generation: entry.generation, number: entry.number + 1, under: latestKey(of: held))
    }

    private func latestKey(of held: CircleSession.HeldView) throws -> ViewKey {
        guard let key = try session.viewKey(held.entry.view, held.entry.generation, .afterFirstUnlock) else {
            throw VaultError.corruptVault(reason: "a key of the circle is missing")
        }
        return key
    }

    /// Gives a view new keys, which only those of its holders get that still are members, and seals all that it has
    /// under them. Who was removed opens nothing that is written from then on.
    ///
    /// The vault is unlocked.
    ///
    /// - Parameter generation: The least: one more than the number of the entry that removed a
    ///   holder.
    /// - Returns: How many items were sealed anew.
    func renewKeys(of held: CircleSession.HeldView, generation: UInt32) throws -> Int {
        let (log, _) = try membership()
        let view = held.entry.view
        // Never below what others may have made for the view.
        let generation = max(generation, held.entry.generation + 1)
        // Nothing that was made before is handed on under the former keys alone.
        let holders = held.body.holders.filter { log.member($0) != nil }
        try putGeneration(
            generation, of: view, name: held.body.name, holders: holders, previous: held.entry.encoded.sha256)
        guard let renewed = try session.heldViews()[view] else { return 0 }
        return try sealAnew(renewed, own: false)
    }

    /// Seals what is under earlier generations of a view's keys and that no other member seals, unless that was done.
    ///
    /// What is stored later is under the present generation, or is sealed under it at once. So the items are looked
    /// through once for each generation and list of members, and not with each change.
    func sealOwnAnew(_ held: CircleSession.HeldView, limit: Int) throws -> Int {
        let name = CircleSession.State.sealed + held.identifier.description
        let done = Data(held.entry.generation.bigEndianBytes) + (session.log?.head ?? Data())
        guard try tables.reader.state(name) != done else { return 0 }
        let count = try sealAnew(held, own: true, limit: limit)
        if count < limit { try tables.set(name, done) }
        return count
    }

    /// Seals what is under earlier generations of a view's keys under the present one.
    ///
    /// Who gives a view new keys seals all that it knows. Every other member seals what it wrote itself, and what
    /// members wrote that are none any more: the first one may not have seen it.
    ///
    /// - Parameter own: Whether only that is meant.
    /// - Returns: How many items were sealed anew.
    func sealAnew(_ held: CircleSession.HeldView, own: Bool, limit: Int = .max) throws -> Int {
        let (view, generation) = (held.identifier, held.entry.generation)
        let others = (session.log?.present ?? []).map(\.number).filter { $0 != session.number }
        let items = try tables.reader.items(
            in: view.bytes, before: generation, exceptBy: own ? others : [], limit: limit)
        guard !items.isEmpty else { return 0 }
        guard let key = try session.viewKey(view, generation, .afterFirstUnlock) else {
            throw VaultError.corruptVault(reason: "a key of the circle is missing")
        }
        var locked: KeybagError?
        for item in items {
            let record = try CircleRecord(decoding: item.record)
            let body: RecordBody
            do { body = try session.open(record, at: session.place(of: item)) } catch let error as KeybagError {
                locked = error
                continue
            }
            var renewed = item
            let name = key.name(ofPrimaryKey: body.primaryKey)
            (renewed.name, renewed.generation) = (name.bytes, generation)
            renewed.record = try seal(body, record.version, at: session.place(of: name, in: view), generation).encoded
            try tables.rename(item, to: renewed)
            try hand(.record, key: view.bytes + renewed.name, renewed.record)
        }
        if let locked { throw locked }
        return items.count
    }

    // MARK: Records

    func seal(
        _ body: RecordBody, _ version: RecordVersion, at place: CircleRecord.Place, _ generation: UInt32
    ) throws -> CircleRecord {
        let keyClass =
            switch body.subject {
            case .item(let item): ItemPayload.keyClass(of: item)
            case .tombstone: KeyClass.afterFirstUnlock
            }
        guard let key = try session.viewKey(place.view, generation, keyClass) else {
            throw VaultError.corruptVault(reason: "a key of the circle is missing")
        }
        return try CircleRecord(
            body.content, body, version: version, at: place, generation: generation, keyClass, under: key,
            by: recordWriter(for: version))
    }

    /// How long the key that signs records is used.
    private static let writerLifetime: TimeInterval = 30 * 24 * 3_600

    private func recordWriter(for version: RecordVersion) throws -> RecordWriter {
        if let present = try session.writer ?? presentWriter() {
            session.writer = present
            let span = present.certificate.from...present.certificate.until
            if version.member != present.certificate.member || span.contains(version.time) { return present }
        }
        let (log, member) = try membership()
        // A copy of this vault gives a number of its own: of two certificates with one number, others take one.
        var serial = UInt16.random(in: 1...UInt16.max)
        for _ in 0..<UInt16.max where try tables.reader.writer(member.number, serial: serial) != nil {
            serial = serial &+ 1
        }
        let (made, key) = try RecordWriter.make(
            circle: log.circle, member: member.number, serial: serial, from: .zero,
            until: max(version.time, HybridTime(now.addingTimeInterval(Self.writerLifetime))),
            signedBy: session.own.signer(in: keybag))
        let certificate = made.certificate.encoded
        let sealed = try keybag.sealForCircle(key, as: "writer", .afterFirstUnlock)
        try tables.set(CircleSession.State.writer, certificate + sealed)
        try tables.put(certificate: certificate, of: member.number, serial: serial)
        try hand(
            .certificate, key: Data(member.number.bigEndianBytes) + Data(serial.bigEndianBytes), certificate)
        session.writer = made
        return made
    }

    private func presentWriter() throws -> RecordWriter? {
        guard let stored = try tables.reader.state(CircleSession.State.writer) else { return nil }
        let certificate = try WriterCertificate(decoding: Data(stored.prefix(WriterCertificate.size)))
        let key = try keybag.openForCircle(
            Data(stored.dropFirst(WriterCertificate.size)), as: "writer", .afterFirstUnlock)
        return try RecordWriter(certificate, key: key)
    }
}
