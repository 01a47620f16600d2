import Crypto
import Foundation
import TestSupport
import Testing

@testable import Circle

@Suite struct MembershipLogTests {
    private var circle: CircleUnderTest

    init() throws { circle = try CircleUnderTest() }

    @Test mutating func membersComeAndGo() throws {
        let (second, third) = (try circle.admit(), try circle.admit(rights: .write))
        #expect(circle.log.present.map(\.number) == [1, second, third])
        try circle.append(.remove(third), by: second)
        #expect(circle.log.member(third) == nil)
        #expect(circle.log.members[third]?.removed != nil)
        // A number is never given again.
        #expect(try circle.admit() == 4)
        try circle.append(.leave, by: 4)
        #expect(circle.log.present.map(\.number) == [1, second])
        // Everybody who reads the entries has the same.
        var other = try MembershipLog(first: circle.entries[0], pin: circle.log.pin)
        for entry in circle.entries.dropFirst() { try other.append(entry) }
        #expect(other.head == circle.log.head && other.members == circle.log.members)
    }

    /// A removed machine is never listed again with the keys that it had.
    @Test mutating func aRemovedMemberNeedsNewKeys() throws {
        let second = try circle.admit()
        try circle.append(.remove(second))
        let (invitation, keys) = (Invitation(), try #require(circle.members[second]))
        try circle.append(.invite(try circle.offer(invitation)))
        let again = try circle.admission(keys, with: invitation)
        #expect(throws: CircleError.notPermitted("an admission with the keys of another member")) {
            try circle.append(.admit(again))
        }
        let fresh = try circle.admission(MemberUnderTest(), with: invitation)
        try circle.append(.admit(fresh))
        #expect(circle.log.present.map(\.number) == [1, 3])
    }

