import Bytes
import Circle
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import VaultInterface

/// Takes entries of the log, and finds the log of the circle that this vault is to be in.
extension CircleIntake {
    /// How far ahead of the log an entry waits for those before it.
    private static var mostAhead: UInt32 { 10_000 }

    func takeEntry(_ value: Data) throws -> Outcome {
        guard session.log != nil else { return try findCircle() }
        guard var log = session.log, needs == nil else { return .waits }
        let entry = try MembershipEntry(decoding: value)
        guard entry.circle == log.circle else { return .ignored }
        if entry.number < log.count { return try takeFork(entry, log) }
        guard entry.number - log.count < Self.mostAhead else {
            throw CircleError.notPermitted("an entry of the log that is \(Self.mostAhead) or more ahead")
        }
        do {
            try log.append(value)
        } catch .outOfOrder {
            return .waits
        } catch .needsLater(let version) {
            // It may remove somebody. Nothing after it is taken, and nothing is passed over.
            try tables.set(CircleSession.State.stopped, value)
            needs = CircleError.needsLater(version).reason
            return .waits
        }
        try tables.append(log: value, number: entry.number)
        try making.see(entry.time)
        session.logChanged(to: log)
        try tables.set(CircleSession.State.stopped, nil)
        try making.tellAgainAsAnother()
        return .taken
    }

    /// Another entry in the place of one that is known: two members wrote one at once.
    ///
    /// A member that was removed could write into the past, and a member could undo what others did since. So an entry
    /// counts only in the place of the last one, or of one that only this vault's own follow or admissions that members
    /// make again, and never from somebody who is a member no more. Otherwise the circle has come apart, and people
    /// have to decide.
    private func takeFork(_ entry: MembershipEntry, _ log: MembershipLog) throws -> Outcome {
        guard try tables.reader.log(at: entry.number) != entry.encoded else { return .ignored }
        let entries = try tables.reader.log(from: 0)
        let place = Int(entry.number)
        guard place < entries.count, place > 0 else { return .ignored }
        let displaced = try entries[place...].map { try MembershipEntry(decoding: $0) }
        guard let known = displaced.first, entry.previous == known.previous else { return .ignored }
        // Where the store decides, what it never had gives way to what it has.
        let wasHandedOn =
            try isDecided && !tables.reader.isOutgoing(known.encoded, CircleObject.Kind.entry.rawValue)
        guard isDecided || entry.precedes(known) else { return .ignored }
        // Before all entries are read again.
        if let signer = log.members[entry.signer] {
            try entry.check(signedBy: signer.keys)
        } else {
            try log.check(entry)
        }
        guard log.members[entry.signer]?.removed == nil, !wasHandedOn,
            displaced.dropFirst().allSatisfy({ $0.signer == session.number || isMadeAgain($0, log) })
        else {
            throw CircleError.notPermitted(
                "an entry of member \(entry.signer) in the place of one that others have built on: the circle has come apart; "
                    + "see who is right, and let the others leave and join again")
        }
        var other = try MembershipLog(first: entries[0])
        for former in entries[1..<place] { try other.append(former) }
        try other.append(entry.encoded)
        try tables.cutLog(from: entry.number)
        if isDecided {
            try tables.removeOutgoing(CircleObject.Kind.entry.rawValue, from: Data(entry.number.bigEndianBytes))
        }
        try tables.append(log: entry.encoded, number: entry.number)
        for (number, member) in log.members where other.members[number]?.keys != member.keys {
            try tables.removeCertificates(of: number)
        }
        let number = session.number
        session.logChanged(to: other)
        try makeAgain(displaced, number)
        try making.tellAgainAsAnother()
        return .taken
    }

    /// Whether the member that made an entry makes it again without a person.
    private func isMadeAgain(_ entry: MembershipEntry, _ log: MembershipLog) -> Bool {
        guard case .admit(let admission) = entry.body else { return false }
        return log.invitations[admission.invitation]?.offer.flags.contains(.needsNoPerson) == true
    }

    /// Says again what this vault said in entries that do not count, if it still can.
    ///
    /// - Parameter number: What this vault's number was.
    private func makeAgain(_ displaced: [MembershipEntry], _ number: UInt32?) throws {
        guard session.standing == .member, session.number == number else { return }
        for lost in displaced where lost.signer == number {
            // The number of the other vault is another one, and a person may have to decide.
            if case .admit(let admission) = lost.body {
                if isDecided { try making.forget(admission.number) }
                try CircleAdmission(making).noteDisplaced(lost)
            } else {
                _ = try? making.append(lost.body)
            }
        }
    }

