import Access
import Bytes
import Circle
import Foundation
import Items
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// The recovery key of a circle.
@Suite struct CircleRecoveryTests {
    private func makeKey(_ circle: CircleOfVaults, at number: Int = 0) throws -> SecretBytes {
        try #require(try circle.change(number, .makeRecoveryKey).secret)
    }

    /// Adds a vault that comes back, and carries what the others have written.
    private func recover(_ circle: CircleOfVaults, with key: SecretBytes) throws -> Int {
        try circle.addPeer()
        let number = circle.peers.count - 1
        circle.peers[number].clock.set(circle.peers[0].clock.now())
        try circle.change(number, .recover(key: key, name: "again", location: "test:"))
        for _ in 0..<5 { try circle.carry(number) }
        return number
    }

    /// All members are gone: the store and the key give everything back.
    @Test func theStoreAndTheKeyGiveEverythingBack() throws {
        let circle = try CircleOfVaults(2)
        try circle.change(0, .addView(group: "TEAM.shared"))
        let key = try makeKey(circle)
        #expect(try circle.status(0).hasRecoveryKey)
        for number in 0..<20 {
            _ = try circle[number % 2].add(
                circle.item(
                    "\(number)", "value \(number)", protection: number < 10 ? .whenUnlocked : .afterFirstUnlock),
                as: .app)
        }
        var shared = circle.item("shared", "1")
        shared.accessGroup = "TEAM.shared"
        _ = try circle[0].add(shared, as: .app)
        try circle.settle()
        #expect(try circle.status(1).hasRecoveryKey)
        let back = try recover(circle, with: key)
        let status = try circle.status(back)
        #expect(status.standing == .member && status.number == 3)
        #expect(status.members.last?.rights == 15 && status.members.last?.name == "again")
        #expect(status.views.map(\.group) == [CircleOfVaults.group, "TEAM.shared"])
        #expect(status.views.allSatisfy { $0.holders.contains(3) })
        #expect(try circle.contents(back) == circle.contents(0))
        #expect(try circle.contents(back).count == 21)
        #expect(status.waiting == 0)
        // It keeps nothing of the key, and does what a member does.
        let kept = try circle.engine(back) { making, _ in
            try making.tables.reader.state(CircleSession.State.recovery)
        }
        #expect(kept == nil)
        for member in [UInt32(1), 2] { try circle.change(back, .remove(member: member)) }
        _ = try circle[back].add(circle.item("after", "1"), as: .app)
        try circle.addPeer()
        try circle.join(3, by: back)
        try circle.settle([2, 3])
        #expect(try circle.value("after", at: 3) == "1" && circle.value("3", at: 3) == "value 3")
        #expect(circle.refused == 0, "\(circle.reasons)")
    }