    @Test mutating func nobodyDoesMoreThanItMay() throws {
        let guest = try circle.admit(rights: .write)
        let helper = try circle.admit(rights: [.admit, .write])
        let invitation = Invitation()
        let (wide, narrow) = (try circle.offer(invitation), try circle.offer(invitation, rights: .write))
        #expect(throws: CircleError.self) { try circle.append(.invite(narrow), by: guest) }
        #expect(throws: CircleError.self) { try circle.append(.invite(wide), by: helper) }
        #expect(throws: CircleError.self) { try circle.append(.remove(1), by: helper) }
        // The last that may admit and remove stays.
        #expect(throws: CircleError.self) { try circle.append(.leave) }
        #expect(throws: CircleError.self) { try circle.append(.remove(1)) }
        try circle.append(.invite(narrow), by: helper)
        let greedy = try circle.admission(MemberUnderTest(), with: invitation, rights: .all)
        #expect(throws: CircleError.self) { try circle.append(.admit(greedy), by: helper) }
        let skipping = try circle.admission(MemberUnderTest(), with: invitation, rights: .write, number: 9)
        #expect(throws: CircleError.self) { try circle.append(.admit(skipping), by: helper) }
        let right = try circle.admission(MemberUnderTest(), with: invitation, rights: .write)
        #expect(throws: CircleError.self) { try circle.append(.admit(right), by: guest) }
        let count = circle.log.count
        try circle.append(.admit(right), by: helper)
        #expect(circle.log.count == count + 1)
        // It admits one.
        let another = try circle.admission(MemberUnderTest(), with: invitation, rights: .write)
        #expect(throws: CircleError.self) { try circle.append(.admit(another), by: helper) }
        try circle.append(.remove(helper))
        #expect(throws: CircleError.self) {
            try circle.append(.end(invitation.identifier(pin: circle.log.pin)), by: helper)
        }
    }

    @Test mutating func anInvitationIsNeeded() throws {
        let (invitation, other) = (Invitation(), Invitation())
        let stranger = try circle.admission(MemberUnderTest(), with: invitation)
        #expect(throws: CircleError.notPermitted("an admission without an open invitation")) {
            try circle.append(.admit(stranger))
        }
        try circle.append(.invite(try circle.offer(invitation, count: 5, flags: .requiresAttestation, for: 60)))
        // A proof with another secret, under the name of this one.
        var forged = try circle.admission(MemberUnderTest(), with: other)
        forged.invitation = invitation.identifier(pin: circle.log.pin)
        forged.attestation = Data(repeating: 1, count: 32)
        #expect(throws: CircleError.forged("proof of an invitation")) { try circle.append(.admit(forged)) }
        // A proof for other keys.
        var exchanged = try circle.admission(MemberUnderTest(), with: invitation)
        exchanged.attestation = Data(repeating: 1, count: 32)
        exchanged.keys = try MemberUnderTest().keys()
        #expect(throws: CircleError.forged("proof of an invitation")) { try circle.append(.admit(exchanged)) }
        var right = try circle.admission(MemberUnderTest(), with: invitation)
        #expect(throws: CircleError.self) { try circle.append(.admit(right)) }
        right.attestation = Data(repeating: 1, count: 32)
        let clock = circle.clock
        #expect(throws: CircleError.notPermitted("an admission after the invitation's deadline")) {
            try circle.append(.admit(right), after: 60 + CircleClock.tolerance + 5)
        }
        circle.clock = clock
        try circle.append(.admit(right))
        try circle.append(.end(right.invitation))
        var late = try circle.admission(MemberUnderTest(), with: invitation)
        late.attestation = Data(repeating: 1, count: 32)
        #expect(throws: CircleError.self) { try circle.append(.admit(late)) }
    }

    /// The recovery key admits one vault with all rights, and a key that was replaced nobody.
    @Test mutating func theRecoveryKeyAdmits() throws {
        let secrets = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
        let former = try CircleRecovery(secret: secrets.0, in: circle.log.circle)
        let present = try CircleRecovery(secret: secrets.1, in: circle.log.circle)
        #expect(throws: CircleError.notPermitted("a recovery without a recovery key")) {
            try circle.recover(with: former)
        }
        let guest = try circle.admit(rights: .write)
        #expect(throws: CircleError.self) { try circle.append(.recoveryKey(former.keys), by: guest) }
        try circle.append(.recoveryKey(former.keys))
        #expect(throws: CircleError.self) { try circle.append(.recoveryKey(former.keys)) }
        #expect(throws: CircleError.forged("entry of the circle's log")) { try circle.recover(with: present) }
        #expect(try circle.recover(with: former) == 3)
        #expect(circle.log.member(3)?.rights == .all)
        try circle.append(.recoveryKey(present.keys), by: 3)
        #expect(throws: CircleError.self) { try circle.recover(with: former) }
        try circle.recover(with: present)
        // It signs nothing else.
        let entry = try circle.log.entry(
            .remove(1), signer: CircleRecovery.number, time: .zero, signedBy: present.signer)
        #expect(throws: CircleError.self) { try circle.append(entry.encoded) }
        // A key that is replaced does not undo that.
        let replacing = try MembershipEntry(decoding: circle.entry(.recoveryKey(former.keys), by: 3))
        let coming = try circle.log.entry(
            .recover(
                MembershipEntry.Recovery(
                    number: 9, keys: MemberUnderTest().keys(), sealedName: Data(), formats: 1)),
            signer: CircleRecovery.number, time: .zero, signedBy: present.signer)
        #expect(replacing.precedes(coming) && !coming.precedes(replacing))
    }

    /// Entries that only later software understands end what this one takes.
    @Test mutating func laterSoftwareIsAskedFor() throws {
        let second = try circle.admit()
        try circle.append(.minimum(formats: 1, version: "0.3.0"))
        #expect(throws: CircleError.needsLater("9.0")) {
            try circle.append(.minimum(formats: 3, version: "9.0"), by: second)
        }
        #expect(throws: CircleError.needsLater(nil)) {
            try circle.append(.unknown(type: 200, Data([1, 2])), by: second)
        }
        // Nobody but a member asks for that.
        #expect(throws: CircleError.forged("entry of the circle's log")) {
            try circle.append(.unknown(type: 200, Data()), by: second, signedBy: MemberUnderTest())
        }
        let guest = try circle.admit(rights: .write)
        #expect(throws: CircleError.self) { try circle.append(.minimum(formats: 1, version: "1"), by: guest) }
        // Nobody is admitted who does not read what the circle needs.
        let invitation = Invitation()
        try circle.append(.invite(try circle.offer(invitation)))
        var outdated = try circle.admission(MemberUnderTest(), with: invitation)
        outdated.formats = 2
        #expect(throws: CircleError.self) { try circle.append(.admit(outdated)) }
    }

    /// A member that was removed still knows the words of its invitations.
    @Test mutating func aRemovalEndsInvitations() throws {
        let (second, invitation) = (try circle.admit(), Invitation())
        try circle.append(.invite(try circle.offer(invitation, flags: .needsNoPerson)), by: second)
        let admission = try circle.admission(MemberUnderTest(), with: invitation)
        try circle.append(.remove(second))
        #expect(throws: CircleError.notPermitted("an admission without an open invitation")) {
            try circle.append(.admit(admission))
        }
    }

    /// A store changes, drops, exchanges and inserts entries. No member takes such a log.
    @Test mutating func aStoreChangesNothing() throws {
        for _ in 0..<3 { try circle.admit() }
        try circle.append(.remove(2))
        let original = circle.entries
        var random = SeededGenerator()
        let stranger = try CircleUnderTest()
        for round in 0..<TestScale.count(300, soak: 1_000) {
            var entries = original
            let index = Int.random(in: 0..<entries.count, using: &random)
            switch round % 5 {
            case 0:
                let place = Int.random(in: 0..<entries[index].count, using: &random)
                entries[index][place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: entries.remove(at: min(index, entries.count - 2))
            case 2: entries.swapAt(index, (index + 1) % entries.count)
            case 3: entries.insert(try #require(entries.randomElement(using: &random)), at: index)
            default: entries[0] = stranger.entries[0]
            }
            #expect(throws: CircleError.self) {
                var log = try MembershipLog(first: entries[0], pin: circle.log.pin)
                for entry in entries.dropFirst() { try log.append(entry) }
            }
        }
    }

    /// The secret recognizes the circle: a store cannot show another log under the same names.
    @Test mutating func anInvitationIsForOneCircle() throws {
        let invitation = Invitation()
        try circle.append(.invite(try circle.offer(invitation)))
        let other = try CircleUnderTest()
        #expect(invitation.publicKey(pin: circle.log.pin) != invitation.publicKey(pin: other.log.pin))
        #expect(invitation.identifier(pin: circle.log.pin) != invitation.identifier(pin: other.log.pin))
        #expect(other.log.invitations[invitation.identifier(pin: other.log.pin)] == nil)
        #expect(circle.log.invitations[invitation.identifier(pin: circle.log.pin)] != nil)
    }

    /// Two members write an entry at once, each where the other does not see it.
    @Test mutating func oneOfTwoEntriesCounts() throws {
        let (second, third) = (try circle.admit(), try circle.admit())
        let removal = try MembershipEntry(decoding: circle.entry(.remove(second), by: third))
        let invitation = try MembershipEntry(decoding: circle.entry(.invite(circle.offer(Invitation())), by: 1))
        let another = try MembershipEntry(decoding: circle.entry(.invite(circle.offer(Invitation())), by: second))
        #expect(removal.precedes(invitation) && !invitation.precedes(removal))
        #expect(invitation.precedes(another) && !another.precedes(invitation))
        #expect(!removal.precedes(removal))
    }

    @Test mutating func keysAreForTheirMember() throws {
        let second = try circle.admit()
        let member = try #require(circle.members[second])
        let delivery = try KeyDelivery(
            SymmetricKey(size: .bits256), of: .random(), generation: 0, in: circle.log.circle, to: second,
            .whileUnlocked, member.keys())
        _ = try delivery.open(with: member.secrets(.whileUnlocked))
        #expect(throws: CircleError.self) { try delivery.open(with: member.secrets(.afterFirstUnlock)) }
        #expect(throws: CircleError.self) { try delivery.open(with: MemberUnderTest().secrets(.whileUnlocked)) }
        var random = SeededGenerator()
        for _ in 0..<100 {
            var changed = delivery.encoded
            changed[Int.random(in: 9..<changed.count, using: &random)] ^= 1
            #expect(throws: (any Error).self) {
                try KeyDelivery(decoding: changed).open(with: member.secrets(.whileUnlocked))
            }
        }
        // Who breaks one of the two keys opens nothing.
        let half = try MemberSecrets(
            agreement: #require(member.agreement[.whileUnlocked]), hybrid: Data(count: 32))
        #expect(throws: CircleError.self) { try delivery.open(with: half) }
        let otherHalf = try MemberSecrets(
            agreement: P256.KeyAgreement.PrivateKey(), hybrid: #require(member.hybrid[.whileUnlocked]))
        #expect(throws: CircleError.self) { try delivery.open(with: otherHalf) }
    }
}