    /// A vault that was invited looks for the circle that invited it among the entries that there are, and a vault that
    /// comes back for the one with its recovery key.
    private func findCircle() throws -> Outcome {
        let sealed = try tables.reader.state(CircleSession.State.invitation)
        guard sealed != nil || session.isRecovering else { return .ignored }
        let invitation = try sealed.map {
            Invitation(secret: try keybag.openForCircle($0, as: CircleSession.State.invitation, .afterFirstUnlock))
        }
        let entries = rest.filter { $0.kind == CircleObject.Kind.entry.rawValue }
            .compactMap { try? MembershipEntry(decoding: $0.value) }
        for first in entries.filter({ $0.number == 0 }).prefix(Self.mostLogs) {
            guard var log = try? MembershipLog(first: first.encoded) else { continue }
            // Of several that come next, the one that counts.
            let others = Dictionary(grouping: entries.filter { $0.circle == first.circle }, by: \.number)
                .mapValues { $0.sorted { $0.precedes($1) } }
            var (found, later) = ([first.encoded], String?.none)
            while let candidates = others[log.count], later == nil {
                let next = log.count
                for entry in candidates where log.count == next {
                    do throws(CircleError) {
                        try log.append(entry.encoded)
                        found.append(entry.encoded)
                    } catch {
                        if case .needsLater = error { later = error.reason }
                    }
                }
                guard log.count > next else { break }
            }
            guard try isWanted(log, invitation) else {
                if let later, !result.reasons.contains(later), result.reasons.count < 16 {
                    result.reasons.append(later)
                }
                continue
            }
            if let later { throw VaultError.unsupported(reason: later) }
            for (number, entry) in found.enumerated() {
                try tables.append(log: entry, number: UInt32(truncatingIfNeeded: number))
            }
            session.logChanged(to: log)
            if session.standing == .joining, let invitation { try ask(invitation, log) }
            return .taken
        }
        return .waits
    }

    /// Keeps what a vault needs that is no member yet: all of it may not come at once.
    func keepForJoining() throws {
        for parcel in rest where parcel.number == 0 {
            let isNeeded =
                switch CircleObject.Kind(rawValue: parcel.kind) {
                case .entry: true
                case .delivery:
                    session.isRecovering
                        && (try? KeyDelivery(decoding: parcel.value))?.member == CircleRecovery.number
                default: false
                }
            if isNeeded { try tables.wait(for: parcel) }
        }
        guard try tables.reader.countOfWaiting() <= Self.mostForJoining else {
            throw VaultError.invalidRequest(
                reason: "the store has more than \(Self.mostForJoining) entries and no circle that this vault looks for"
            )
        }
    }

    private static let mostForJoining = 30_000

    /// Whether a log is that of the circle that this vault looks for.
    private func isWanted(_ log: MembershipLog, _ invitation: Invitation?) throws -> Bool {
        if let invitation {
            // Who did not write the invitation cannot make its key for another log.
            return log.invitations[invitation.identifier(pin: log.pin)]?.offer.key == invitation.publicKey(pin: log.pin)
        }
        session.recovery = nil
        return try session.recovery(in: log.circle)?.keys == log.recovery
    }

    private func ask(_ invitation: Invitation, _ log: MembershipLog) throws {
        let name = try tables.reader.state(CircleSession.State.name) ?? Data()
        let identifier = invitation.identifier(pin: log.pin)
        var body = JoinRequest.Body(
            keys: session.own.keys, name: String(decoding: name, as: UTF8.self), formats: MembershipLog.formats)
        if log.invitations[identifier]?.offer.flags.contains(.requiresAttestation) == true {
            body.attestation = try MemberAttestation.make(
                of: session.own, nonce: JoinRequest.attestationNonce(log.circle, identifier, body.keys), in: keybag)
        }
        let request = try JoinRequest(body, in: log.circle, using: invitation, pin: log.pin)
        let key = Identifier16.random().bytes
        try tables.set(CircleSession.State.asked, key)
        try making.hand(.request, key: key, request.encoded)
    }
}
