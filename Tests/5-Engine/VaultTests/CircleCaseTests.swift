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

/// What happens to circles in the field.
@Suite struct CircleCaseTests {
    /// No store for anybody from the beginning: all work, and agree once it is there.
    @Test func everybodyStartsWithoutTheStore() throws {
        let circle = try CircleOfVaults(3)
        for number in 0..<3 {
            _ = try circle[number].add(circle.item("of \(number)", "1"), as: .app)
            _ = try circle[number].put(circle.item("shared", "by \(number)"), as: .app)
            #expect(try circle.value("shared", at: number) == "by \(number)")
        }
        try circle.settle()
        let contents = try Set((0..<3).map { try circle.contents($0) })
        #expect(contents.count == 1 && contents.first?.count == 4)
        #expect(circle.refused == 0)
    }

    /// A member that was away while keys were renewed and items changed comes back, and saves at once: nothing is lost.
    @Test func anOutdatedMemberComesBackAndSaves() throws {
        let circle = try CircleOfVaults(4)
        for account in ["one", "two"] { _ = try circle[0].add(circle.item(account, "0"), as: .app) }
        try circle.settle()
        for round in 1...2 {
            try circle.change(0, .remove(member: UInt32(clamping: 5 - round)))
            for peer in circle.peers { peer.clock.move(by: 3_600) }
            _ = try circle[0].update(circle.query("one"), with: ItemChanges(value: Data("\(round)".utf8)), as: .app)
            try circle.settle([0])
        }
        // It knows nothing of two generations, and writes before it reads.
        _ = try circle[1].update(circle.query("two"), with: ItemChanges(value: Data("by 1".utf8)), as: .app)
        _ = try circle[1].add(circle.item("three", "by 1"), as: .app)
        try circle.write(1)
        for _ in 0..<2 { try circle.settle([0, 1]) }
        for number in 0..<2 {
            #expect(try circle.contents(number) == ["one": "2", "two": "by 1", "three": "by 1"])
        }
        #expect(circle.conflicts == 0)
    }

    /// A vault that has items already joins one that has others: both have all.
    @Test func theFirstPushAfterAJoin() throws {
        let circle = try CircleOfVaults(1)
        for number in 0..<300 { _ = try circle[0].add(circle.item("a \(number)", "1"), as: .app) }
        try circle.addPeer()
        for number in 0..<700 { _ = try circle[1].add(circle.item("b \(number)", "1"), as: .app) }
        circle.peers[1].clock.move(by: 3_600)
        for number in 0..<2 { _ = try circle[number].put(circle.item("both", "of \(number)"), as: .app) }
        try circle.join(1)
        try circle.settle()
        let contents = try (0..<2).map { try circle.contents($0) }
        #expect(contents[0] == contents[1] && contents[0].count == 1_001 && contents[0]["both"] == "of 1")
        #expect(try circle.history("both", at: 0).contains("of 0"))
        #expect(circle.refused == 0)
    }

