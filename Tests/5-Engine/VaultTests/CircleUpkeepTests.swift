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

/// What members of a circle forget, and what that must not bring back.
@Suite struct CircleUpkeepTests {
    private static let day: TimeInterval = 24 * 3_600

    /// How many items there are, and how many versions are noted of the two items.
    private func counts(_ circle: CircleOfVaults, _ number: Int) throws -> (items: Int, versions: Int) {
        try circle.engine(number) { making, _ in
            let reader = making.tables.reader
            let last = Data(repeating: 255, count: 12)
            var (items, versions) = (0, 0)
            for held in try making.session.heldViews().values {
                items += try reader.countOfItems(in: held.identifier.bytes)
                let key = try #require(
                    try making.session.viewKey(held.identifier, held.entry.generation, .afterFirstUnlock))
                for account in ["stays", "goes"] {
                    var item = StoredItem(
                        itemClass: .genericPassword, identifier: UUID(),
                        attributes: [.service: .string("service"), .account: .string(account)],
                        accessGroup: CircleOfVaults.group, accessControl: AccessControl(protection: .afterFirstUnlock),
                        isSynchronizable: true, creationDate: Date(), modificationDate: Date(), value: nil)
                    item.version = 1
                    let name = key.name(ofPrimaryKey: ItemPayload.primaryKey(of: item))
                    let row = CircleRow(
                        view: held.identifier.bytes, name: name.bytes, row: 0, identifier: UUID(), local: 0,
                        generation: 0, author: 0, record: Data())
                    versions += try reader.versions(of: row, before: last).count
                }
            }
            return (items, versions)
        }
    }

    /// Versions and deletions are forgotten after their time, and what is there stays.
    @Test func whatIsOldIsForgotten() throws {
        let circle = try CircleOfVaults(2)
        for account in ["stays", "goes"] { _ = try circle[0].add(circle.item(account, "0"), as: .app) }
        try circle.settle()
        for round in 1...5 {
            for account in ["stays", "goes"] {
                _ = try circle[round % 2].update(
                    circle.query(account), with: ItemChanges(value: Data("\(round)".utf8)), as: .app)
            }
            try circle.settle()
        }
        _ = try circle[1].delete(circle.query("goes"), as: .app)
        try circle.settle()
        #expect(try counts(circle, 0).items == 2 && counts(circle, 0).versions >= 12)
        circle.move(by: 89 * Self.day)
        try circle.settle()
        #expect(try counts(circle, 0).items == 2)
        circle.move(by: 2 * Self.day)
        try circle.settle()
        for number in 0..<2 {
            let (items, versions) = try counts(circle, number)
            // Of the deleted one, the version of the deletion.
            #expect(items == 1 && versions == 2, "\(versions) versions")
            #expect(try circle.contents(number) == ["stays": "5"])
            #expect(try circle.status(number).conflicts == 0)
        }
        // A newcomer that reads everything from the beginning has the same.
        try circle.addPeer()
        circle.peers[2].clock.set(circle.peers[0].clock.now())
        try circle.join(2)
        try circle.settle()
        #expect(try circle.contents(2) == ["stays": "5"])
        for number in 0..<3 { #expect(try circle.contents(number) == ["stays": "5"]) }
        // The same name may be used again.
        _ = try circle[2].add(circle.item("goes", "new"), as: .app)
        try circle.settle()
        for number in 0..<3 { #expect(try circle.value("goes", at: number) == "new") }
        #expect(circle.refused == 0, "\(circle.reasons)")
    }

    /// A member that was away for longer than deletions are remembered, and a store that does not have them any more:
    /// the item is deleted there, too, and is back at nobody. What was changed after the deletion comes back.
    @Test(arguments: [false, true]) func whoWasAwayBringsNothingBack(isChangedLater: Bool) throws {
        let circle = try CircleOfVaults(4)
        _ = try circle[2].add(circle.item("deleted", "1"), as: .app)
        _ = try circle[2].add(circle.item("stays", "1"), as: .app)
        try circle.settle()
        _ = try circle[0].delete(circle.query("deleted"), as: .app)
        try circle.settle([0, 1, 3])
        var tombstones: Set<Data> = []
        for object in circle.peers.flatMap(\.own) where object.kind == .record {
            if try CircleRecord(decoding: object.value).content == .tombstone { tombstones.insert(object.value) }
        }
        #expect(!tombstones.isEmpty)
        circle.move(by: 100 * Self.day)
        try circle.settle([0, 1, 3])
        // The one that was away seals anew what it wrote, under the keys that it finds.
        try circle.change(0, .remove(member: 4))
        try circle.settle([0, 1])
        if isChangedLater {
            _ = try circle[2].update(circle.query("deleted"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        }
        circle.tamper = { tombstones.contains($0.value) ? [] : [$0] }
        for _ in 0..<2 { try circle.settle([2, 0, 1]) }
        let expected = isChangedLater ? ["deleted": "2", "stays": "1"] : ["stays": "1"]
        for number in 0..<3 { #expect(try circle.contents(number) == expected, "at \(number)") }
    }

    /// A conflict is listed for 30 days, and for longer if the list is the only place that has the change.
    @Test func conflictsAreForgotten() throws {
        let circle = try CircleOfVaults(2)
        for account in ["changed", "deleted"] { _ = try circle[0].add(circle.item(account, "0"), as: .app) }
        try circle.settle()
        circle.peers[1].clock.move(by: 60)
        for account in ["changed", "deleted"] {
            _ = try circle[0].update(circle.query(account), with: ItemChanges(value: Data("1".utf8)), as: .app)
        }
        _ = try circle[1].update(circle.query("changed"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        _ = try circle[1].delete(circle.query("deleted"), as: .app)
        try circle.settle()
        #expect(try circle.status(1).conflicts == 2)
        circle.move(by: 29 * Self.day)
        try circle.settle()
        #expect(try circle.status(1).conflicts == 2)
        circle.move(by: 2 * Self.day)
        try circle.settle()
        #expect(try circle.status(1).conflicts == 1)
        #expect(try circle.history("changed", at: 1).contains("1"))
    }

    /// A request that was refused is forgotten with its invitation.
    @Test func refusedRequestsAreForgotten() throws {
        let circle = try CircleOfVaults(1)
        try circle.addPeer()
        try circle.ask([1])
        try circle.carry(0)
        let request = try #require(try circle.status(0).requests.first)
        try circle.change(0, .refuse(request: request.identifier))
        func refused() throws -> Int {
            try circle.engine(0) { making, _ in
                try making.tables.reader.states(withPrefix: CircleSession.State.refused).count
            }
        }
        #expect(try refused() == 1)
        circle.move(by: 2 * Self.day)
        try circle.settle()
        #expect(try refused() == 0 && circle.status(0).requests.isEmpty)
    }

    /// A vault looks through its items for what is under former keys once for each list of members.
    @Test func formerKeysAreLookedForOnce() throws {
        let circle = try CircleOfVaults(3)
        for account in ["one", "two"] { _ = try circle[0].add(circle.item(account, "0"), as: .app) }
        try circle.settle()
        try circle.change(0, .remove(member: 3))
        try circle.settle()
        func former() throws -> Int {
            try circle.engine(0) { making, _ in
                let held = try #require(try making.session.heldViews().values.first)
                return try making.tables.reader.items(
                    in: held.identifier.bytes, before: held.entry.generation, exceptBy: [], limit: 10
                ).count
            }
        }
        #expect(try former() == 0)
        // No vault makes such a row: it shows when the items are looked through.
        try circle.engine(0) { making, _ in
            let held = try #require(try making.session.heldViews().values.first)
            try #require(held.entry.generation > 0)
            var row = try #require(
                try making.tables.reader.items(
                    in: held.identifier.bytes, before: held.entry.generation + 1, exceptBy: [], limit: 1
                ).first)
            row.generation = held.entry.generation - 1
            try making.tables.put(row)
        }
        _ = try circle[0].add(circle.item("three", "0"), as: .app)
        try circle.settle([0, 1])
        #expect(try former() == 1)
        try circle.addPeer()
        try circle.join(3)
        #expect(try former() == 0)
    }
}
