import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultInterface

@testable import Vault

/// Items that travel between the vaults of a circle.
@Suite struct CircleTravelTests {
    @Test func anItemAppearsAtTheOther() throws {
        let circle = try CircleOfVaults(2)
        #expect(try circle.status(1).standing == .member)
        #expect(try circle.status(0).members.map(\.name) == ["machine 0", "machine 1"])
        #expect(try circle.status(1).views.map(\.group) == [CircleOfVaults.group])
        var item = circle.item("alice", "one")
        item.customAttributes = ["team": "shop"]
        item.attributes[.label] = .string("label")
        let added = try circle[0].add(item, as: .app)
        try circle.settle()
        let received = try #require(try circle[1].items(circle.query("alice")).first)
        #expect(received.value == Data("one".utf8) && received.customAttributes == ["team": "shop"])
        #expect(received.attributes == added.attributes && received.isSynchronizable)
        #expect(received.identifier == added.identifier && received.creationDate == added.creationDate)
        // Back again.
        _ = try circle[1].update(
            circle.query("alice"), with: ItemChanges(value: Data("two".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 0) == "two")
        _ = try circle[0].delete(circle.query("alice"), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 1) == nil)
        _ = try circle[1].add(circle.item("alice", "three"), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 0) == "three")
        #expect(circle.refused == 0 && circle.conflicts == 0, "\(circle.reasons)")
        let rest = try circle.status(1)
        #expect(rest.waiting == 0 && rest.outgoing == 0)
    }

    @Test func itemsThatAreThereComeToANewMember() throws {
        let circle = try CircleOfVaults(2)
        for number in 0..<50 { _ = try circle[0].add(circle.item("\(number)", "value \(number)"), as: .app) }
        try circle.settle()
        try circle.addPeer()
        try circle.join(2, by: 1)
        try circle.settle()
        #expect(try circle.contents(2) == circle.contents(0))
        #expect(try circle.contents(2).count == 50)
        #expect(circle.refused == 0)
    }

    /// What its owner keeps on a device stays there, and so does what is in no view.
    @Test func whatStaysStays() throws {
        let circle = try CircleOfVaults(2)
        _ = try circle[0].add(
            circle.item("device", "1", protection: .afterFirstUnlockThisDeviceOnly), as: .app)
        var local = circle.item("local", "1")
        local.isSynchronizable = false
        _ = try circle[0].add(local, as: .app)
        var shared = circle.item("shared", "1")
        shared.accessGroup = "TEAM.shared"
        _ = try circle[0].add(shared, as: .app)
        _ = try circle[0].add(circle.item("travels", "1"), as: .app)
        try circle.settle()
        #expect(try circle.contents(1) == ["travels": "1"])
        // An item that stops travelling is gone elsewhere, and stays where that was decided.
        _ = try circle[0].update(
            circle.query("travels"), with: ItemChanges(isSynchronizable: false), as: .app)
        _ = try circle[0].update(circle.query("local"), with: ItemChanges(isSynchronizable: true), as: .app)
        try circle.settle()
        #expect(try circle.contents(1) == ["local": "1"])
        #expect(try circle.contents(0).keys.sorted() == ["device", "local", "shared", "travels"])
        // So is one that goes to another group, until that travels as well.
        _ = try circle[0].update(circle.query("local"), with: ItemChanges(accessGroup: "TEAM.shared"), as: .app)
        try circle.settle()
        #expect(try circle.contents(1).isEmpty)
        try circle.change(0, .addView(group: "TEAM.shared"))
        try circle.settle()
        #expect(try circle.contents(1).isEmpty)
        #expect(circle.refused == 0)
    }

    /// An item gets another name: it is the same at the other, under that name.
    @Test func renamedItems() throws {
        let circle = try CircleOfVaults(2)
        _ = try circle[0].add(circle.item("before", "1"), as: .app)
        try circle.settle()
        _ = try circle[1].update(
            circle.query("before"), with: ItemChanges(attributes: [.account: .string("after")]), as: .app)
        try circle.settle()
        #expect(try circle.contents(0) == ["after": "1"])
        #expect(try circle.contents(1) == ["after": "1"])
        #expect(circle.refused == 0 && circle.conflicts == 0)
    }

    /// Of two changes without knowledge of each other the later is in force, and the other one in the history.
    @Test(arguments: [0, 1]) func theLaterChangeWins(later: Int) throws {
        let circle = try CircleOfVaults(3)
        _ = try circle[0].add(circle.item("alice", "begin"), as: .app)
        try circle.settle()
        let earlier = 1 - later
        let known = try (0..<3).map { try circle[$0].changes(since: 0, as: .app).known.next }
        // One clock is two hours ahead.
        circle.peers[later].clock.move(by: 7_200)
        for number in [earlier, later] {
            _ = try circle[number].update(
                circle.query("alice"), with: ItemChanges(value: Data("by \(number)".utf8)), as: .app)
        }
        try circle.settle()
        for number in 0..<3 {
            #expect(try circle.value("alice", at: number) == "by \(later)")
            #expect(try circle.history("alice", at: number).contains("by \(earlier)"))
            #expect(try circle.status(number).conflicts == 1)
            // Programs that follow the changes learn of it, and read what was overruled.
            let query = circle.query("alice")
            let changed = try #require(try circle[number].changes(since: known[number], as: .app).items.first)
            let version = try circle[number].version(changed.overruled, of: query, as: .app)
            #expect(version.value == Data("by \(earlier)".utf8))
            let overruled = try circle[number].versions(query, as: .app).filter(\.isOverruled)
            #expect(overruled.map(\.item.version) == [changed.overruled])
            #expect(try circle[number].changes(since: changed.change, as: .app).items.isEmpty)
        }
        // The next change comes from both.
        _ = try circle[2].update(circle.query("alice"), with: ItemChanges(value: Data("end".utf8)), as: .app)
        try circle.settle()
        for number in 0..<3 {
            #expect(try circle.value("alice", at: number) == "end")
            let changed = try #require(try circle[number].changes(since: 0, as: .app).items.first)
            #expect(try circle[number].changes(since: changed.change - 1, as: .app).items.map(\.overruled) == [0])
        }
        #expect(circle.refused == 0 && circle.conflicts == 3)
    }

    @Test func theSameChangeIsNoConflict() throws {
        let circle = try CircleOfVaults(2)
        for number in 0..<2 { _ = try circle[number].add(circle.item("alice", "same"), as: .app) }
        try circle.settle()
        #expect(circle.conflicts == 0)
        for number in 0..<2 { #expect(try circle.value("alice", at: number) == "same") }
    }

    /// A change wins over an earlier deletion, and a deletion over an earlier change, which stays in the history.
    @Test(arguments: [true, false]) func changesAndDeletions(isDeletionLater: Bool) throws {
        let circle = try CircleOfVaults(2)
        _ = try circle[0].add(circle.item("alice", "begin"), as: .app)
        try circle.settle()
        circle.peers[isDeletionLater ? 1 : 0].clock.move(by: 60)
        _ = try circle[0].update(circle.query("alice"), with: ItemChanges(value: Data("changed".utf8)), as: .app)
        _ = try circle[1].delete(circle.query("alice"), as: .app)
        try circle.settle()
        for number in 0..<2 {
            #expect(try circle.value("alice", at: number) == (isDeletionLater ? nil : "changed"))
            #expect(try circle.status(number).conflicts == 1)
        }
        if isDeletionLater { #expect(try circle.history("alice", at: 0).contains("changed")) }
    }

    /// A locked vault takes what it can, and the rest after the unlocking.
    @Test func aLockedVaultTakesTheRestLater() throws {
        let circle = try CircleOfVaults(2)
        let passcode = try SecretBytes("1234")
        try circle[1].setPasscode(passcode, options: .cheapest, as: .owner)
        try circle[1].lock(after: .zero, as: .owner)
        _ = try circle[0].add(circle.item("closed", "1", protection: .afterFirstUnlock), as: .app)
        _ = try circle[0].add(circle.item("unlocked", "1", protection: .whenUnlocked), as: .app)
        try circle.settle()
        #expect(try circle.value("closed", at: 1) == "1")
        #expect(try circle.status(1).waiting == 1)
        // What is deleted while it is locked is told afterwards.
        _ = try circle[0].update(circle.query("unlocked"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.status(1).waiting == 2)
        try circle[1].unlock(with: passcode, as: .owner)
        try circle.settle()
        #expect(try circle.value("unlocked", at: 1) == "2")
        #expect(try circle.status(1).waiting == 0)
        try circle[1].lock(after: .zero, as: .owner)
        _ = try circle[1].delete(circle.query("unlocked"), as: .app)
        try circle.settle()
        #expect(try circle.value("unlocked", at: 0) == "2")
        try circle[1].unlock(with: passcode, as: .owner)
        try circle.settle()
        #expect(try circle.value("unlocked", at: 0) == nil)
        #expect(circle.refused == 0 && circle.conflicts == 0)
    }

    // MARK: Members

    /// A member sees the views that it was given.
    @Test func viewsAreForTheirHolders() throws {
        let circle = try CircleOfVaults(1)
        try circle.change(0, .addView(group: "TEAM.shared"))
        try circle.addPeer()
        try circle.join(1, groups: ["TEAM.shared"])
        _ = try circle[0].add(circle.item("app", "1"), as: .app)
        var shared = circle.item("shared", "1")
        shared.accessGroup = "TEAM.shared"
        _ = try circle[0].add(shared, as: .app)
        try circle.settle()
        #expect(try circle.contents(1) == ["shared": "1"])
        #expect(try circle.status(1).views.map(\.group) == ["TEAM.shared"])
        #expect(circle.refused == 0)
    }

    /// What another member offers is no reason to give items away.
    @Test func anOfferIsTakenByAPerson() throws {
        let circle = try CircleOfVaults(2)
        try circle.addPeer()
        var bank = circle.item("bank", "secret")
        bank.accessGroup = "com.bank"
        let teller = Client(identifier: "teller", accessGroups: ["com.bank"])
        _ = try circle[1].add(bank, as: teller)
        try circle.change(0, .addView(group: "com.bank"))
        try circle.join(2)
        try circle.settle()
        #expect(try circle.status(2).offers == ["com.bank"])
        #expect(try circle.status(2).views.map(\.group) == [CircleOfVaults.group])
        _ = try circle[2].add(bank, as: teller)
        try circle.settle()
        #expect(try circle[0].items(circle.query("bank"), as: teller).isEmpty)
        try circle.change(2, .addView(group: "com.bank"))
        try circle.settle()
        #expect(try circle[0].items(circle.query("bank"), as: teller).count == 1)
        #expect(circle.refused == 0)
    }

    /// A removed member that writes into the past of the log changes nothing, and no member undoes what others did.
    @Test func thePastIsNotChanged() throws {
        let circle = try CircleOfVaults(3)
        try circle.change(0, .invite(count: 1, seconds: 86_400, rights: 8))
        try circle.change(0, .remove(member: 2))
        try circle.settle([0, 2])
        // The removed one did not read that yet.
        try circle.change(1, .remove(member: 1))
        try circle.settle()
        #expect(try circle.status(0).members.map(\.isRemoved) == [false, true, false])
        #expect(try circle.status(2).members.map(\.isRemoved) == [false, true, false])
        #expect(circle.reasons.contains { $0.contains("come apart") })
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 2) == "1" && circle.value("alice", at: 1) == nil)
    }

    /// A vault that comes back with what it had brings no old value and no deleted item back.
    @Test func comingBackBringsNothingOldBack() throws {
        let circle = try CircleOfVaults(3)
        for account in ["changed", "deleted"] { _ = try circle[0].add(circle.item(account, "1"), as: .app) }
        try circle.settle()
        try circle.change(1, .leave)
        try circle.settle()
        for peer in circle.peers { peer.clock.move(by: 3_600) }
        _ = try circle[0].update(circle.query("changed"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        _ = try circle[0].delete(circle.query("deleted"), as: .app)
        try circle.settle()
        try circle.join(1)
        try circle.settle()
        let contents = try (0..<3).map { try circle.contents($0) }
        for number in 0..<3 { #expect(contents[number] == ["changed": "2"], "\(contents)") }
    }

    /// Whoever was removed opens nothing that is written afterwards, with all that it has.
    @Test func aRemovedMemberReadsNothingMore() throws {
        let circle = try CircleOfVaults(3)
        _ = try circle[0].add(circle.item("before", "1"), as: .app)
        _ = try circle[0].add(circle.item("unlocked", "1", protection: .whenUnlocked), as: .app)
        try circle.settle()
        // What was deleted stays deleted under the later keys.
        _ = try circle[0].add(circle.item("deleted", "1"), as: .app)
        try circle.settle()
        _ = try circle[1].delete(circle.query("deleted"), as: .app)
        try circle.settle()
        let removed = try circle.change(0, .remove(member: 3))
        #expect(removed.items == 3)
        // One change was made where the removal was not known yet.
        _ = try circle[1].add(circle.item("meanwhile", "1"), as: .app)
        try circle.write(1)
        try circle.settle([0, 1])
        _ = try circle[0].add(circle.item("after", "2"), as: .app)
        _ = try circle[1].update(circle.query("before"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.status(2).standing == .removed)
        #expect(try circle.contents(2) == ["before": "1", "unlocked": "1"])
        #expect(try circle.contents(0) == ["before": "2", "unlocked": "1", "after": "2", "meanwhile": "1"])
        #expect(try circle.contents(1) == circle.contents(0))
        #expect(try circle.status(1).views.first?.generation == circle.status(0).views.first?.generation)
        #expect(try circle.status(0).members.map(\.isRemoved) == [false, false, true])
        // What it writes counts no more.
        _ = try circle[2].update(circle.query("unlocked"), with: ItemChanges(value: Data("3".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("unlocked", at: 0) == "1")
        // It comes back with new keys.
        try circle.change(2, .leave)
        try circle.join(2, by: 1)
        try circle.settle()
        #expect(try circle.status(2).number == 4)
        #expect(try circle.contents(0) == circle.contents(1))
        #expect(try circle.contents(2) == circle.contents(0))
    }

    /// A member that leaves keeps its items, and gets nothing more.
    @Test func leaving() throws {
        let circle = try CircleOfVaults(3)
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        try circle.change(1, .leave)
        try circle.settle()
        #expect(try circle.status(1).standing == .none)
        _ = try circle[2].update(circle.query("alice"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        try circle.settle([0, 2])
        #expect(try circle.value("alice", at: 0) == "2")
        let views = try circle.status(0).views
        #expect(views.first?.holders == [1, 3] && views.first?.generation ?? 0 > 0)
        #expect(try circle.value("alice", at: 1) == "1")
        // The last one just goes.
        try circle.change(2, .leave)
        try circle.settle([0, 2])
        try circle.change(0, .leave)
        #expect(try circle.status(0).standing == .none)
    }

    @Test func requestsAreAPersonsDecision() throws {
        let circle = try CircleOfVaults(1)
        try circle.addPeer()
        let secret = try #require(try circle.change(0, .invite(count: 1, seconds: 86_400, rights: 8)).secret)
        try circle.change(1, .join(secret: secret, name: "guest", location: "test:", groups: []))
        for _ in 0..<3 { for number in 0..<2 { try circle.carry(number) } }
        let request = try #require(try circle.status(0).requests.first)
        #expect(request.name == "guest")
        #expect(try circle.status(1).fingerprint == request.fingerprint)
        #expect(try circle.status(1).standing == .joining)
        try circle.change(0, .refuse(request: request.identifier))
        #expect(try circle.status(0).requests.isEmpty)
        #expect(throws: VaultError.self) { try circle.change(0, .approve(request: request.identifier, groups: nil)) }
        // A vault with other words finds no circle.
        try circle.addPeer()
        try circle.change(
            2, .join(secret: SecretBytes(count: 16) { _ in }, name: "stranger", location: "test:", groups: []))
        for _ in 0..<2 { for number in 0..<3 { try circle.carry(number) } }
        #expect(try circle.status(2).circle == nil)
        #expect(throws: VaultError.self) { try circle.change(2, .invite(count: 1, seconds: 86_400, rights: 8)) }
        try circle.change(2, .leave)
        #expect(try circle.status(2).standing == .none)
    }

    @Test func rightsCount() throws {
        let circle = try CircleOfVaults(2)
        try circle.addPeer()
        try circle.join(2, rights: 8)
        #expect(throws: VaultError.self) { try circle.change(2, .invite(count: 1, seconds: 86_400, rights: 8)) }
        #expect(throws: VaultError.self) { try circle.change(2, .remove(member: 1)) }
        #expect(throws: VaultError.self) { try circle.change(2, .addView(group: "TEAM.shared")) }
        try circle.addPeer()
        try circle.join(3, rights: 0)
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        // Who may not write reads.
        #expect(try circle.value("alice", at: 3) == "1")
        _ = try circle[3].update(circle.query("alice"), with: ItemChanges(value: Data("2".utf8)), as: .app)
        _ = try circle[2].update(circle.query("alice"), with: ItemChanges(value: Data("3".utf8)), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 0) == "3")
        #expect(circle.refused == 0)
    }

    /// Two members change the circle at once, where neither sees the other.
    @Test func changesOfTheCircleAtOnce() throws {
        let circle = try CircleOfVaults(4)
        try circle.change(1, .invite(count: 1, seconds: 86_400, rights: 8))
        try circle.change(2, .remove(member: 4))
        try circle.change(0, .invite(count: 1, seconds: 86_400, rights: 8))
        for _ in 0..<2 { try circle.settle([0, 1, 2]) }
        let states = try (0..<3).map { try circle.status($0) }
        #expect(Set(states.map(\.invitations.count)) == [2])
        for state in states { #expect(state.members.map(\.isRemoved) == [false, false, false, true]) }
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        try circle.settle()
        #expect(try circle.value("alice", at: 1) == "1" && circle.value("alice", at: 2) == "1")
        #expect(try circle.value("alice", at: 3) == nil)
    }

    @Test func newClassKeysKeepTheCircle() throws {
        let folder = try TemporaryFolder()
        let circle = try CircleOfVaults(1)
        _ = try circle[0].add(circle.item("alice", "1"), as: .app)
        let path = folder.path + "/vault"
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.perform(ChangeCircle(.create(name: "file", groups: ["TEAM.app"], location: "test:")), as: .owner)
        _ = try vault.add(circle.item("bob", "1"), as: .app)
        _ = try vault.perform(RenewKeys(passcode: nil), as: .owner) { (_: RenewalProgress) throws(VaultError) in }
        #expect(try vault.perform(ReadCircle(), as: .owner).standing == .member)
        #expect(
            try vault.perform(ChangeCircle(.invite(count: 1, seconds: 86_400, rights: 8)), as: .owner).secret != nil)
        var objects: [CircleObject] = []
        _ = try vault.perform(CollectCircleObjects(for: "test"), as: .owner) {
            (object: CircleObject) throws(VaultError) in
            objects.append(object)
        }
        #expect(objects.contains { $0.kind == .record })
        vault.close()
        let again = try EmbeddedVault.open(at: path)
        #expect(try again.perform(ReadCircle(), as: .owner).number == 1)
        // An erase ends the membership.
        try again.erase(as: .owner)
        #expect(try again.perform(ReadCircle(), as: .owner).standing == .none)
    }

    // MARK: A store that lies

    /// Whoever has the store changes, drops and exchanges what it carries: no item is ever wrong.
    @Test func aHostileStore() throws {
        var random = SeededGenerator()
        var refused = 0
        for _ in 0..<TestScale.count(4, soak: 100) {
            let circle = try CircleOfVaults(2, random: random)
            var kept: [CircleObject] = []
            var sent: Set<String> = []
            circle.tamper = { object in
                kept.append(object)
                guard Int.random(in: 0..<3, using: &random) == 0 else { return [object] }
                var changed = object
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where !changed.value.isEmpty:
                    changed.value[Int.random(in: 0..<changed.value.count, using: &random)] ^= 1
                case 1: changed.value.removeLast(Int.random(in: 0...changed.value.count, using: &random))
                case 2 where !changed.key.isEmpty:
                    changed.key[Int.random(in: 0..<changed.key.count, using: &random)] ^= 1
                case 3: changed.value = kept.randomElement(using: &random)?.value ?? Data()
                case 4: return [kept.randomElement(using: &random) ?? object, object]
                default: return [object, object]
                }
                return [changed, object]
            }
            for round in 0..<40 {
                let value = "value \(round)"
                sent.insert(value)
                let account = "\(Int.random(in: 0..<6, using: &random))"
                _ = try circle[round % 2].put(circle.item(account, value), as: .app)
                try circle.carry(Int.random(in: 0..<2, using: &random), most: Int.random(in: 1..<9, using: &random))
            }
            try circle.settle()
            try circle.settle()
            #expect(try circle.contents(0) == circle.contents(1))
            for value in try circle.contents(0).values { #expect(sent.contains(value)) }
            refused += circle.refused
        }
        #expect(refused > 0)
    }

    // MARK: Any order

    /// Random changes of several vaults with wrong clocks, carried in any order: all end with the same items, and
    /// nothing is lost but to a later change: what was stored stands behind it in the history of its vault, and what
    /// travelled in that of each.
    ///
    /// - Parameter keepsHistory: False with deletions, after which an item begins anew.
    @Test(arguments: [true, false]) func anyOrderConverges(keepsHistory: Bool) throws {
        var random = SeededGenerator()
        for _ in 0..<TestScale.count(3, soak: 100) {
            let circle = try CircleOfVaults(4, random: random)
            var stored: [String: Set<String>] = [:]
            for peer in circle.peers {
                _ = try peer.vault.keepVersions(1_000, as: .owner)
                peer.clock.move(by: .random(in: -7_200...7_200, using: &random))
            }
            for round in 0..<TestScale.count(120, soak: 400) {
                let (number, account) = (
                    Int.random(in: 0..<4, using: &random), "\(Int.random(in: 0..<5, using: &random))"
                )
                switch Int.random(in: 0..<8, using: &random) {
                case 0 where !keepsHistory: _ = try? circle[number].delete(circle.query(account), as: .app)
                case 1, 2, 3:
                    let value = "\(round) by \(number)"
                    stored[account, default: []].insert(value)
                    let protection: ProtectionClass = Bool.random(using: &random) ? .whenUnlocked : .afterFirstUnlock
                    _ = try circle[number].put(circle.item(account, value, protection: protection), as: .app)
                case 4: try circle.write(number)
                default: try circle.carry(number, most: Int.random(in: 0..<6, using: &random))
                }
            }
            try circle.settle()
            let contents = try (0..<4).map { try circle.contents($0) }
            #expect(Set(contents).count == 1, "\(contents)")
            for (account, values) in stored where keepsHistory {
                for number in 0..<4 {
                    let known = circle.published[account, default: []].union(
                        values.filter { $0.hasSuffix(" \(number)") })
                    let missing = known.subtracting(try circle.history(account, at: number))
                    #expect(missing.isEmpty, "\(account) at \(number) lacks \(missing)")
                }
            }
            #expect(circle.refused == 0, "\(circle.reasons)")
            for number in 0..<4 { #expect(try circle.status(number).waiting == 0) }
        }
    }
}
