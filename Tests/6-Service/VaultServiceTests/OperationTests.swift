import Access
import Bytes
import Foundation
import Frames
import GRDB
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

/// Every operation, through a real daemon.
@Suite struct OperationTests {
    private let daemon: DaemonUnderTest
    private let vault: RemoteVault

    init() throws {
        daemon = try DaemonUnderTest()
        vault = try daemon.connect()
    }

    private var client: Client { vault.granted }

    @Test func itemsAreStoredFoundChangedAndDeleted() throws {
        let stored = try vault.add(.password("mail", "ada", "first"), as: client)
        #expect(stored.value == Data("first".utf8))
        #expect(stored.accessGroup == "TEAM.app")
        #expect(throws: VaultError.duplicateItem) { try vault.add(.password("mail", "ada", "x"), as: client) }
        let found = try vault.copy(.password("mail", "ada"), includingValues: true, as: client)
        #expect(found == [stored])
        #expect(try vault.copy(.password("mail", "ada"), includingValues: false, as: client).first?.value == nil)
        let changes = ItemChanges(value: Data("second".utf8))
        #expect(try vault.update(.password("mail", "ada"), with: changes, as: client) == 1)
        #expect(try vault.items(.password("mail", "ada"), as: client).first?.value == Data("second".utf8))
        #expect(try vault.put(.password("mail", "ada", "third"), as: client).value == Data("third".utf8))
        var expected = Data("second".utf8)
        let next = NewItem.password("mail", "ada", "fourth")
        #expect(try !vault.exchange(next, expecting: expected, as: client))
        expected = Data("third".utf8)
        #expect(try vault.exchange(next, expecting: expected, as: client))
        #expect(try vault.delete(.password("mail", "ada"), as: client) == 1)
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("mail", "ada"), includingValues: true, as: client)
        }
    }

    /// As the engine does, though the search itself fails for want of anything else.
    @Test func whatIsLeftOutIsToldOfThoughNothingIsFound() throws {
        var item = NewItem.password("bank", "ada", "secret")
        item.accessControl = AccessControl(protection: .whenUnlocked, flags: .userPresence)
        let guarded = try vault.add(item, as: client)
        var query = ItemQuery.password("bank")
        query.authentication.interaction = .skip
        query.reports = .withheld
        var withheld: [CopyItems.Part] = []
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(query, includingValues: false, as: client) { withheld.append($0) }
        }
        #expect(withheld == [.withheld(WithheldItem(guarded))])
    }

    @Test func theLargestValueFits() throws {
        var item = NewItem.password("large", "value", "")
        item.value = Data(repeating: 0xA5, count: 16 << 20)
        _ = try vault.add(item, as: client)
        #expect(try vault.items(.password("large"), as: client).first?.value == item.value)
        item.value?.append(0)
        #expect(throws: VaultError.valueTooLarge(size: 16 << 20 + 1, limit: 16 << 20)) {
            try vault.put(item, as: client)
        }
    }

    @Test func theVaultDescribesItself() throws {
        _ = try vault.add(.password("mail", "ada", "x"), as: client)
        let status = try vault.status(as: client)
        // This program may neither unlock nor administer the vault.
        #expect(status.path == nil)
        #expect(status.isShared)
        #expect(status.itemCounts[.genericPassword] == 1)
        #expect(try vault.describeCaller().accessGroups.first == "TEAM.app")
        #expect(try !vault.presenceAvailability(as: client).isPasscodeSet)
    }

    @Test func whatIsTheOwnersIsRefused() throws {
        #expect(throws: VaultError.accessDenied(.rightNotHeld(right: "administer", client: client.identifier))) {
            try vault.erase(as: client)
        }
        #expect(throws: VaultError.accessDenied(.rightNotHeld(right: "administer", client: client.identifier))) {
            try vault.perform(MakeRecoveryKey(), as: client)
        }
        #expect(try vault.status(as: client).recoveryKey == .undisclosed)
        #expect(throws: VaultError.self) { try vault.verify(as: client) }
        let passcode = try SecretBytes("hunter2")
        #expect(throws: VaultError.self) {
            try vault.setPasscode(passcode, options: PasscodeOptions(), as: client)
        }
        #expect(throws: VaultError.accessDenied(.rightNotHeld(right: "unlock", client: client.identifier))) {
            try vault.unlock(with: passcode, as: client)
        }
    }

    @Test func claimingMoreThanIsHeldGainsNothing() throws {
        let liar = Client(identifier: "keychain", accessGroups: ["*", "keychain"])
        #expect(throws: VaultError.accessDenied(.groupNotHeld(group: "keychain", client: client.identifier))) {
            try vault.add(.password("mail", "ada", "x"), as: liar)
        }
        var item = NewItem.password("mail", "ada", "x")
        item.accessGroup = "OTHER.app"
        #expect(throws: VaultError.accessDenied(.groupNotHeld(group: "OTHER.app", client: client.identifier))) {
            try vault.add(item, as: liar)
        }
    }

    /// As in a vault of the program's own.
    @Test func newItemsForAGroupThatIsNotHeldAreRefusedAndRecorded() throws {
        let name = client.identifier
        let claim = Client(identifier: "any", accessGroups: ["OTHER.app", "TEAM.app"])
        let refusal = VaultError.accessDenied(.groupNotHeld(group: "OTHER.app", client: name))
        #expect(throws: refusal) { try vault.add(.password("mail", "ada", "x"), as: claim) }
        #expect(throws: refusal) { try vault.put(.password("mail", "ada", "x"), as: claim) }
        #expect(throws: refusal) { try vault.exchange(.password("mail", "ada", "x"), expecting: nil, as: claim) }
        try administer()
        let owner = try daemon.connect()
        let told = try owner.auditRecords(AuditQuery(), as: owner.granted).filter { $0.event == "refused" }.map {
            "\($0.client == name) \($0.operation ?? "-") \($0.failure ?? "-")"
        }
        #expect(
            told == ["true add group-not-held", "true put group-not-held", "true exchange group-not-held"])
    }

    /// Waits until the daemon lets this program do everything.
    private func administer() throws {
        let rule = #"{"executable": "\#(DaemonUnderTest.ownExecutable)", "groups": ["*"], "rights": ["administer"]}"#
        try daemon.setRules([rule])
        try eventually("the rules are read again") { try vault.describeCaller().rights.contains(.administer) }
    }

    @Test func damagedItemsAreDeletedByWhoMayAdminister() throws {
        _ = try vault.add(.password("mail", "ada", "x"), as: client)
        _ = try vault.add(.password("mail", "bob", "x"), as: client)
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: daemon.home))
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET meta = x'00' WHERE id = 1") }
        #expect(throws: VaultError.accessDenied(.rightNotHeld(right: "administer", client: client.identifier))) {
            try vault.deleteDamaged(as: client)
        }
        try administer()
        let owner = try daemon.connect()
        #expect(try owner.deleteDamaged(as: owner.granted) == 1)
        #expect(try owner.verify(as: owner.granted).validItems == 1)
    }

    @Test func accessControlOfAnotherVersionIsRefused() throws {
        let flags = AccessControl.Flags(rawValue: 1 << 40)
        let refusal = VaultError.invalidRequest(
            reason: "an access control with flags that are not known or exclude each other")
        var item = NewItem.password("mail", "ada", "x")
        item.accessControl = AccessControl(protection: .whenUnlocked, flags: flags)
        #expect(throws: refusal) { try vault.add(item, as: client) }
        #expect(throws: refusal) {
            try vault.authenticate(flags, context: UUID(), options: .init(), as: client)
        }
    }

    @Test func attributesThatNoProgramCanSetAreRefused() throws {
        for (name, value) in [
            (AttributeName.accessGroup, AttributeValue.string("OTHER")), (.tombstone, .number(1)),
            ("zzzz", .string("x")), (.synchronizable, .string("x")), (.service, .date(Date())),
        ] {
            var item = NewItem.password("mail", "ada", "x")
            item.attributes[name] = value
            #expect(throws: VaultError.self, "\(name)") { try vault.add(item, as: client) }
        }
    }

    @Test func changesAreTold() async throws {
        let other = try daemon.connect()
        let changes = vault.changes()
        _ = try other.add(.password("mail", "ada", "x"), as: client)
        var seen: VaultChange?
        for await change in changes {
            seen = change
            break
        }
        #expect(seen?.origin == .anotherProcess)
    }

    @Test func theCommandLineToolHoldsEveryGroup() throws {
        let tool = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
            .appendingPathComponent("keychain").path
        _ = try vault.add(.password("mail", "ada", "treasure"), as: client)
        let shell = try Worker(
            ["-c", "KEYCHAIN_SOCKET=$0 exec $1 get mail ada --group TEAM.app", daemon.socket, tool], command: "/bin/sh")
        #expect(String(decoding: shell.readToEnd(), as: UTF8.self) == "treasure")
    }
}
