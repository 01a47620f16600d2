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

/// Takes in what others of the circle made, in a transaction.
///
/// Objects come in any order, and some need others: a record the certificate of its writer, a key the entry of its
/// view. What has to wait is tried again after everything else.
final class CircleIntake {
    let making: CircleMaking
    private let scan: CircleScan
    private let ahead: RecordsAhead?
    var result = TakenObjects()
    /// Whether the vault got keys for what carriers have passed already.
    private(set) var isToBeReadAgain = false
    /// Whether new keys of a view wait until everything is read.
    private(set) var waitsForReading = false
    /// Why nothing more is taken: an entry of the log that only later software understands.
    var needs: String?
    private(set) var rest: [CircleParcel] = []

    var session: CircleSession { making.session }
    var tables: CircleWriter { making.tables }
    var keybag: OpenedKeybag { making.keybag }

    /// The most objects that wait. A store that holds more is not what members made.
    private static let mostWaiting = 100_000
    /// How many keys for this vault are still opened: each may take a TPM 20 ms, and anybody can make them.
    private var deliveriesLeft = 32
    private var delivered: [Data: KeyDelivery.Contents] = [:]
    /// How many logs are tried by a vault that looks for its circle.
    static let mostLogs = 16

    /// Whether the store takes one entry of the log for each number.
    let isDecided: Bool

    /// - Parameter ahead: What checks records meanwhile.
    init(_ making: CircleMaking, isDecided: Bool = false, _ ahead: RecordsAhead? = nil) {
        (self.making, self.isDecided, self.ahead) = (making, isDecided, ahead)
        scan = CircleScan(making)
    }

    enum Outcome {
        case taken
        /// Something else has to come first.
        case waits
        /// It is nothing for this vault.
        case ignored
    }

    /// Takes objects, and what waited.
    ///
    /// - Parameter isCaughtUp: Whether the vault was given all that was in the store with the last entry of the log.
    func take(_ objects: [CircleObject], isCaughtUp: Bool = false) throws {
        rest = objects.map { CircleParcel(number: 0, kind: $0.kind.rawValue, key: $0.key, value: $0.value) }
        let kinds = Set(objects.map(\.kind))
        if !kinds.isDisjoint(with: [.entry, .viewEntry]) { making.logs.tryAgain() }
        // A locked vault has no use for what waits, unless that came which it waits for.
        let includesRecords =
            keybag.keys.lockState == .unlocked || !kinds.isSubset(of: [.record, .request])
        rest += try tables.reader.waiting(
            limit: Self.mostWaiting, except: includesRecords ? nil : CircleObject.Kind.record.rawValue)
        // The log says who may sign the others.
        try pass(.entry)
        guard needs == nil else { return }
        if session.standing == .joining { return try keepForJoining() }
        // Who was removed has no keys for what comes.
        guard session.standing == .member else { return }
        try pass(.request)
        for kind in [CircleObject.Kind.certificate, .delivery, .viewEntry, .delivery] { try pass(kind) }
        // With new keys, what is here gets its versions before those of others are seen.
        if isToBeReadAgain { while try scan.run() {} }
        try pass(.record)
        // Of many of one member, the last is looked at first.
        if kinds.contains(.head) { rest.sort { Self.sequence($0) > Self.sequence($1) } }
        try pass(.head)
        try pass(.proposal)
        if keybag.keys.lockState == .unlocked {
            waitsForReading = try CircleAgreement(making).run(isCaughtUp: isCaughtUp)
        }
        try keepWaiting()
        result.waiting = try tables.reader.countOfWaiting(except: CircleObject.Kind.viewEntry.rawValue)
        guard try tables.reader.countOfWaiting() <= Self.mostWaiting else {
            throw VaultError.invalidRequest(
                reason:
                    "more than \(Self.mostWaiting) objects of the circle wait for something that never came; look at "
                    + "the store: somebody else writes to it")
        }
    }

    /// The most bytes of objects that wait and that nobody of the circle may have signed: anybody can make them.
    private static let mostUncheckedBytes = 8 << 20
    /// How often what waits is given up so that the store is read once more, at most, in seconds.
    private static let givingUp: TimeInterval = 3_600

