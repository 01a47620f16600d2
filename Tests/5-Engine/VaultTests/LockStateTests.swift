import Access
import Enclave
import Foundation
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// What each lock state permits.
@Suite struct LockStateTests {
    private let keys: ClassKeys
    private let vault: EmbeddedVault

    init() throws {
        let enclave = try SoftwareEnclave()
        keys = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
        vault = try EmbeddedVault.inMemory(keys: keys)
    }

    private func item(_ protection: ProtectionClass, _ account: String) -> NewItem {
        var item = NewItem.password("s", account, "value of \(account)")
        item.accessControl = AccessControl(protection: protection)
        return item
    }

    private static let plainClasses = ProtectionClass.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }

    private static func isLocked(_ error: any Error) -> Bool {
        if case .interactionNotAllowed? = error as? VaultError { true } else { false }
    }

    @Test(arguments: LockState.allCases, plainClasses)
    func lockDecides(_ state: LockState, _ protection: ProtectionClass) throws {
        _ = try vault.add(item(protection, "before"), as: .app)
        vault.enter(state)
        let query = ItemQuery.password("s", "before")
        if state.permits(protection.availability) {
            #expect(try vault.items(query).map(\.value) == [Data("value of before".utf8)])
            #expect(throws: VaultError.duplicateItem) { try vault.add(item(protection, "before"), as: .app) }
            _ = try vault.add(item(protection, "during"), as: .app)
            #expect(try vault.update(query, with: ItemChanges(value: Data()), as: .app) == 1)
        } else {
            // Found and locked is not the same as not found; so is locked and there already.
            for values in [true, false] {
                #expect(performing: { try vault.items(query, includingValues: values) }, throws: Self.isLocked)
            }
            #expect(performing: { try vault.add(item(protection, "before"), as: .app) }, throws: Self.isLocked)
            #expect(performing: { try vault.add(item(protection, "during"), as: .app) }, throws: Self.isLocked)
            #expect(performing: { try vault.put(item(protection, "before"), as: .app) }, throws: Self.isLocked)
            #expect(
                performing: { try vault.update(query, with: ItemChanges(value: Data()), as: .app) },
                throws: Self.isLocked)
            // Before the first unlocking nobody can tell what is absent.
            let absent = ItemQuery.password("s", "absent")
            if state == .beforeFirstUnlock {
                for query in [query, absent] {
                    #expect(
                        performing: { try vault.copy(query, includingValues: true, as: .app) }, throws: Self.isLocked)
                    #expect(performing: { try vault.delete(query, as: .app) }, throws: Self.isLocked)
                }
                vault.enter(.unlocked)
                vault.enter(.locked)
            }
            #expect(throws: VaultError.itemNotFound) { try vault.copy(absent, includingValues: true, as: .app) }
        }
        // Deleting takes no key of the item's class.
        #expect(try vault.delete(.password("s", "before", limit: nil), as: .app) == 1)
        vault.enter(.unlocked)
        #expect(try vault.items(query).isEmpty)
    }

    @Test func unlockingBringsEverythingBack() throws {
        for protection in Self.plainClasses { _ = try vault.add(item(protection, protection.rawValue), as: .app) }
        for state in [LockState.locked, .beforeFirstUnlock, .unlocked] {
            vault.enter(state)
            #expect(keys.lockState == state)
            #expect(try vault.status(as: .app).lockState == state)
            let report = try vault.verify(as: .owner)
            let readable = Self.plainClasses.filter { state.permits($0.availability) }.count
            #expect(
                report
                    == IntegrityReport(
                        validItems: readable, lockedItems: Self.plainClasses.count - readable, problems: [])
            )
        }
        #expect(try vault.items(.password("s", limit: nil)).count == Self.plainClasses.count)
    }

    @Test func aListingWithALockedItemFailsAsAWhole() throws {
        _ = try vault.add(item(.always, "open"), as: .app)
        _ = try vault.add(item(.whenUnlocked, "locked"), as: .app)
        vault.enter(.locked)
        #expect(performing: { try vault.items(.password("s", limit: nil)) }, throws: Self.isLocked)
        #expect(try vault.items(.password("s", "open")).count == 1)
        #expect(try vault.delete(.password("s", limit: nil), as: .app) == 2)
    }

    @Test func lockedSynchronizableItemsLeaveATombstone() throws {
        var item = item(.whenUnlocked, "a")
        item.isSynchronizable = true
        _ = try vault.add(item, as: .app)
        vault.enter(.locked)
        var query = ItemQuery.password("s", "a")
        query.synchronizable = .any
        #expect(try vault.delete(query, as: .app) == 1)
        #expect(try vault.items(query).isEmpty)
        vault.enter(.unlocked)
        _ = try vault.add(item, as: .app)
        #expect(try vault.items(query).count == 1)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func withoutAPasscodeItsClassHasNoKey() throws {
        let protection = ProtectionClass.whenPasscodeSetThisDeviceOnly
        #expect(throws: VaultError.classKeyAbsent(protection)) { try vault.add(item(protection, "a"), as: .app) }
        try vault.setPasscodeClass(present: true)
        #expect(try vault.status(as: .app).isPasscodeSet)
        _ = try vault.add(item(protection, "a"), as: .app)
        #expect(try vault.items(.password("s", "a")).count == 1)
        vault.enter(.locked)
        #expect(performing: { try vault.items(.password("s", "a")) }, throws: Self.isLocked)
        #expect(performing: { try vault.add(item(protection, "b"), as: .app) }, throws: Self.isLocked)
        vault.enter(.unlocked)

        // The passcode goes, and what hung on it is lost, another passcode or not.
        try vault.setPasscodeClass(present: false)
        #expect(try vault.items(.password("s", limit: nil)).isEmpty)
        #expect(throws: VaultError.classKeyAbsent(protection)) { try vault.add(item(protection, "a"), as: .app) }
        try vault.setPasscodeClass(present: true)
        #expect(try vault.items(.password("s", limit: nil)).isEmpty)
        _ = try vault.add(item(protection, "a"), as: .app)
        #expect(try vault.verify(as: .owner) == IntegrityReport(validItems: 1, lockedItems: 0, problems: []))
    }

    /// Rows that escaped the removal, as after a crash, are not found, and stay shut under another key.
    @Test func anotherPasscodeOpensNothingOld() throws {
        let protection = ProtectionClass.whenPasscodeSetThisDeviceOnly
        try keys.setPasscodeClass(present: true)
        _ = try vault.add(item(protection, "a"), as: .app)
        try keys.setPasscodeClass(present: false)
        #expect(try vault.items(.password("s", "a")).isEmpty)
        #expect(try vault.verify(as: .owner) == IntegrityReport(validItems: 0, lockedItems: 0, problems: []))
        try keys.setPasscodeClass(present: true)
        #expect(throws: VaultError.corruptItem(row: 1, reason: "it does not verify")) {
            try vault.items(.password("s", "a"))
        }
        #expect(try vault.delete(.password("s", "a", limit: nil), as: .app) == 1)
    }
}
