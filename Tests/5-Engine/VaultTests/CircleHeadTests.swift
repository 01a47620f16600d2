import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// What members tell each other of how far they have got.
@Suite struct CircleHeadTests {
    /// What a vault has for the others, when its carrier says `statement`.
    private func collect(
        _ vault: EmbeddedVault, _ statement: String?, carrier: String = "test"
    ) throws -> (objects: [CircleObject], reply: CollectedObjects) {
        var objects: [CircleObject] = []
        let reply = try vault.perform(
            CollectCircleObjects(for: carrier, statement: statement.map { Data($0.utf8) }), as: .owner
        ) { (object: CircleObject) throws(VaultError) in objects.append(object) }
        _ = try vault.perform(CollectCircleObjects(for: carrier, settled: reply.through, limit: 0), as: .owner) {
            (_: CircleObject) throws(VaultError) in
        }
        return (objects, reply)
    }

    private func take(_ objects: [CircleObject], _ vault: EmbeddedVault) throws -> TakenObjects {
        try vault.perform(TakeCircleObjects(objects, from: "test", place: Data([1])), as: .owner)
    }

    private func heads(_ vault: EmbeddedVault, _ carrier: String = "test") throws -> [CircleHead] {
        try collect(vault, "same", carrier: carrier).reply.heads
    }

    /// A vault says something when it is new, and not more often than every ten seconds.
    @Test func aHeadSaysSomethingNew() throws {
        let circle = try CircleOfVaults(2)
        let clock = circle.peers[0].clock
        #expect(try collect(circle[0], nil).objects.isEmpty)
        let first = try collect(circle[0], "one").objects
        #expect(first.map(\.kind) == [.head] && first[0].key == Data([0, 0, 0, 1]))
        #expect(try collect(circle[0], "two").objects.isEmpty)
        clock.move(by: 20)
        #expect(try collect(circle[0], "one").objects.isEmpty)
        let second = try collect(circle[0], "two").objects
        #expect(second.count == 1)
        for _ in 0..<10 {
            clock.move(by: 3_600)
            #expect(try collect(circle[0], "two").objects.isEmpty)
        }
        // A change of the log is new, too.
        try circle.change(0, .invite(count: 1, seconds: 86_400, rights: 8))
        #expect(try collect(circle[0], "two").objects.map(\.kind) == [.entry, .head])
        // A clock that was set back by a year makes nobody silent for a year.
        clock.move(by: -366 * 24 * 3_600)
        #expect(try collect(circle[0], "three").objects.count == 1)
        // Another carrier speaks for itself.
        #expect(try collect(circle[0], "three", carrier: "other").objects.count == 1)

        #expect(try take(second + first, circle[1]).refused == 0)
        let heads = try heads(circle[1])
        #expect(heads.map(\.statement) == [Data("two".utf8)] && heads[0].sequence == 2 && heads[0].log == .known)
        #expect(try circle.status(1).members[0].heads["test"]?.statement == Data("two".utf8))
        #expect(try self.heads(circle[1], "other").isEmpty)
    }

    /// A vault that is alone, or locked, or no member, says nothing.
    @Test func nobodyToTell() throws {
        let alone = try CircleOfVaults(1)
        #expect(try collect(alone[0], "one").objects.isEmpty)
        let circle = try CircleOfVaults(2)
        let said = try collect(circle[1], "one").objects
        #expect(try take(said, circle[0]).refused == 0)
        #expect(try heads(circle[0]).count == 1)
        try circle.change(0, .remove(member: 2))
        // What a removed member said does not count any more.
        #expect(try heads(circle[0]).isEmpty)
        let all = try collect(circle[0], "two")
        #expect(all.objects.allSatisfy { $0.kind != .head } && all.reply.gone == [2])
        _ = try take(all.objects, circle[1])
        #expect(try collect(circle[1], "two").objects.isEmpty)
    }

    /// Whoever has the store can make no head, change none, and put an older one in the place of a later.
    @Test func aHostileStore() throws {
        let circle = try CircleOfVaults(3)
        let first = try #require(try collect(circle[0], "one").objects.first)
        circle.peers[0].clock.move(by: 60)
        let second = try #require(try collect(circle[0], "two").objects.first)
        #expect(try take([second], circle[1]).refused == 0)
        var (random, refused) = (SeededGenerator(), 0)
        let count = TestScale.count(50, soak: 1_000)
        for _ in 0..<count {
            var changed = second
            changed.value[Int.random(in: 37..<changed.value.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8)
            // As if it were a later one.
            changed.value[36] &+= 1
            refused += try take([changed], circle[1]).refused
        }
        #expect(refused == count)
        #expect(try take([first, second, first], circle[1]).refused == 0)
        #expect(try heads(circle[1]).map(\.statement) == [Data("two".utf8)])
    }

    /// Who has more of the log than another, or another one, is seen in its head.
    @Test func logsAreCompared() throws {
        let circle = try CircleOfVaults(3)
        try circle.change(0, .invite(count: 1, seconds: 86_400, rights: 8))
        let said = try collect(circle[0], "one").objects
        #expect(try take(said.filter { $0.kind == .head }, circle[1]).refused == 0)
        #expect(try heads(circle[1]).map(\.log) == [.longer])
        // Another entry with the same number.
        try circle.change(2, .invite(count: 1, seconds: 86_400, rights: 8))
        let other = try collect(circle[2], "one").objects
        _ = try take(other.filter { $0.kind == .entry }, circle[1])
        #expect(try heads(circle[1]).map(\.log) == [.other])
        // The one that counts comes.
        _ = try take(said, circle[1])
        #expect(try heads(circle[1]).map(\.log) == [.known])
        _ = try take(other, circle[1])
        #expect(Set(try heads(circle[1]).map(\.log)) == [.known, .other])
    }
}
