import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

@Suite struct ItemOperationTests {
    /// The same rules must hold on disk and in memory.
    enum Place: CaseIterable, Sendable { case memory, disk }

    private func withVault(_ place: Place, _ body: (EmbeddedVault) throws -> Void) throws {
        switch place {
        case .memory: try body(memoryVault(now: tickingClock()))
        case .disk:
            let folder = try TemporaryFolder()
            try body(
                EmbeddedVault.open(
                    at: folder.path(of: "vault"), surroundings: VaultSurroundings(now: tickingClock())))
        }
    }

    @Test(arguments: Place.allCases) func storesFindsUpdatesAndDeletes(_ place: Place) throws {
        try withVault(place) { vault in
            _ = try vault.add(.password("mail", "alice", "hunter2"), as: .app)
            let found = try vault.copy(.password("mail", "alice"), includingValues: true, as: .app)
            #expect(found.map(\.value) == [Data("hunter2".utf8)])
            #expect(found.first?.accessGroup == "TEAM.app")

            #expect(throws: VaultError.duplicateItem) {
                try vault.add(.password("mail", "alice", "other"), as: .app)
            }
            let changed = try vault.update(
                .password("mail", limit: nil), with: ItemChanges(value: Data("new".utf8)), as: .app)
            #expect(changed == 1)
            #expect(
                try vault.copy(.password("mail", "alice"), includingValues: true, as: .app).first?.value
                    == Data("new".utf8))
            #expect(try vault.delete(.password("mail", "alice", limit: nil), as: .app) == 1)
            #expect(throws: VaultError.itemNotFound) {
                try vault.copy(.password("mail", "alice"), includingValues: false, as: .app)
            }
        }
    }

    @Test(arguments: Place.allCases) func renamesAndRefusesCollisions(_ place: Place) throws {
        try withVault(place) { vault in
            _ = try vault.add(.password("s", "a", "1"), as: .app)
            _ = try vault.add(.password("s", "b", "2"), as: .app)
            #expect(throws: VaultError.duplicateItem) {
                try vault.update(
                    .password("s", limit: nil), with: ItemChanges(attributes: [.account: .string("c")]), as: .app)
            }
            // The refused update left no trace.
            for (account, value) in [("a", "1"), ("b", "2")] {
                let item = try #require(
                    try vault.copy(.password("s", account), includingValues: true, as: .app).first)
                #expect(item.value == Data(value.utf8))
            }
            let before = try #require(try vault.copy(.password("s", "a"), includingValues: false, as: .app).first)
            _ = try vault.update(
                .password("s", "a", limit: nil),
                with: ItemChanges(attributes: [.account: .string("z"), .service: .string("t")]), as: .app)
            let after = try #require(try vault.copy(.password("t", "z"), includingValues: true, as: .app).first)
            #expect(after.identifier == before.identifier)
            #expect(after.value == Data("1".utf8))
            #expect(after.modificationDate > before.modificationDate)
            #expect(after.creationDate == before.creationDate)
            #expect(throws: VaultError.itemNotFound) {
                try vault.copy(.password("s", "a"), includingValues: false, as: .app)
            }
        }
    }

    @Test func groupsSeparateClients() throws {
        let vault = try memoryVault()
        let other = Client(identifier: "other", accessGroups: ["OTHER"])
        _ = try vault.add(.password("s", "a", "mine"), as: .app)
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("s", "a"), includingValues: true, as: other)
        }
        #expect(throws: VaultError.itemNotFound) { try vault.delete(.password("s", limit: nil), as: other) }
        var query = ItemQuery.password("s", "a")
        query.accessGroup = "TEAM.app"
        #expect(throws: VaultError.accessDenied(.groupNotHeld(group: "TEAM.app", client: "other"))) {
            try vault.copy(query, includingValues: true, as: other)
        }
        #expect(try vault.copy(.password("s", "a"), includingValues: true, as: .owner).count == 1)
        #expect(throws: VaultError.accessDenied(.noAccessGroups(client: "none"))) {
            try vault.copy(query, includingValues: true, as: Client(identifier: "none", accessGroups: []))
        }
    }

    @Test func putInsertsThenUpdates() throws {
        let vault = try memoryVault()
        let first = try vault.put(.password("s", "a", "1"), as: .app)
        let second = try vault.put(.password("s", "a", "2"), as: .app)
        #expect(first.identifier == second.identifier)
        let all = try vault.copy(.password("s", limit: nil), includingValues: true, as: .app)
        #expect(all.map(\.value) == [Data("2".utf8)])
    }

    @Test func exchangeReplacesOnlyWhatWasExpected() throws {
        let vault = try memoryVault()
        let one = NewItem.password("s", "a", "1")
        let two = NewItem.password("s", "a", "2")
        #expect(try vault.exchange(two, expecting: Data("1".utf8), as: .app) == false)
        #expect(try vault.exchange(one, expecting: nil, as: .app))
        #expect(try vault.exchange(two, expecting: nil, as: .app) == false)
        #expect(try vault.exchange(two, expecting: Data("1".utf8), as: .app))
        var nothing = two
        nothing.value = nil
        #expect(try vault.exchange(nothing, expecting: Data("1".utf8), as: .app) == false)
        #expect(try vault.exchange(nothing, expecting: Data("2".utf8), as: .app))
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(.password("s"), includingValues: false, as: .app)
        }
    }

    @Test func synchronizableItemsLeaveTombstones() throws {
        let vault = try memoryVault()
        var item = NewItem.password("s", "a", "1")
        item.isSynchronizable = true
        _ = try vault.add(item, as: .app)
        _ = try vault.add(.password("s", "a", "local"), as: .app)
        var query = ItemQuery.password("s", "a", limit: nil)
        query.synchronizable = .synchronizableOnly
        #expect(try vault.delete(query, as: .app) == 1)
        #expect(throws: VaultError.itemNotFound) { try vault.copy(query, includingValues: true, as: .app) }
        query.attributes[.tombstone] = .number(1)
        let tombstone = try #require(try vault.copy(query, includingValues: true, as: .app).first)
        #expect(tombstone.isTombstone)
        #expect(tombstone.value == nil)
        #expect(tombstone.attributes[.account] == .string("a"))
        // A new item takes the place of the tombstone.
        _ = try vault.add(item, as: .app)
        #expect(throws: VaultError.itemNotFound) { try vault.copy(query, includingValues: true, as: .app) }
        #expect(try vault.copy(.password("s", "a"), includingValues: true, as: .app).first?.value == Data("local".utf8))
    }

    @Test func valuesHaveALimit() throws {
        let vault = try memoryVault()
        var item = NewItem.password("s", "large", "")
        item.value = Data(repeating: 7, count: ItemLimits.value)
        _ = try vault.add(item, as: .app)
        #expect(try vault.copy(.password("s", "large"), includingValues: true, as: .app).first?.value == item.value)
        item.attributes[.account] = .string("larger")
        item.value?.append(0)
        #expect(throws: VaultError.valueTooLarge(size: ItemLimits.value + 1, limit: ItemLimits.value)) {
            try vault.add(item, as: .app)
        }
    }

    @Test func everySearchableAttributeFindsItsItem() throws {
        let vault = try memoryVault()
        for number in 0..<20 {
            var item = NewItem.password("s", "account \(number)", "\(number)")
            item.attributes[.label] = .string("label \(number % 5)")
            item.attributes[.comment] = .string("comment \(number % 4)")
            _ = try vault.add(item, as: .app)
        }
        func count(_ attributes: ItemAttributes) throws -> Int {
            do {
                return try vault.copy(
                    ItemQuery(itemClass: .genericPassword, attributes: attributes), includingValues: false, as: .app
                ).count
            } catch VaultError.itemNotFound {
                return 0
            }
        }
        #expect(try count([:]) == 20)
        #expect(try count([.label: .string("label 3")]) == 4)
        #expect(try count([.comment: .string("comment 1")]) == 5)
        #expect(try count([.comment: .string("comment 1"), .label: .string("label 1")]) == 1)
        #expect(try count([.label: .data(Data("label 3".utf8))]) == 4)
        #expect(try count([.label: .string("LABEL 3")]) == 0)
        #expect(try count([.account: .string("")]) == 0)
        #expect(try count([.accessible: .string("ak")]) == 20)
        #expect(try count([.accessible: .string("ck")]) == 0)
    }

    @Test func anIdentityIsStoredWholeOrNotAtAll() throws {
        let vault = try memoryVault()
        let certificate = NewItem(
            itemClass: .certificate, attributes: [.serialNumber: .data(Data([1]))], value: Data("certificate".utf8))
        var key = NewItem(
            itemClass: .key, attributes: [.applicationLabel: .data(Data([2]))],
            accessControl: AccessControl(protection: .whenPasscodeSetThisDeviceOnly), value: Data("key".utf8))
        #expect(throws: VaultError.classKeyAbsent(.whenPasscodeSetThisDeviceOnly)) {
            try vault.addIdentity(certificate: certificate, key: key, as: .app)
        }
        #expect(throws: VaultError.itemNotFound) {
            try vault.copy(ItemQuery(itemClass: .certificate), includingValues: false, as: .app)
        }
        key.accessControl = AccessControl(protection: .whenUnlocked)
        _ = try vault.add(key, as: .app)
        try vault.addIdentity(certificate: certificate, key: key, as: .app)
        #expect(try vault.copy(ItemQuery(itemClass: .certificate), includingValues: true, as: .app).count == 1)
        #expect(throws: VaultError.duplicateItem) {
            try vault.addIdentity(certificate: certificate, key: key, as: .app)
        }
    }
}
