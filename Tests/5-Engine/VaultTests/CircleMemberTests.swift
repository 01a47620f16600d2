import Access
import Bytes
import Circle
import Crypto
import Enclave
import Foundation
import Items
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// Machines that come and go without a person, and members that change the circle at once.
@Suite struct CircleMemberTests {
    private let unattended: UInt8 = 2
    private let attested: UInt8 = 1

    /// An invitation that needs no person admits as many as it says, with the groups that it names, until its deadline.
    @Test func machinesComeWithoutAPerson() throws {
        let circle = try CircleOfVaults(1)
        try circle.change(0, .addView(group: "TEAM.shared"))
        var shared = circle.item("shared", "1")
        shared.accessGroup = "TEAM.shared"
        _ = try circle[0].add(shared, as: .app)
        _ = try circle[0].add(circle.item("own", "1"), as: .app)
        for _ in 0..<4 { try circle.addPeer() }
        let secret = try circle.ask([1, 2, 3], count: 2, flags: unattended, groups: ["TEAM.shared"])
        let open = try #require(try circle.status(0).invitations.first)
        #expect(open.flags == unattended && open.groups == ["TEAM.shared"] && open.left == 2)
        try circle.settle()
        let standings = try (1...3).map { try circle.status($0).standing }
        #expect(standings.count { $0 == .member } == 2)
        for number in 1...3 where standings[number - 1] == .member {
            #expect(try circle.contents(number) == ["shared": "1"])
            #expect(try circle.status(number).views.map(\.group) == ["TEAM.shared"])
        }
        #expect(try circle.status(0).invitations.isEmpty && circle.status(0).requests.isEmpty)
        try circle.ask(4, with: secret)
        try circle.settle()
        #expect(try circle.status(4).standing == .joining)
        #expect(circle.refused == 0, "\(circle.reasons)")
        // What is written comes from a machine that came so.
        let first = try #require((1...3).first { standings[$0 - 1] == .member })
        _ = try circle[first].update(circle.query("shared"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("shared", at: 0) == "2")
    }

    /// After the deadline, and after its end, an invitation admits nobody.
    @Test(arguments: [true, false]) func anInvitationEnds(byDeadline: Bool) throws {
        let circle = try CircleOfVaults(1)
        try circle.addPeer()
        try circle.addPeer()
        let secret = try circle.ask([1], count: 9, flags: unattended)
        try circle.settle([0, 1])
        #expect(try circle.status(1).standing == .member)
        if byDeadline {
            circle.move(by: 3_600)
        } else {
            let open = try #require(try circle.status(0).invitations.first)
            try circle.change(0, .end(invitation: open.identifier))
            #expect(throws: VaultError.self) { try circle.change(0, .end(invitation: open.identifier)) }
        }
        try circle.settle([0, 1])
        try circle.ask(2, with: secret)
        try circle.settle()
        #expect(try circle.status(2).standing == .joining)
        #expect(try circle.status(0).requests.isEmpty)
    }

    /// A locked vault admits nobody, and does it after the unlocking.
    @Test func aLockedVaultAdmitsLater() throws {
        let circle = try CircleOfVaults(1)
        let passcode = try SecretBytes("1234")
        try circle[0].setPasscode(passcode, options: .cheapest, as: .owner)
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.addPeer()
        let secret = try #require(
            try circle.change(0, .invite(count: 1, seconds: 3_600, rights: 8, flags: unattended)).secret)
        try circle.write(0)
        try circle[0].lock(after: .zero, as: .owner)
        try circle.ask(1, with: secret)
        try circle.settle()
        #expect(try circle.status(1).standing == .joining)
        try circle[0].unlock(with: passcode, as: .owner)
        try circle.settle()
        #expect(try circle.contents(1) == ["alice": "1"])
    }

    /// Who invites decides in the place of a person, and gives nothing that it does not have.
    @Test func nobodyInvitesIntoGroupsOfOthers() throws {
        let circle = try CircleOfVaults(1)
        try circle.change(0, .addView(group: "TEAM.shared"))
        try circle.addPeer()
        try circle.join(1, groups: [CircleOfVaults.group])
        #expect(throws: VaultError.self) {
            try circle.change(
                1, .invite(count: 1, seconds: 60, rights: 8, flags: unattended, groups: ["TEAM.shared"]))
        }
        // A member that lies about it.
        let secret = try circle.engine(1) { making, _ in
            let log = try #require(making.session.log)
            let (invitation, key) = (Invitation(), try #require(try making.session.circleKey()))
            let requestKey = invitation.requestKey(pin: log.pin).withUnsafeBytes { Data($0) }
            try making.append(
                .invite(
                    MembershipEntry.Offer(
                        invitation: invitation.identifier(pin: log.pin), count: 1,
                        deadline: HybridTime(making.now.addingTimeInterval(3_600)), rights: .write,
                        flags: .needsNoPerson, key: invitation.publicKey(pin: log.pin),
                        sealedRequestKey: key.seal(requestKey, in: log.circle),
                        sealedTerms: key.seal(
                            InvitationTerms(groups: ["TEAM.shared"]).encoded, in: log.circle))))
            return try invitation.secret.withUnsafeBytes { try SecretBytes(copying: $0) }
        }
        try circle.write(1)
        try circle.addPeer()
        try circle.ask(2, with: secret)
        circle.move(by: 600)
        try circle.settle()
        #expect(try circle.status(2).standing == .joining)
        // A person may still decide.
        #expect(try circle.status(0).requests.map(\.name) == ["machine 2"])
    }

