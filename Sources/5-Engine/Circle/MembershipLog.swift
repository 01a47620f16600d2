import Bytes
import Crypto
import FoundationEssentials

/// The members of a circle, as its log says. It takes entries in their order, and refuses each that the members could
/// not have made.
package struct MembershipLog: Sendable {
    package struct Member: Sendable, Hashable {
        package let number: UInt32
        package let keys: MemberKeys
        package let rights: MemberRights
        package let sealedName: Data
        package let formats: UInt32
        package let attestation: Data
        /// The number of the entry that admitted it.
        package let admitted: UInt32
        /// The invitation with which it came; nil for the first member and for one that the recovery key admitted.
        package let invitation: Identifier16?
        /// The number of the entry with which it was removed, or left; nil while it is a member.
        package fileprivate(set) var removed: UInt32?
        /// The time of the entry with which it left; nil for a member, and for one that another member removed. What it
        /// wrote before has the same time or an earlier one.
        package fileprivate(set) var left: HybridTime?
    }

    package struct OpenInvitation: Sendable, Hashable {
        package let offer: MembershipEntry.Offer
        package let inviter: UInt32
        /// How many members it still admits.
        package fileprivate(set) var left: UInt16
        package fileprivate(set) var isEnded = false
    }

    package let circle: Identifier16
    /// The digest of the first entry: it stands for the circle, and no other log has it.
    package let pin: Data
    package let keyCommitment: Data
    /// The digest of the last entry.
    package private(set) var head: Data
    /// How many entries there are.
    package private(set) var count: UInt32
    /// All that ever were members, by number.
    package private(set) var members: [UInt32: Member]
    package private(set) var invitations: [Identifier16: OpenInvitation] = [:]
    package private(set) var lastTime: HybridTime
    /// The public halves of the recovery key; nil if there is none.
    package private(set) var recovery: MemberKeys?
    /// Who set it.
    private var recoverySetter: UInt32?
    /// The formats that each member has to read.
    package private(set) var minimum: UInt32 = 0

    /// The formats that this software reads, one bit for each.
    package static let formats: UInt32 = 1

    /// The first entry of a circle, which makes its first member, with all rights.
    ///
    /// - Parameters:
    ///   - encoded: The entry.
    ///   - pin: The digest that the entry must have; nil if the caller checks ``pin`` itself.
    package init(first encoded: Data, pin: Data? = nil) throws(CircleError) {
        let entry = try MembershipEntry(decoding: encoded)
        guard entry.number == 0, entry.previous == Data(count: 32), entry.signer == 1,
            case .create(let creation) = entry.body
        else { throw .notPermitted("a log that does not begin with the circle") }
        if let pin, pin != entry.digest { throw .notPermitted("the log of another circle") }
        try entry.check(signedBy: creation.keys)
        (circle, self.pin, head, count) = (entry.circle, entry.digest, entry.digest, 1)
        (keyCommitment, lastTime) = (creation.keyCommitment, entry.time)
        members = [
            1: Member(
                number: 1, keys: creation.keys, rights: .all, sealedName: creation.sealedName,
                formats: creation.formats, attestation: Data(count: 32), admitted: 0, invitation: nil)
        ]
    }

    /// Those who are members.
    package var present: [Member] { members.values.filter { $0.removed == nil }.sorted { $0.number < $1.number } }

    /// The member with this number; nil if it was removed, left, or never was one.
    package func member(_ number: UInt32) -> Member? { members[number].flatMap { $0.removed == nil ? $0 : nil } }

    package var nextNumber: UInt32 { (members.keys.max() ?? 0) + 1 }

    /// Makes an entry that comes next.
    package func entry(
        _ body: MembershipEntry.Body, signer: UInt32, time: HybridTime, signedBy sign: CircleSigner
    ) throws -> MembershipEntry {
        try MembershipEntry(
            body, in: circle, number: count, previous: head, time: time, signer: signer, signedBy: sign)
    }

    /// Takes the next entry.
    ///
    /// - Throws: ``CircleError``; the log is as it was then. ``CircleError/outOfOrder`` says only that the entry does
    ///   not come next here.
    @discardableResult
    package mutating func append(_ encoded: Data) throws(CircleError) -> MembershipEntry {
        let entry = try MembershipEntry(decoding: encoded)
        guard entry.circle == circle else { throw .notPermitted("an entry of another circle") }
        guard entry.number == count, entry.previous == head else { throw .outOfOrder }
        try check(entry)
        var changed = self
        if case .recover(let recovered) = entry.body {
            try changed.recover(recovered, entry)
        } else {
            guard let signer = member(entry.signer) else {
                throw .notPermitted("an entry of somebody who is no member")
            }
            try changed.apply(entry, by: signer)
        }
        changed.head = entry.digest
        changed.count += 1
        changed.lastTime = max(lastTime, entry.time)
        self = changed
        return entry
    }

    /// Makes sure that who signed an entry is a member, or has the recovery key.
    package func check(_ entry: MembershipEntry) throws(CircleError) {
        if case .recover = entry.body {
            guard entry.signer == 0, let recovery else { throw .notPermitted("a recovery without a recovery key") }
            return try entry.check(signedBy: recovery)
        }
        guard let signer = member(entry.signer) else { throw .notPermitted("an entry of somebody who is no member") }
        try entry.check(signedBy: signer.keys)
    }

    private mutating func apply(_ entry: MembershipEntry, by signer: Member) throws(CircleError) {
        switch entry.body {
        case .create, .recover: throw .notPermitted("a circle in a circle")
        case .invite(let offer):
            try require(.admit, of: signer)
            guard offer.rights.isSubset(of: signer.rights) else {
                throw .notPermitted("an invitation with more rights than who made it has")
            }
            guard invitations[offer.invitation] == nil, offer.count > 0 else {
                throw .notPermitted("an invitation that was made before, or admits nobody")
            }
            invitations[offer.invitation] = OpenInvitation(offer: offer, inviter: signer.number, left: offer.count)
        case .admit(let admission):
            try require(.admit, of: signer)
            try admit(admission, entry)
        case .remove(let number):
            try require(.remove, of: signer)
            guard member(number) != nil else { throw .notPermitted("the removal of somebody who is no member") }
            try checkSomebodyIsLeft(without: number)
            members[number]?.removed = entry.number
            // Who was removed knows the words of the invitations that it made, and the recovery key.
            for (name, invitation) in invitations where invitation.inviter == number {
                invitations[name]?.isEnded = true
            }
            if recoverySetter == number { (recovery, recoverySetter) = (nil, nil) }
        case .leave:
            try checkSomebodyIsLeft(without: signer.number)
            members[signer.number]?.removed = entry.number
            members[signer.number]?.left = entry.time
        case .end(let invitation):
            try require(.admit, of: signer)
            guard invitations[invitation] != nil else { throw .notPermitted("the end of an unknown invitation") }
            invitations[invitation]?.isEnded = true
        case .minimum(let formats, let version):
            try require([.admit, .remove], of: signer)
            guard formats & ~Self.formats == 0 else { throw .needsLater(version) }
            minimum |= formats
        case .recoveryKey(let keys):
            try require([.admit, .remove], of: signer)
            guard recovery != keys, !members.values.contains(where: { $0.keys.signing == keys.signing }) else {
                throw .notPermitted("a recovery key that is in use")
            }
            (recovery, recoverySetter) = (keys, signer.number)
        case .unknown: throw .needsLater(nil)
        }
    }

    /// Admits a member with all rights, without a member.
    private mutating func recover(
        _ recovered: MembershipEntry.Recovery, _ entry: MembershipEntry
    ) throws(CircleError) {
        try checkNewcomer(recovered.number, recovered.keys, recovered.formats)
        members[recovered.number] = Member(
            number: recovered.number, keys: recovered.keys, rights: .all, sealedName: recovered.sealedName,
            formats: recovered.formats, attestation: Data(count: 32), admitted: entry.number, invitation: nil)
    }

    private func checkNewcomer(_ number: UInt32, _ keys: MemberKeys, _ formats: UInt32) throws(CircleError) {
        guard number == nextNumber else { throw .notPermitted("an admission with another number") }
        // A removed machine that comes back has new keys.
        guard !members.values.contains(where: { $0.keys.signing == keys.signing }), keys.signing != recovery?.signing
        else { throw .notPermitted("an admission with the keys of another member") }
        guard formats & minimum == minimum else {
            throw .notPermitted("an admission of software that does not read what the circle needs")
        }
    }

    private func require(_ rights: MemberRights, of signer: Member) throws(CircleError) {
        guard signer.rights.isSuperset(of: rights) else {
            throw .notPermitted("an entry of a member without the right")
        }
    }

    /// Nobody could admit or remove anybody any more.
    private func checkSomebodyIsLeft(without number: UInt32) throws(CircleError) {
        guard present.contains(where: { $0.number != number && $0.rights.isSuperset(of: [.admit, .remove]) }) else {
            throw .notPermitted("the removal of the last member that may admit and remove others")
        }
    }

    private mutating func admit(_ admission: MembershipEntry.Admission, _ entry: MembershipEntry) throws(CircleError) {
        guard let invitation = invitations[admission.invitation], !invitation.isEnded, invitation.left > 0 else {
            throw .notPermitted("an admission without an open invitation")
        }
        let limit = invitation.offer.deadline.date.addingTimeInterval(CircleClock.tolerance)
        guard entry.time.date <= limit else { throw .notPermitted("an admission after the invitation's deadline") }
        guard admission.rights.isSubset(of: invitation.offer.rights) else {
            throw .notPermitted("an admission with more rights than the invitation has")
        }
        try checkNewcomer(admission.number, admission.keys, admission.formats)
        if invitation.offer.flags.contains(.requiresAttestation), admission.attestation == Data(count: 32) {
            throw .notPermitted("an admission without the attestation that the invitation asks for")
        }
        try JoinRequest.check(
            admission.proof, circle, admission.invitation, admission.keys, key: invitation.offer.key)
        invitations[admission.invitation]?.left -= 1
        members[admission.number] = Member(
            number: admission.number, keys: admission.keys, rights: admission.rights,
            sealedName: admission.sealedName, formats: admission.formats, attestation: admission.attestation,
            admitted: entry.number, invitation: admission.invitation)
    }
}

/// Which of two entries with the same number and the same predecessor counts, where the store cannot decide: two
/// members wrote into their own folders at once.
extension MembershipEntry {
    /// A removal counts before all else, then a new recovery key, then the entry of the member with the lower number,
    /// then the one with the lower digest. The member that made the other one makes it again.
    package func precedes(_ other: MembershipEntry) -> Bool {
        if isRemoval != other.isRemoval { return isRemoval }
        // Or a recovery key that was replaced would undo that.
        if setsRecoveryKey != other.setsRecoveryKey { return setsRecoveryKey }
        if signer != other.signer { return signer < other.signer }
        return digest.lexicographicallyPrecedes(other.digest)
    }

    private var isRemoval: Bool { if case .remove = body { true } else { false } }

    private var setsRecoveryKey: Bool { if case .recoveryKey = body { true } else { false } }
}
