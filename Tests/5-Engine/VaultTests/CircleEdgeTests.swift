import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// What happens seldom in a circle.
@Suite struct CircleEdgeTests {
    /// A machine whose clock is years ahead changes items until ten years; what is later is refused, and the item can
    /// still be changed.
    @Test func aVersionTenYearsAhead() throws {
        let circle = try CircleOfVaults(2)
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        let year: TimeInterval = 366 * 24 * 3_600
        circle.peers[1].clock.move(by: 9.9 * year)
        _ = try circle[1].update(circle.query("alice"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 0) == "2" && circle.refused == 0)
        // Whoever changes it next is later.
        _ = try circle[0].update(circle.query("alice"), with: ItemChanges(value: Data("3".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 1) == "3")
        circle.peers[1].clock.move(by: year)
        _ = try circle[1].update(circle.query("alice"), with: ItemChanges(value: Data("4".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 0) == "3")
        #expect(circle.reasons.contains { $0.contains("years ahead") })
        _ = try circle[0].update(circle.query("alice"), with: ItemChanges(value: Data("5".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 0) == "5")
    }

    /// The generation of a view follows the number of the log's entry, and so it jumps: nothing under a former one is
    /// lost, also of a member that saw none of it.
    @Test func aJumpOfGenerations() throws {
        let circle = try CircleOfVaults(4)
        for number in 0..<4 { _ = try circle[number].add(circle.item("of \(number)", "1"), as: .app) }
        try circle.settle()
        for _ in 0..<5 { try circle.change(0, .invite(count: 1, seconds: 86_400, rights: 8)) }
        try circle.change(0, .remove(member: 4))
        try circle.settle([0, 2])
        _ = try circle[1].add(circle.item("unseen", "1"), as: .app)
        try circle.write(1)
        for _ in 0..<5 { try circle.change(2, .invite(count: 1, seconds: 86_400, rights: 8)) }
        try circle.settle([0, 2])
        try circle.change(2, .remove(member: 1))
        _ = try circle[2].add(circle.item("late", "1"), as: .app)
        try circle.settle([1, 2])
        try circle.settle([1, 2])
        let generations = try [1, 2].map { try #require(circle.status($0).views.first).generation }
        #expect(generations[0] == generations[1] && generations[0] > 12, "\(generations)")
        #expect(try circle.contents(1) == circle.contents(2))
        #expect(
            try Set(circle.contents(1).keys)
                == ["of 0", "of 1", "of 2", "of 3", "unseen", "late"])
        #expect(try circle.status(1).waiting == 0 && circle.status(2).waiting == 0)
    }

    /// Two members invite at once. Whoever has the words of either finds its circle, whichever of the entries counts.
    @Test(arguments: [0, 1]) func joiningAlongTwoBranches(inviter: Int) throws {
        let circle = try CircleOfVaults(2)
        try circle.addPeer()
        let secrets = try (0..<2).map { number in
            try #require(try circle.change(number, .invite(count: 1, seconds: 86_400, rights: 15)).secret)
        }
        // Both entries have one number, and neither member saw the other's.
        for number in 0..<2 { try circle.write(number) }
        try circle.change(
            2, .join(secret: secrets[inviter], name: "third", location: "test:", groups: [CircleOfVaults.group]))
        for _ in 0..<2 { try circle.carry(2) }
        try circle.settle()
        let request = try #require(try circle.status(inviter).requests.first)
        #expect(try circle.status(2).fingerprint == request.fingerprint)
        try circle.change(inviter, .approve(request: request.identifier, groups: nil))
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        for number in 0..<3 {
            #expect(try circle.status(number).standing == .member)
            #expect(try circle.value("alice", at: number) == "1")
        }
    }

    /// What nobody of the circle signed waits up to a number of bytes, and is given up when there is more.
    @Test func whatNobodySignedHasABound() throws {
        let circle = try CircleOfVaults(2)
        let views = try circle[0].perform(ReadCircle(), as: .owner)
        let name = try #require(views.circle)
        func junk(_ number: UInt32) -> CircleObject {
            let head = Data("SKVIEWEN".utf8) + [1] + name + Data(count: 16) + Data(UInt32(2).bigEndianBytes)
            let rest = Data(number.bigEndianBytes) + Data(UInt32(77).bigEndianBytes) + Data(count: 500_000)
            return CircleObject(
                .viewEntry, key: Data(count: 20) + Data(number.bigEndianBytes), value: head + rest)
        }
        var refused = 0
        for number in UInt32(0)..<60 {
            refused += try circle[0].perform(TakeCircleObjects([junk(number)], from: "test"), as: .owner).refused
        }
        // Eight mebibytes were given up once, and the next eight stay until an hour is over.
        #expect((20...32).contains(refused), "\(refused)")
        circle.peers[0].clock.move(by: 3_700)
        #expect(try circle[0].perform(TakeCircleObjects([junk(99)], from: "test"), as: .owner).refused == 0)
        // Others still reach the vault.
        _ = try circle[1].add(circle.item("alice", "value"), as: .app)
        try circle.settle()
        #expect(try circle.contents(0) == circle.contents(1))
    }

    /// A program that may synchronize cannot have the vault keep places for any number of carriers.
    @Test func aVaultHasFewCarriers() throws {
        let circle = try CircleOfVaults(1)
        for number in 0..<3 {
            _ = try circle[0].perform(TakeCircleObjects([], from: "\(number)", place: Data([1])), as: .owner)
        }
        #expect(throws: VaultError.self) {
            for number in 3..<9 {
                _ = try circle[0].perform(TakeCircleObjects([], from: "\(number)", place: Data([1])), as: .owner)
            }
        }
        _ = try circle[0].perform(TakeCircleObjects([], from: "0", place: Data([2])), as: .owner)
    }

    /// Addresses of etcd have a scheme, a host and at most a port.
    @Test func addressesOfEtcd() {
        for (text, plain) in [
            ("https://etcd-1:2379", "https://etcd-1:2379"), ("HTTP://etcd/", "http://etcd"),
            ("https://[::1]:2379", "https://[::1]:2379"), ("http://127.0.0.1:99999", nil), ("http://", nil),
            ("http:///x", nil), ("https://u:p@etcd:2379", nil), ("https://etcd:2379/v3", nil), ("etcd:2379", nil),
            ("https://etcd?x=1", nil), ("https://etcd#x", nil), ("https://etcd:0", nil), ("", nil),
        ] { #expect(CircleLocation.endpoint(text) == plain, "\(text)") }
    }

    /// Of many records at once, whose signatures are checked on another core, each wrong one is refused: also one whose
    /// signature is that of another.
    @Test func manyRecordsAtOnce() throws {
        let circle = try CircleOfVaults(2)
        for number in 0..<300 { _ = try circle[0].add(circle.item("\(number)", "value"), as: .app) }
        var (records, changed) = ([CircleObject](), [CircleObject]())
        circle.tamper = { object in
            guard object.kind == .record else { return [object] }
            records.append(object)
            guard records.count.isMultiple(of: 10) else { return [object] }
            changed.append(object)
            var wrong = object
            switch records.count / 10 % 4 {
            case 0: wrong.value[wrong.value.count - 1] ^= 1
            case 1: wrong.value[60] ^= 1
            case 2: wrong.key[20] ^= 1
            default: wrong.value = wrong.value.dropLast(64) + records[0].value.suffix(64)
            }
            return [object, wrong].shuffled().filter { $0 != object || !records.count.isMultiple(of: 20) }
        }
        try circle.carry(0)
        try circle.carry(1)
        #expect(records.count == 300 && circle.refused == 30)
        #expect(try circle.contents(1).count == 285)
        let taken = try circle[1].perform(TakeCircleObjects(changed, from: "test"), as: .owner)
        #expect(taken.refused == 0 && taken.changed == 15)
        #expect(try circle.contents(1) == circle.contents(0))
    }

    /// An item of this vault that could not be handed on before the lock, and has the name of one that arrives.
    @Test func aLockedItemOfTheSameNameWaits() throws {
        let circle = try CircleOfVaults(2)
        let passcode = try SecretBytes("1234")
        try circle[1].setPasscode(passcode, options: .cheapest, as: .owner)
        _ = try circle[0].add(circle.item("alice", "1", protection: .afterFirstUnlock), as: .app)
        try circle.settle()
        _ = try circle[1].delete(circle.query("alice"), as: .app)
        _ = try circle[1].add(circle.item("alice", "2", protection: .whenUnlocked), as: .app)
        try circle[1].lock(after: .zero, as: .owner)
        _ = try circle[0].update(circle.query("alice"), with: ItemChanges(value: Data("3".utf8)), as: .app)
        try circle.write(0)
        try circle.read(1)
        #expect(circle.refused == 0, "\(circle.reasons)")
        try circle[1].unlock(with: passcode, as: .owner)
        try circle.settle()
        #expect(circle.refused == 0, "\(circle.reasons)")
        #expect(try circle.value("alice", at: 0) == circle.value("alice", at: 1))
        #expect(try circle.value("alice", at: 0) == "3")
        #expect(try circle.status(1).waiting == 0)
    }
}