    // MARK: At once

    /// Two members admit the same machine at once: it is one member, with one number.
    @Test func twoAdmitTheSame() throws {
        for seed in 1...TestScale.count(3, soak: 50) {
            let circle = try CircleOfVaults(3, random: SeededGenerator(seed: UInt64(clamping: seed)))
            try circle.addPeer()
            _ = try circle[0].add(circle.item("alice", "1"), as: .app)
            try circle.settle([0, 1, 2])
            try circle.ask([3], flags: unattended)
            try circle.settle([1, 2])
            // Neither sees what the other one does.
            try circle.read(0)
            try circle.read(1)
            #expect(try circle.status(1).members.count == 3)
            circle.peers[1].clock.move(by: 60)
            try circle.read(1)
            #expect(try circle.status(0).members.count == 4 && circle.status(1).members.count == 4)
            for _ in 0..<2 { try circle.settle() }
            for number in 0..<4 {
                let status = try circle.status(number)
                #expect(status.members.map(\.number) == [1, 2, 3, 4] && status.views.first?.holders == [1, 2, 3, 4])
            }
            #expect(try circle.status(3).number == 4)
            #expect(try circle.contents(3) == ["alice": "1"])
            #expect(circle.refused == 0, "\(circle.reasons)")
        }
    }

    /// Two members admit different machines at once: both get in, each with a number of its own, also if one of them
    /// was at work already under the number that it had first.
    @Test(arguments: [true, false]) func twoAdmitOthers(isAtWork: Bool) throws {
        for seed in 1...TestScale.count(3, soak: 50) {
            let circle = try CircleOfVaults(3, random: SeededGenerator(seed: UInt64(clamping: seed)))
            try circle.addPeer()
            try circle.addPeer()
            _ = try circle[0].add(circle.item("alice", "1"), as: .app)
            try circle.settle([0, 1, 2])
            let secret = try circle.ask([3], count: 5, flags: unattended)
            try circle.settle([1, 2])
            try circle.read(0)
            #expect(try circle.status(0).members.count == 4)
            try circle.ask(4, with: secret)
            try circle.read(1)
            circle.peers[1].clock.move(by: 60)
            try circle.read(1)
            #expect(try circle.status(1).members.count == 5)
            if isAtWork {
                try circle.write(1)
                for number in [3, 4] { for _ in 0..<2 { try circle.carry(number) } }
                for number in [3, 4] {
                    _ = try circle[number].add(circle.item("of \(number)", "1"), as: .app)
                    try circle.write(number)
                }
                // One member more has built on what does not count in the end.
                try circle.read(2)
            }
            for _ in 0..<3 { try circle.settle() }
            let numbers = try (3...4).map { try circle.status($0).number }
            #expect(numbers.sorted() == [4, 5])
            let contents = isAtWork ? ["alice": "1", "of 3": "1", "of 4": "1"] : ["alice": "1"]
            for number in 0..<5 {
                let status = try circle.status(number)
                #expect(status.members.map(\.number) == [1, 2, 3, 4, 5], "at \(number)")
                #expect(status.views.first?.holders == [1, 2, 3, 4, 5], "at \(number)")
                #expect(try circle.contents(number) == contents, "at \(number)")
            }
        }
    }