    /// Keeps what has to wait. Records were checked. Of the rest there may be more than the vault keeps.
    private func keepWaiting() throws {
        let record = CircleObject.Kind.record.rawValue
        let waiting = rest.filter { $0.number == 0 }
        for parcel in waiting where parcel.kind == record { try tables.wait(for: parcel) }
        let others = waiting.filter { $0.kind != record }
        guard !others.isEmpty else { return }
        var bytes = try tables.reader.bytesOfWaiting(except: record)
        if bytes + others.reduce(0, { $0 + $1.value.count }) > Self.mostUncheckedBytes, try mayGiveUp() {
            // What is still in the store comes again, and the rest does not.
            try tables.removeWaiting(except: record)
            bytes = 0
            try readAgain()
        }
        for parcel in others {
            bytes += parcel.value.count
            if bytes <= Self.mostUncheckedBytes {
                try tables.wait(for: parcel)
            } else {
                refuse(
                    .notPermitted(
                        "more than \(Self.mostUncheckedBytes >> 20) MiB that wait for something that never came: somebody "
                            + "else writes to the store"))
            }
        }
    }

    /// Has the carriers read the store from its beginning.
    private func readAgain() throws {
        for place in try tables.reader.states(withPrefix: CircleSession.State.place) { try tables.set(place.name, nil) }
        isToBeReadAgain = true
    }

    private func mayGiveUp() throws -> Bool {
        let last = try tables.reader.state(CircleSession.State.gaveUp).map {
            HybridTime(rawValue: UInt64(bigEndianBytes: $0))
        }
        if let last, abs(making.now.timeIntervalSince(last.date)) < Self.givingUp { return false }
        try tables.set(CircleSession.State.gaveUp, Data(HybridTime(making.now).rawValue.bigEndianBytes))
        return true
    }

    private func refuse(_ error: CircleError) {
        result.refused += 1
        if result.reasons.count < 16, !result.reasons.contains(error.reason) { result.reasons.append(error.reason) }
    }

    private static func sequence(_ parcel: CircleParcel) -> UInt64 {
        guard parcel.kind == CircleObject.Kind.head.rawValue else { return 0 }
        return (try? MemberHead(decoding: parcel.value).sequence) ?? 0
    }

    /// Tries the objects of a kind until none of them goes any further.
    private func pass(_ kind: CircleObject.Kind) throws {
        var isDone = false
        while !isDone {
            isDone = true
            var left: [CircleParcel] = []
            for parcel in rest {
                guard parcel.kind == kind.rawValue else {
                    left.append(parcel)
                    continue
                }
                switch try outcome(of: parcel, kind) {
                case .waits: left.append(parcel)
                case .taken:
                    isDone = false
                    fallthrough
                case .ignored: if parcel.number > 0 { try tables.removeWaiting(parcel.number) }
                }
            }
            rest = left
        }
    }

    /// How far a version may be ahead of this machine's clock, in seconds: ten years. An item whose version is the last
    /// possible one could never be changed again.
    private static let farthest: TimeInterval = 10 * 366 * 24 * 3_600
    /// The most objects that wait and whose signature could not be checked: anybody can make them.
    private static let mostUnchecked = 10_000
    private lazy var unchecked = (try? tables.reader.countOfWaiting()) ?? 0

    private func waitsUnchecked() throws(CircleError) -> Outcome {
        unchecked += 1
        guard unchecked <= Self.mostUnchecked else {
            throw .notPermitted("more than \(Self.mostUnchecked) objects that wait for a member or a certificate")
        }
        return .waits
    }

    private func outcome(of parcel: CircleParcel, _ kind: CircleObject.Kind) throws -> Outcome {
        do {
            switch kind {
            case .entry: return try takeEntry(parcel.value)
            case .certificate: return try takeCertificate(parcel.value)
            case .delivery: return try takeDelivery(parcel.value)
            case .viewEntry: return try takeViewEntry(parcel.value)
            case .request: return try takeRequest(parcel.key, parcel.value)
            case .head:
                try CircleHeads(session: session).take(parcel.value, making)
                return .ignored
            case .proposal:
                // What was decided comes from the carrier, after the records to which it refers.
                let records = rest.filter { $0.kind == CircleObject.Kind.record.rawValue }
                try CircleProposals(making).decide(parcel.key, parcel.value) { record in
                    records.contains { $0.value == record }
                }
                return .ignored
            case .record:
                let writer = session.writer
                do {
                    return try tables.attempt {
                        try takeRecord(parcel.key, parcel.value, wasChecked: parcel.number > 0)
                    }
                } catch {
                    // The certificate of one that was made meanwhile is undone.
                    session.writer = writer
                    throw error
                }
            }
        } catch let error as CircleError {
            refuse(error)
            return .ignored
        } catch KeybagError.locked {
            return kind == .proposal ? .ignored : .waits
        }
    }