    /// A carrier may bring a log in parts, to a vault that is no member yet.
    @Test func aLogComesInParts() throws {
        let circle = try CircleOfVaults(3)
        try circle.addPeer()
        let secret = try #require(
            try circle.change(0, .invite(count: 1, seconds: 3_600, rights: 8, flags: 2)).secret)
        try circle.write(0)
        try circle.change(3, .join(secret: secret, name: "last", location: "test:", groups: [CircleOfVaults.group]))
        for entry in circle.peers.flatMap(\.own).filter({ $0.kind == .entry }).reversed() {
            #expect(try circle.status(3).circle == nil)
            _ = try circle[3].perform(TakeCircleObjects([entry], from: "test"), as: .owner)
        }
        #expect(try circle.status(3).circle != nil)
        try circle.settle()
        #expect(try circle.status(3).standing == .member && circle.status(3).waiting == 0)
    }

    /// A removal whose carrier got no further than halfway is told whole by the next one.
    @Test func aRemovalIsToldWhole() throws {
        let circle = try CircleOfVaults(3)
        for number in 0..<5 { _ = try circle[0].add(circle.item("\(number)", "1"), as: .app) }
        try circle.settle()
        try circle.change(0, .remove(member: 3))
        // A store that takes nothing: what is collected is never settled.
        for _ in 0..<3 {
            let reply = try circle[0].perform(CollectCircleObjects(for: "test", limit: 2), as: .owner) {
                (_: CircleObject) throws(VaultError) in
            }
            #expect(reply.hasMore)
        }
        // The others go on as before meanwhile.
        _ = try circle[2].add(circle.item("of 2", "1"), as: .app)
        _ = try circle[1].add(circle.item("of 1", "1"), as: .app)
        try circle.settle([1, 2])
        #expect(try circle.value("of 2", at: 1) == "1" && circle.status(1).members.allSatisfy { !$0.isRemoved })
        for _ in 0..<2 { try circle.settle([0, 1]) }
        #expect(try circle.status(1).members.map(\.isRemoved) == [false, false, true])
        #expect(try circle.contents(0) == circle.contents(1))
        #expect(try circle.contents(0)["of 1"] == "1")
        try circle.settle()
        #expect(try circle.status(2).standing == .removed)
    }

    /// With its vault, its passcode and the whole store: no key that a removed member has opens a record that was
    /// written after its removal, and none is sealed for it.
    @Test func aRemovedMemberHasNoKeyForWhatFollows() throws {
        let circle = try CircleOfVaults(3)
        _ = try circle[0].add(circle.item("before", "1"), as: .app)
        _ = try circle[1].add(circle.item("unlocked", "1", protection: .whenUnlocked), as: .app)
        try circle.settle()
        let before = circle.peers.flatMap(\.own)
        try circle.change(0, .remove(member: 3))
        _ = try circle[0].add(circle.item("after", "1"), as: .app)
        try circle.settle([0, 1])
        _ = try circle[1].update(circle.query("unlocked"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        try circle.settle([0, 1])
        let after = circle.peers.flatMap(\.own).filter { !before.contains($0) }
        let (opened, tried): (Int, Int) = try circle.engine(2) { making, _ in
            let session = making.session
            func opens(_ object: CircleObject) throws -> Bool {
                switch object.kind {
                case .record:
                    let (record, view) = (try CircleRecord(decoding: object.value), object.key.prefix(16))
                    for generation in try making.tables.reader.generations(of: Data(view)) {
                        for keyClass in KeyClass.allCases {
                            let view = try #require(Identifier16(view))
                            guard let key = try session.viewKey(view, generation, keyClass) else { continue }
                            let place = try session.place(of: #require(Identifier16(object.key.suffix(16))), in: view)
                            if (try? record.open(at: place, under: key)) != nil { return true }
                        }
                    }
                    return false
                case .delivery:
                    let delivery = try KeyDelivery(decoding: object.value)
                    return KeyClass.allCases.contains { keyClass in
                        (try? delivery.open(with: session.own.secrets(keyClass, in: making.keybag))) != nil
                    }
                default: return false
                }
            }
            // What it could read before, it reads.
            #expect(try before.contains { try $0.kind == .record && opens($0) })
            #expect(try before.contains { try $0.kind == .delivery && opens($0) })
            let tried = after.filter { $0.kind == .record || $0.kind == .delivery }
            return (try tried.count { try opens($0) }, tried.count)
        }
        #expect(opened == 0 && tried >= 6, "\(opened) of \(tried)")
        // Listed again, with other keys, it reads what is there from then on.
        try circle.settle()
        try circle.change(2, .leave)
        try circle.join(2)
        try circle.settle()
        #expect(try circle.status(2).number == 4 && circle.contents(2) == circle.contents(0))
    }

    /// A key of the enclave never leaves it, and says so when it is to travel.
    @Test func enclaveKeysAreNotSynchronizable() throws {
        var item = NewItem(
            itemClass: .key, attributes: [.tokenID: .string(EnclaveKeyRecord.tokenID), .keyClass: .number(1)],
            isSynchronizable: true, value: Data([1]))
        item.accessControl = AccessControl(protection: .whenUnlocked)
        let vault = try memoryVault()
        let error = #expect(throws: VaultError.self) { try vault.add(item, as: .app) }
        guard case .invalidRequest(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("enclave"))
    }

    /// Half of the members have later software: the others stop before what they do not understand, say so, and keep
    /// what is stored there.
    @Test func olderSoftwareStops() throws {
        let circle = try CircleOfVaults(3)
        _ = try circle[0].add(circle.item("before", "1"), as: .app)
        try circle.settle()
        try circle.engine(0) { making, _ in
            let (log, member) = try making.membership()
            let entry = try log.entry(
                .minimum(formats: 1 | 1 << 31, version: "9.1"), signer: member.number,
                time: making.time(after: log.lastTime), signedBy: making.session.own.signer(in: making.keybag))
            try making.hand(.entry, key: Data(entry.number.bigEndianBytes), entry.encoded)
        }
        _ = try circle[0].add(circle.item("after", "1"), as: .app)
        try circle.write(0)
        for number in 1..<3 {
            let local = "of \(number)"
            _ = try circle[number].add(circle.item(local, "1"), as: .app)
            for _ in 0..<2 {
                let error = #expect(throws: VaultError.self) { try circle.carry(number) }
                guard case .unsupported(let reason)? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(reason.contains("needs version 9.1"))
            }
            let status = try circle.status(number)
            #expect(status.needs?.contains("9.1") == true && status.standing == .member)
            #expect(try circle.contents(number) == ["before": "1", local: "1"])
        }
        // Where the entry did not come, nothing stops.
        #expect(try circle.status(0).needs == nil)
    }
}