    /// Two members remove the same one at once, and both give new keys: everybody reads everything in the end.
    @Test func twoRemoveTheSame() throws {
        let circle = try CircleOfVaults(4)
        for number in 0..<4 { _ = try circle[number].add(circle.item("of \(number)", "1"), as: .app) }
        try circle.settle()
        try circle.change(1, .remove(member: 4))
        try circle.change(0, .remove(member: 4))
        for number in 0..<2 {
            _ = try circle[number].update(
                circle.query("of \(number)"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        }
        for _ in 0..<3 { try circle.settle([0, 1, 2]) }
        let expected = ["of 0": "2", "of 1": "2", "of 2": "1", "of 3": "1"]
        for number in 0..<3 { #expect(try circle.contents(number) == expected, "at \(number)") }
        _ = try circle[2].add(circle.item("after", "1"), as: .app)
        try circle.settle()
        for number in 0..<2 { #expect(try circle.value("after", at: number) == "1") }
        #expect(try circle.value("after", at: 3) == nil)
        let generations = try Set((0..<3).map { try circle.status($0).views.first?.generation })
        #expect(generations.count == 1)
        try circle.addPeer()
        try circle.join(4, by: 1)
        try circle.settle()
        #expect(try circle.contents(4) == circle.contents(0))
    }

    // MARK: Attestation

    /// A vault whose enclave is software cannot attest, and does not ask.
    @Test func softwareDoesNotAttest() throws {
        let circle = try CircleOfVaults(1)
        try circle.addPeer()
        let error = #expect(throws: VaultError.self) { try circle.ask([1], flags: attested) }
        guard case .unsupported(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("TPM 2.0"))
        try circle.settle([0])
        #expect(try circle.status(0).requests.isEmpty)
        // Without a person somebody has to know which TPMs.
        #expect(throws: VaultError.self) {
            try circle.change(0, .invite(count: 1, seconds: 60, rights: 8, flags: attested | unattended))
        }
    }

    /// A TPM attests the keys of a machine: a person sees which, and without a person the invitation names it.
    @Test func aTPMAttests() throws {
        let (folder, tpm) = (try TemporaryFolder(), try SoftwareTPM())
        let circle = try CircleOfVaults(1)
        func addMachine(_ name: String) throws {
            try circle.addPeer { _ in
                try EmbeddedVault.open(
                    at: folder.path(of: name), in: .tpm2, enclaves: EnclavePlace(tpm: tpm.address))
            }
            circle.peers[0].clock.set(Date())
        }
        try addMachine("first")
        try circle.ask([1], flags: attested)
        try circle.carry(0)
        let request = try #require(try circle.status(0).requests.first)
        let attester = try #require(request.attester)
        #expect(attester.count == 34 && request.maker == nil)
        try circle.change(0, .approve(request: request.identifier, groups: nil))
        try circle.settle()
        #expect(try circle.status(0).members.map(\.isAttested) == [false, true])
        // Another TPM than the one that is named.
        try addMachine("second")
        var other = attester
        other[20] ^= 1
        try circle.ask([2], flags: attested | unattended, attesters: [other])
        try circle.settle()
        #expect(try circle.status(2).standing == .joining)
        #expect(circle.reasons.contains { $0.contains("does not name") && $0.contains(attester.hexadecimal()) })
        try circle.change(2, .leave)
        try circle.ask([2], flags: attested | unattended, attesters: [other, attester])
        try circle.settle()
        #expect(try circle.status(2).standing == .member)
        #expect(try circle.status(1).members.map(\.isAttested) == [false, true, true])
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 2) == "1")
    }

    /// What a TPM said for one request counts for no other, nor for other keys.
    @Test func anAttestationIsForOneRequest() throws {
        let (folder, tpm) = (try TemporaryFolder(), try SoftwareTPM())
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), in: .tpm2, enclaves: EnclavePlace(tpm: tpm.address))
        let circle = try #require(vault.circle as? VaultCircle)
        try circle.vault.writing(for: AccessGate.authorize(.removeUnreadable)) { _, keybag in
            let (own, other) = (try OwnMember(madeIn: keybag), try OwnMember(madeIn: keybag))
            let (name, invitation) = (Identifier16.random(), Identifier16.random())
            let nonce = JoinRequest.attestationNonce(name, invitation, own.keys)
            let made = try MemberAttestation.make(of: own, nonce: nonce, in: keybag)
            #expect(try MemberAttestation(checking: made, of: own.keys, nonce: nonce).attester.count == 34)
            for wrong in [
                JoinRequest.attestationNonce(name, .random(), own.keys),
                JoinRequest.attestationNonce(.random(), invitation, own.keys),
                JoinRequest.attestationNonce(name, invitation, other.keys),
            ] {
                #expect(throws: CircleError.self) {
                    try MemberAttestation(checking: made, of: own.keys, nonce: wrong)
                }
            }
            #expect(throws: CircleError.self) {
                try MemberAttestation(checking: made, of: other.keys, nonce: nonce)
            }
            var random = SeededGenerator()
            for _ in 0..<200 {
                var changed = made
                changed[Int.random(in: 0..<changed.count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
                // The endorsement key is not signed.
                let found = try? MemberAttestation(checking: changed, of: own.keys, nonce: nonce)
                if let found { #expect(found.attester.count == 34) }
            }
            #expect(throws: CircleError.self) {
                try MemberAttestation(checking: made.dropLast(), of: own.keys, nonce: nonce)
            }
        }
    }
}