    private func takeRequest(_ key: Data, _ value: Data) throws -> Outcome {
        guard let key = Identifier16(key) else { throw CircleError.malformed("request to join") }
        return try CircleAdmission(making).keep(key, value) ? .ignored : .waits
    }

    // MARK: Keys

    private func takeCertificate(_ value: Data) throws -> Outcome {
        let certificate = try WriterCertificate(decoding: value)
        guard let log = session.log, certificate.circle == log.circle else { return .ignored }
        guard let member = log.members[certificate.member] else { return try waitsUnchecked() }
        try certificate.check(signedBy: member.keys)
        let known = try tables.reader.writer(certificate.member, serial: certificate.serial)
        // The first one with a number stays.
        guard known == nil else { return .ignored }
        try tables.put(certificate: value, of: certificate.member, serial: certificate.serial)
        return .taken
    }

    private func takeDelivery(_ value: Data) throws -> Outcome {
        let delivery = try KeyDelivery(decoding: value)
        let isForRecovery = delivery.member == CircleRecovery.number && session.isRecovering
        guard let log = session.log, delivery.circle == log.circle,
            delivery.member == session.number || isForRecovery
        else { return .ignored }
        let found: KeyDelivery.Contents?
        do {
            found = try contents(of: delivery, value)
        } catch CircleError.forged where isForRecovery {
            // It is for a recovery key that was replaced.
            return .ignored
        }
        guard let contents = found else { return .waits }
        if contents.view == .zero { return try takeCircleKey(contents, log) }
        let (view, generation) = (contents.view, contents.generation)
        guard try !session.hasViewKey(view, generation, delivery.keyClass) else { return .ignored }
        let key = ViewKey(secret: contents.key)
        // Anybody can seal a key for a member. What makes it one of the view is an entry of the view's chain, which a
        // member signed who may.
        let body: ViewEntry.Body?
        switch delivery.keyClass {
        case .afterFirstUnlock: body = try entryNaming(key, of: view, generation)
        case .whileUnlocked:
            body =
                try session.heldViews()[view].flatMap { $0.entry.generation == generation ? $0.body : nil }
                ?? storedBody(of: view, generation)
            // Another member may have given the view keys of the same generation.
            if let body, body.whileUnlocked != key.commitment { return .ignored }
        }
        guard body != nil else { return .waits }
        try session.put(key, of: view, generation, delivery.keyClass, tables)
        // What was not for this vault until now is looked at again.
        try readAgain()
        return .taken
    }

    /// - Returns: Nil if it was opened before, in vain, and if too many were opened.
    private func contents(of delivery: KeyDelivery, _ value: Data) throws -> KeyDelivery.Contents? {
        if let known = delivered[value] { return known }
        // Before the unlocking, a key for that time does not open, and that is no try.
        try keybag.keys.checkAvailable(delivery.keyClass.protection)
        guard deliveriesLeft > 0, making.logs.begins(value) else { return nil }
        let contents: KeyDelivery.Contents
        if delivery.member == CircleRecovery.number {
            guard let recovery = try session.recovery(in: delivery.circle) else { return nil }
            contents = try delivery.open(with: recovery.secrets(delivery.keyClass))
        } else {
            deliveriesLeft -= 1
            contents = try delivery.open(with: session.own.secrets(delivery.keyClass, in: keybag))
        }
        delivered[value] = contents
        return contents
    }

    private func takeCircleKey(_ contents: KeyDelivery.Contents, _ log: MembershipLog) throws -> Outcome {
        let key = CircleKey(secret: contents.key)
        guard key.commitment == log.keyCommitment else { throw CircleError.forged("key for a member") }
        guard try session.circleKey() == nil else { return .ignored }
        try session.put(key, tables)
        return .taken
    }

    /// The entry that says that a key is one of the view, of those that came.
    private func entryNaming(_ key: ViewKey, of view: Identifier16, _ generation: UInt32) throws -> ViewEntry.Body? {
        for parcel in rest where parcel.kind == CircleObject.Kind.viewEntry.rawValue {
            guard let entry = try? ViewEntry(decoding: parcel.value), entry.view == view,
                entry.generation == generation,
                let body = try? opened(entry, under: key), isFor(body)
            else { continue }
            return body
        }
        return nil
    }

