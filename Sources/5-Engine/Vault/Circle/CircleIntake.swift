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
    private let making: CircleMaking
    private let scan: CircleScan
    private(set) var result = TakenObjects()
    /// Whether the vault got keys for what carriers have passed already.
    private(set) var isToBeReadAgain = false
    private var rest: [CircleParcel] = []

    private var session: CircleSession { making.session }
    private var tables: CircleWriter { making.tables }
    private var keybag: OpenedKeybag { making.keybag }

    /// The most objects that wait. A store that holds more is not what members made.
    private static let mostWaiting = 100_000
    /// How many keys for this vault are still opened: each may take a TPM 20 ms, and anybody can make them.
    private var deliveriesLeft = 32
    private var delivered: [Data: KeyDelivery.Contents] = [:]
    /// How many logs are tried by a vault that looks for the circle that invited it.
    private static let mostLogs = 16

    init(_ making: CircleMaking) {
        self.making = making
        scan = CircleScan(making)
    }

    private enum Outcome {
        case taken
        /// Something else has to come first.
        case waits
        /// It is nothing for this vault.
        case ignored
    }

    /// Takes objects, and what waited.
    func take(_ objects: [CircleObject]) throws {
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
        // Who was removed has no keys for what comes.
        guard session.standing == .member else { return }
        try pass(.request)
        for kind in [CircleObject.Kind.certificate, .delivery, .viewEntry, .delivery] { try pass(kind) }
        // With new keys, what is here gets its versions before those of others are seen.
        if isToBeReadAgain { while try scan.run() {} }
        try pass(.record)
        for parcel in rest where parcel.number == 0 { try tables.wait(for: parcel) }
        result.waiting = try tables.reader.countOfWaiting(except: CircleObject.Kind.viewEntry.rawValue)
        guard try tables.reader.countOfWaiting() <= Self.mostWaiting else {
            throw VaultError.invalidRequest(
                reason:
                    "more than \(Self.mostWaiting) objects of the circle wait for something that never came; look at "
                    + "the store: somebody else writes to it")
        }
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
            case .record:
                return try tables.attempt { try takeRecord(parcel.key, parcel.value, wasChecked: parcel.number > 0) }
            }
        } catch let error as CircleError {
            result.refused += 1
            if result.reasons.count < 16, !result.reasons.contains(error.reason) { result.reasons.append(error.reason) }
            return .ignored
        } catch KeybagError.locked {
            return .waits
        }
    }

    // MARK: The log

    private func takeEntry(_ value: Data) throws -> Outcome {
        guard session.log != nil else { return try findCircle() }
        guard var log = session.log else { return .waits }
        let entry = try MembershipEntry(decoding: value)
        guard entry.circle == log.circle else { return .ignored }
        if entry.number < log.count { return try takeFork(entry, log) }
        do {
            try log.append(value)
        } catch .outOfOrder {
            return .waits
        }
        try tables.append(log: value, number: entry.number)
        try making.see(entry.time)
        session.logChanged(to: log)
        return .taken
    }

    /// Another entry in the place of one that is known: two members wrote one at once.
    ///
    /// A member that was removed could write into the past, and a member could undo what others did since. So an entry
    /// counts only in the place of the last one, or of one that only this vault's own follow, and never from somebody
    /// who is a member no more. Otherwise the circle has come apart, and people have to decide.
    private func takeFork(_ entry: MembershipEntry, _ log: MembershipLog) throws -> Outcome {
        let entries = try tables.reader.log(from: 0)
        let place = Int(entry.number)
        guard place < entries.count, entries[place] != entry.encoded, place > 0 else { return .ignored }
        let known = try MembershipEntry(decoding: entries[place])
        guard entry.previous == known.previous, entry.precedes(known), let signer = log.members[entry.signer] else {
            return .ignored
        }
        // Before all entries are read again.
        try entry.check(signedBy: signer.keys)
        let later = try entries[(place + 1)...].map { try MembershipEntry(decoding: $0) }
        guard signer.removed == nil, later.allSatisfy({ $0.signer == session.number }) else {
            throw CircleError.notPermitted(
                "an entry of member \(entry.signer) in the place of one that others have built on: the circle has come apart; "
                    + "see who is right, and let the others leave and join again")
        }
        var other = try MembershipLog(first: entries[0])
        for former in entries[1..<place] { try other.append(former) }
        try other.append(entry.encoded)
        try tables.cutLog(from: entry.number)
        try tables.append(log: entry.encoded, number: entry.number)
        for (number, member) in log.members where other.members[number]?.keys != member.keys {
            try tables.removeCertificates(of: number)
        }
        session.logChanged(to: other)
        guard session.standing == .member, let number = session.number else { return .taken }
        for former in entries[place...] {
            let lost = try MembershipEntry(decoding: former)
            guard lost.signer == number else { continue }
            // What this vault said is said again, if it still can be. A person admits again: the number is another one.
            if case .admit = lost.body { continue }
            _ = try? making.append(lost.body)
        }
        return .taken
    }

    /// A vault that was invited looks for the circle that invited it among the entries that there are.
    private func findCircle() throws -> Outcome {
        guard let sealed = try tables.reader.state(CircleSession.State.invitation) else { return .ignored }
        let invitation = Invitation(
            secret: try keybag.openForCircle(sealed, as: CircleSession.State.invitation, .afterFirstUnlock))
        let entries = rest.filter { $0.kind == CircleObject.Kind.entry.rawValue }.map(\.value)
        for first in entries.filter({ (try? MembershipEntry(decoding: $0).number) == 0 }).prefix(Self.mostLogs) {
            guard var log = try? MembershipLog(first: first) else { continue }
            // Who did not write the invitation cannot make its key for another log.
            let name = invitation.identifier(pin: log.pin)
            var found = [first]
            var next = log.count
            repeat {
                next = log.count
                // Of several that come next, the one that counts.
                let candidates = entries.compactMap { try? MembershipEntry(decoding: $0) }
                    .filter { $0.number == next }.sorted { $0.precedes($1) }
                if let entry = candidates.first(where: { (try? log.append($0.encoded)) != nil }) {
                    found.append(entry.encoded)
                }
            } while log.count > next
            guard let offer = log.invitations[name]?.offer, offer.key == invitation.publicKey(pin: log.pin) else {
                continue
            }
            for (number, entry) in found.enumerated() {
                try tables.append(log: entry, number: UInt32(truncatingIfNeeded: number))
            }
            session.logChanged(to: log)
            if session.standing == .joining { try ask(invitation, log) }
            return .taken
        }
        return .waits
    }

    private func ask(_ invitation: Invitation, _ log: MembershipLog) throws {
        let name = try tables.reader.state(CircleSession.State.name) ?? Data()
        let request = try JoinRequest(
            JoinRequest.Body(
                keys: session.own.keys, name: String(decoding: name, as: UTF8.self), formats: CircleMaking.formats),
            in: log.circle, using: invitation, pin: log.pin)
        try making.hand(.request, key: Identifier16.random().bytes, request.encoded)
    }

    private func takeRequest(_ key: Data, _ value: Data) throws -> Outcome {
        guard let log = session.log, let key = Identifier16(key) else { throw CircleError.malformed("request to join") }
        let request = try JoinRequest(decoding: value)
        guard request.circle == log.circle, session.member?.rights.contains(.admit) == true else { return .ignored }
        guard let invitation = log.invitations[request.invitation] else { return .waits }
        // An invitation that was used is none any more.
        guard invitation.left > 0, !invitation.isEnded, let circleKey = try session.circleKey() else { return .ignored }
        let body = try CircleRequests.open(request, invitation.offer, circleKey, log)
        guard !log.members.values.contains(where: { $0.keys.signing == body.keys.signing }) else { return .ignored }
        guard try tables.reader.state(CircleSession.State.refused + key.description) == nil else { return .ignored }
        let name = CircleSession.State.requests + key.description
        guard try tables.reader.states(withPrefix: CircleSession.State.requests).count < CircleRequests.most else {
            throw CircleError.notPermitted("more than \(CircleRequests.most) requests to join")
        }
        try tables.set(name, value)
        return .ignored
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
        guard let log = session.log, delivery.circle == log.circle, delivery.member == session.number else {
            return .ignored
        }
        guard let contents = try contents(of: delivery, value) else { return .waits }
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
            if let body, body.whileUnlocked != key.commitment { throw CircleError.forged("key for a member") }
        }
        guard body != nil else { return .waits }
        try session.put(key, of: view, generation, delivery.keyClass, tables)
        // What was not for this vault until now is looked at again.
        for place in try tables.reader.states(withPrefix: CircleSession.State.place) { try tables.set(place.name, nil) }
        isToBeReadAgain = true
        return .taken
    }

    /// - Returns: Nil if it was opened before, in vain, and if too many were opened.
    private func contents(of delivery: KeyDelivery, _ value: Data) throws -> KeyDelivery.Contents? {
        if let known = delivered[value] { return known }
        // Before the unlocking, a key for that time does not open, and that is no try.
        try keybag.keys.checkAvailable(delivery.keyClass.protection)
        guard deliveriesLeft > 0, making.logs.begins(value) else { return nil }
        deliveriesLeft -= 1
        let contents = try delivery.open(with: session.own.secrets(delivery.keyClass, in: keybag))
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
                let body = try? opened(entry, under: key), body.holders.contains(session.number ?? 0)
            else { continue }
            return body
        }
        return nil
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
        guard let log = session.log, entry.circle == log.circle, let signer = log.member(entry.signer),
            signer.rights.contains(.views)
        else { throw CircleError.notPermitted("an entry of a view by somebody who may not make one") }
        return try entry.open(under: key, signedBy: signer.keys)
    }

    private func takeViewEntry(_ value: Data) throws -> Outcome {
        let entry = try ViewEntry(decoding: value)
        guard let log = session.log, entry.circle == log.circle else { return .ignored }
        guard let signer = log.members[entry.signer] else { return try waitsUnchecked() }
        try entry.check(signedBy: signer.keys)
        guard let key = try session.viewKey(entry.view, entry.generation, .afterFirstUnlock) else {
            // Views of others are not this vault's business, unless a key for it is on its way.
            return .waits
        }
        let known = try tables.reader.viewEntry(
            of: entry.view.bytes, generation: entry.generation, number: entry.number)
        guard known != value else { return .ignored }
        if let known {
            // Two members changed the view at once.
            let present = try ViewEntry(decoding: known)
            guard entry.signer < present.signer else { return .ignored }
        }
        guard try opened(entry, under: key).holders.contains(session.number ?? 0) else {
            // It is of a time before this vault got the view.
            return .ignored
        }
        try session.put(entry, tables)
        return .taken
    }

    // MARK: Records

    /// - Parameter wasChecked: Whether it waited: then it is looked at again only if its key is there.
    private func takeRecord(_ key: Data, _ value: Data, wasChecked: Bool) throws -> Outcome {
        guard key.count == 32, let view = Identifier16(key.prefix(16)), let name = Identifier16(key.suffix(16)) else {
            throw CircleError.malformed("record")
        }
        guard let held = try session.heldViews()[view] else { return .ignored }
        let record = try CircleRecord(decoding: value)
        if record.generation < held.entry.generation {
            // All that counts was sealed anew. Who was removed knows the former keys.
            return .ignored
        }
        if wasChecked, try session.viewKey(view, record.generation, record.keyClass) == nil { return .waits }
        let entry = try tables.reader.item(name.bytes, in: view.bytes)
        if let entry, entry.record == value { return .ignored }
        guard let checker = try session.checker(record.sealer, serial: record.serial) else {
            return try wasChecked ? .waits : waitsUnchecked()
        }
        let place = try session.place(of: name, in: view)
        try record.check(at: place, by: checker)
        // What a removed member wrote before is sealed anew by who removed it.
        guard let sealer = session.log?.member(record.sealer), sealer.rights.contains(.write) else {
            throw CircleError.notPermitted("a record of somebody who may not write")
        }
        guard record.version.time <= HybridTime(making.now.addingTimeInterval(Self.farthest)) else {
            throw CircleError.notPermitted("a version of a time that is years ahead")
        }
        if let entry, try CircleRecord(decoding: entry.record).version == record.version { return .ignored }
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
        try CircleMerge(making, scan).take(record, body, at: place, held, &result)
        return .taken
    }
}

/// Requests to join that wait for a person.
enum CircleRequests {
    /// The most that wait.
    static let most = 256

    static func open(
        _ request: JoinRequest, _ offer: MembershipEntry.Offer, _ key: CircleKey, _ log: MembershipLog
    ) throws -> JoinRequest.Body {
        let requestKey = SymmetricKey(data: try key.open(offer.sealedRequestKey, in: log.circle))
        return try request.open(under: requestKey, key: offer.key)
    }
}