    /// The members that are left take one that came back with the key for what it is.
    @Test func theOthersGoOnWithIt() throws {
        let circle = try CircleOfVaults(2)
        let key = try makeKey(circle, at: 1)
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        let back = try recover(circle, with: key)
        try circle.settle()
        _ = try circle[back].update(circle.query("alice"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        _ = try circle[1].add(circle.item("bob", "1"), as: .app)
        try circle.settle()
        for number in 0..<3 {
            #expect(try circle.contents(number) == ["alice": "2", "bob": "1"])
            #expect(try circle.status(number).views.first?.holders == [1, 2, 3])
        }
        #expect(circle.refused == 0, "\(circle.reasons)")
    }

    /// A view that only another member holds gets the key, too, and so does what has new keys after a removal.
    @Test func everyViewAndEveryGenerationGetsIt() throws {
        let circle = try CircleOfVaults(3)
        try circle.change(1, .addView(group: "TEAM.shared"))
        var shared = circle.item("shared", "1")
        shared.accessGroup = "TEAM.shared"
        _ = try circle[1].add(shared, as: .app)
        try circle.settle()
        let key = try makeKey(circle)
        try circle.settle()
        try circle.change(0, .remove(member: 3))
        _ = try circle[0].add(circle.item("after", "1"), as: .app)
        try circle.settle([0, 1])
        let back = try recover(circle, with: key)
        #expect(try circle.contents(back) == ["after": "1", "shared": "1"])
    }

    /// A member that left, and nobody was there who gave new keys: what it wrote comes back.
    @Test func whatIsLeftOfAMemberThatLeftComesBack() throws {
        let circle = try CircleOfVaults(2)
        let key = try makeKey(circle)
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        _ = try circle[0].add(circle.item("bob", "1"), as: .app)
        try circle.change(0, .leave)
        try circle.write(0)
        let back = try recover(circle, with: key)
        #expect(try circle.contents(back) == ["alice": "1", "bob": "1"])
    }

    /// A key that was replaced finds no circle any more, and opens nothing new in an old state of the store either.
    @Test func aReplacedKeyOpensNothingNew() throws {
        let circle = try CircleOfVaults(2)
        let former = try makeKey(circle)
        try circle.change(1, .addView(group: "TEAM.shared"))
        _ = try circle[0].add(circle.item("before", "1"), as: .app)
        try circle.settle()
        let entries = circle.peers.flatMap(\.own).count { $0.kind == .entry }
        let present = try makeKey(circle)
        _ = try circle[0].add(circle.item("after", "1"), as: .app)
        try circle.settle()
        _ = try circle[1].add(circle.item("of 1", "1"), as: .app)
        try circle.settle()
        var shared = circle.item("shared", "1")
        shared.accessGroup = "TEAM.shared"
        _ = try circle[1].add(shared, as: .app)
        try circle.settle()
        let stranger = try recover(circle, with: former)
        #expect(try circle.status(stranger).standing == .joining && circle.status(stranger).circle == nil)
        // Somebody shows it the store without the last entries of the log.
        circle.tamper = { object in
            object.kind == .entry && object.key.last ?? 0 >= entries ? [] : [object]
        }
        let deceived = try recover(circle, with: former)
        #expect(try circle.status(deceived).standing == .member)
        let found = try circle.contents(deceived)
        #expect(found == ["before": "1"], "\(found)")
        circle.tamper = nil
        let back = try recover(circle, with: present)
        #expect(try circle.contents(back) == ["before": "1", "after": "1", "of 1": "1", "shared": "1"])
    }

    /// Whoever is removed knows the recovery key that it made: it admits nobody, and opens nothing new.
    @Test func aRemovedMembersKeyIsVoid() throws {
        let circle = try CircleOfVaults(3)
        try circle.change(2, .addView(group: "TEAM.shared"))
        let key = try makeKey(circle, at: 1)
        try circle.settle()
        #expect(try circle.status(2).hasRecoveryKey)
        try circle.change(0, .remove(member: 2))
        try circle.settle([0, 2])
        #expect(try !circle.status(2).hasRecoveryKey)
        var shared = circle.item("shared", "1")
        shared.accessGroup = "TEAM.shared"
        _ = try circle[2].add(shared, as: .app)
        _ = try circle[0].add(circle.item("after", "1"), as: .app)
        try circle.settle([0, 2])
        let back = try recover(circle, with: key)
        #expect(try circle.status(back).standing == .joining)
        // Without the entry that removed it.
        circle.tamper = { $0.kind == .entry && $0.key.last ?? 0 >= 6 ? [] : [$0] }
        let deceived = try recover(circle, with: key)
        #expect(try circle.status(deceived).standing == .member)
        #expect(try circle.contents(deceived).isEmpty)
    }

    @Test func aKeyThatIsNoneIsRefused() throws {
        let circle = try CircleOfVaults(1)
        let key = try makeKey(circle).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        try circle.addPeer()
        var typed = Array(key)
        typed[0] = typed[0] == "A" ? "B" : "A"
        for wrong in ["", "hello", String(typed), String(key.dropLast())] {
            #expect(throws: VaultError.self) {
                try circle.change(1, .recover(key: SecretBytes(wrong), name: "again", location: "test:"))
            }
        }
        #expect(try circle.status(1).standing == .none)
        // Another circle's key finds none.
        let other = try CircleOfVaults(1)
        let number = try recover(circle, with: makeKey(other))
        #expect(try circle.status(number).standing == .joining)
        try circle.change(number, .leave)
        #expect(try circle.status(number).standing == .none)
        // A guest makes none.
        try circle.join(1, rights: 8)
        #expect(throws: VaultError.self) { try circle.change(1, .makeRecoveryKey) }
    }
}