    /// Whether an entry of a view is for this vault.
    private func isFor(_ body: ViewEntry.Body) -> Bool {
        session.isRecovering || body.holders.contains(session.number ?? 0)
    }

    private func storedBody(of view: Identifier16, _ generation: UInt32) throws -> ViewEntry.Body? {
        guard let encoded = try tables.reader.viewEntry(of: view.bytes, generation: generation, number: 0),
            let key = try session.viewKey(view, generation, .afterFirstUnlock)
        else { return nil }
        let entry = try ViewEntry(decoding: encoded)
        return try session.log?.members[entry.signer].map { try entry.open(under: key, signedBy: $0.keys) }
    }

    /// - Throws: ``CircleError`` unless a member who may signed it.
    private func opened(_ entry: ViewEntry, under key: ViewKey) throws -> ViewEntry.Body {
        guard entry.circle == session.log?.circle, let signer = session.maker(entry.signer, of: entry.generation),
            signer.rights.contains(.views)
        else { throw CircleError.notPermitted("an entry of a view by somebody who may not make one") }
        return try entry.open(under: key, signedBy: signer.keys)
    }

    private func takeViewEntry(_ value: Data) throws -> Outcome {
        let entry = try ViewEntry(decoding: value)
        guard let log = session.log, entry.circle == log.circle else { return .ignored }
        guard let signer = log.members[entry.signer] else { return try waitsUnchecked() }
        try entry.check(signedBy: signer.keys)
        guard signer.rights.contains(.views) else {
            throw CircleError.notPermitted("an entry of a view by somebody who may not make one")
        }
        guard let key = try session.viewKey(entry.view, entry.generation, .afterFirstUnlock) else {
            // Views of others are not this vault's business, unless a key for it is on its way.
            return .waits
        }
        let known = try tables.reader.viewEntry(
            of: entry.view.bytes, generation: entry.generation, number: entry.number)
        guard known != value else { return .ignored }
        let present = try known.map { try ViewEntry(decoding: $0) }
        if let present, present.encoded != value {
            // Two members changed the view at once.
            guard try !isContested(entry, present, key) else { return .ignored }
            guard entry.signer < present.signer else { return .ignored }
        }
        let body = try opened(entry, under: key)
        guard isFor(body) else {
            // It is of a time before this vault got the view.
            return .ignored
        }
        if session.isRecovering { try session.accept(body.name, tables) }
        if let present, present.signer == session.number {
            try CircleAgreement.note(opened(present, under: key), body, of: entry.view, tables)
        }
        try session.put(entry, tables)
        return .taken
    }

    /// Whether an entry and the known one in its place name different keys. If one of them is this vault's own, it is
    /// noted.
    private func isContested(_ entry: ViewEntry, _ known: ViewEntry, _ key: ViewKey) throws -> Bool {
        guard entry.number == 0, let signer = session.log?.member(entry.signer), signer.rights.contains(.views),
            (try? entry.open(under: key, signedBy: signer.keys)) == nil
        else { return false }
        if known.signer == session.number {
            try CircleAgreement.note(
                contested: entry.view, entry.generation, isLost: entry.signer < known.signer, tables)
        }
        return true
    }

    // MARK: Records

    /// - Parameter wasChecked: Whether it waited: then it is looked at again only if its key is there.
    private func takeRecord(_ key: Data, _ value: Data, wasChecked: Bool) throws -> Outcome {
        guard key.count == 32, let view = Identifier16(key.prefix(16)), let name = Identifier16(key.suffix(16)) else {
            throw CircleError.malformed("record")
        }
        guard let held = try session.heldViews()[view] else { return .ignored }
        let record = try CircleRecord(decoding: value)
        let isFormer = record.generation < held.entry.generation
        if isFormer, try !isStillCounted(record, in: view) { return .ignored }
        if wasChecked, try session.viewKey(view, record.generation, record.keyClass) == nil { return .waits }
        let entry = try tables.reader.item(name.bytes, in: view.bytes)
        if let entry, entry.record == value { return .ignored }
        guard let checker = try session.checker(record.sealer, serial: record.serial) else {
            return try wasChecked ? .waits : waitsUnchecked()
        }
        let place = try session.place(of: name, in: view)
        if ahead?.isRight(key, value, checker.certificate) != true { try record.check(at: place, by: checker) }
        // What a removed member wrote before is sealed anew by who removed it.
        guard let sealer = session.maker(of: record, held),
            sealer.rights.contains(.write)
        else {
            throw CircleError.notPermitted("a record of somebody who may not write")
        }
        guard record.version.time <= HybridTime(making.now.addingTimeInterval(Self.farthest)) else {
            throw CircleError.notPermitted("a version of a time that is years ahead")
        }
        if let entry, try CircleRecord(decoding: entry.record).version == record.version {
            try checkSealedAnew(record, entry, at: place)
            return .ignored
        }
        guard let viewKey = try session.viewKey(view, record.generation, record.keyClass),
            let nameKey = try session.viewKey(view, record.generation, .afterFirstUnlock)
        else { return .waits }
        let body = try record.open(at: place, under: viewKey)
        guard nameKey.name(ofPrimaryKey: body.primaryKey) == name else { throw CircleError.forged("name of an item") }
        if case .item(let item) = body.subject {
            guard item.accessGroup.isSameGroup(as: held.body.name), ItemPayload.travels(item),
                ItemPayload.keyClass(of: item) == record.keyClass
            else { throw CircleError.notPermitted("an item of another access group or class than its view") }
        }
        try making.see(record.version.time)
        guard isFormer else {
            try CircleMerge(making, scan).take(record, body, at: place, held, &result)
            return .taken
        }
        return try takeFormer(record.version, record.keyClass, body, held) ? .taken : .waits
    }

    /// Takes what a record under former keys says, and hands it on under the present ones.
    ///
    /// - Returns: False while this vault lacks the present key.
    private func takeFormer(
        _ version: RecordVersion, _ keyClass: KeyClass, _ body: RecordBody, _ held: CircleSession.HeldView
    ) throws -> Bool {
        let (view, generation) = (held.identifier, held.entry.generation)
        guard let key = try session.viewKey(view, generation, .afterFirstUnlock) else { return false }
        let place = try session.place(of: key.name(ofPrimaryKey: body.primaryKey), in: view)
        // The key for the time while unlocked may come later, and what is known of the item is sealed anew, too.
        let known = try scan.entry(named: place.name, body.primaryKey, held).map {
            try CircleRecord(decoding: $0.record)
        }
        for keyClass in [keyClass, known?.keyClass].compactMap(\.self)
        where try !session.hasViewKey(view, generation, keyClass) { return false }
        func isKnown() throws -> Bool {
            try tables.reader.hasVersion(version.data, named: place.name.bytes, in: view.bytes)
        }
        guard try !isKnown() else { return true }
        let record = try making.seal(body, version, at: place, generation)
        try CircleMerge(making, scan).take(record, body, at: place, held, &result)
        // Others need no former version.
        if try tables.reader.item(place.name.bytes, in: view.bytes)?.record == record.encoded {
            try making.hand(.record, key: view.bytes + place.name.bytes, record.encoded)
        }
        return true
    }

    /// Whether a record under former keys is taken all the same.
    ///
    /// All that counts is sealed anew, and who was removed knows the former keys. But what the store accepted before it
    /// had the present keys comes before the next change, and its maker may be away.
    private func isStillCounted(_ record: CircleRecord, in view: Identifier16) throws -> Bool {
        guard record.version.time.isDecided, record.version.member == record.sealer,
            session.log?.member(record.sealer) != nil, session.member?.rights.contains(.write) == true
        else { return false }
        // Who got the view later never gets the former keys.
        return try [record.keyClass, .afterFirstUnlock].allSatisfy {
            try session.hasViewKey(view, record.generation, $0)
        }
    }

    /// Makes sure that a version of this vault which another member sealed anew says the same.
    private func checkSealedAnew(_ record: CircleRecord, _ entry: CircleRow, at place: CircleRecord.Place) throws {
        guard record.version.member == session.number, record.sealer != session.number,
            let key = try session.viewKey(place.view, record.generation, record.keyClass)
        else { return }
        let own = try session.open(CircleRecord(decoding: entry.record), at: session.place(of: entry))
        guard try CircleMerge.haveSameContents(record.open(at: place, under: key).subject, own.subject) else {
            throw CircleError.forged("version of this vault, which member \(record.sealer) sealed with other contents")
        }
    }
}
