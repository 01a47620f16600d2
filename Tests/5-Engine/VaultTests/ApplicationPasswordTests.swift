import Access
import Bytes
import Foundation
import GRDB
import KeychainModel
import SecureMemory
import TestSupport
import Testing
import Vault
import VaultInterface

@testable import Sealing

/// Items under a password of their program.
@Suite struct ApplicationPasswordTests {
    private typealias Items = AccessControlledItemTests

    private static func values(
        _ vault: EmbeddedVault, _ account: String? = nil, password: String?,
        _ interaction: AuthenticationOptions.Interaction = .fail
    ) throws -> [String?] {
        try vault.copy(Items.query(account, interaction, password: password), includingValues: true, as: .app)
            .map { $0.value.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(arguments: ["pw", "", "größer 🔑", String(repeating: "x", count: 5000)])
    func opensUnderItsPasswordOnly(password: String) throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        _ = try vault.add(Items.item("a", .applicationPassword, password: password), as: .app)
        #expect(try Self.values(vault, "a", password: password) == ["secret of a"])
        for includingValues in [true, false] {
            #expect(throws: VaultError.authenticationFailed) {
                try vault.copy(
                    Items.query("a", password: password + "x"), includingValues: includingValues, as: .app)
            }
            #expect(throws: VaultError.itemPasswordMissing) {
                try vault.copy(Items.query("a"), includingValues: includingValues, as: .app)
            }
        }
        #expect(try vault.delete(Items.query("a"), as: .app) == 1)
        #expect(person.requests.isEmpty)
    }

    @Test func isNotStoredWithoutAPassword() throws {
        let vault = try memoryVault(person: PersonUnderTest())
        let error = #expect(throws: VaultError.self) {
            try vault.add(Items.item("a", .applicationPassword), as: .app)
        }
        #expect(error == .itemPasswordMissing)
        #expect(error?.description.contains("setCredential") == true)
        #expect(try vault.items(Items.query()).isEmpty)
        // That it is there already is no matter of passwords.
        _ = try vault.add(Items.item("a", .applicationPassword, password: "pw"), as: .app)
        #expect(throws: VaultError.duplicateItem) { try vault.add(Items.item("a", .applicationPassword), as: .app) }
    }

    @Test func needsThePersonToo() throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        _ = try vault.add(Items.item("a", [.userPresence, .applicationPassword], password: "pw"), as: .app)
        #expect(try Self.values(vault, "a", password: "pw", .allow) == ["secret of a"])
        #expect(person.requests.count == 1)
        #expect(throws: VaultError.self) { try Self.values(vault, "a", password: "pw", .fail) }
        person.willAnswer(.failed(.userCancel))
        #expect(throws: VaultError.userCanceled) { try Self.values(vault, "a", password: "pw", .allow) }
        // Without the password nobody is bothered.
        let asked = person.requests.count
        #expect(throws: VaultError.self) { try Self.values(vault, "a", password: nil, .allow) }
        #expect(person.requests.count == asked)
    }

    @Test func anUpdateKeepsThePassword() throws {
        let vault = try memoryVault()
        _ = try vault.add(Items.item("a", .applicationPassword, password: "pw"), as: .app)
        let changes = ItemChanges(attributes: [.label: .string("new")], value: Data("changed".utf8))
        #expect(throws: VaultError.self) { try vault.update(Items.query("a"), with: changes, as: .app) }
        #expect(throws: VaultError.authenticationFailed) {
            try vault.update(Items.query("a", password: "other"), with: changes, as: .app)
        }
        #expect(try vault.update(Items.query("a", password: "pw"), with: changes, as: .app) == 1)
        #expect(try Self.values(vault, "a", password: "pw") == ["changed"])
        #expect(throws: VaultError.authenticationFailed) { try Self.values(vault, "a", password: "other") }

        // The group is part of what the value is sealed to, so that moving seals it anew.
        let moved = ItemChanges(accessGroup: "TEAM.shared")
        #expect(try vault.update(Items.query("a", password: "pw"), with: moved, as: .app) == 1)
        #expect(try Self.values(vault, "a", password: "pw") == ["changed"])
    }

    @Test func anUpdateGivesAndTakesThePassword() throws {
        let vault = try memoryVault()
        for account in ["a", "b", "c"] { _ = try vault.add(.password("bank", account, account), as: .app) }
        let control = AccessControl(protection: .afterFirstUnlock, flags: .applicationPassword)
        let guarded = ItemChanges(accessControl: control)
        #expect(throws: VaultError.self) { try vault.update(Items.query(), with: guarded, as: .app) }
        #expect(try Self.values(vault, "a", password: nil) == ["a"])
        #expect(try vault.update(Items.query(password: "pw"), with: guarded, as: .app) == 3)
        #expect(Set(try Self.values(vault, password: "pw")) == ["a", "b", "c"])
        #expect(throws: VaultError.authenticationFailed) { try Self.values(vault, "b", password: "other") }
        let free = ItemChanges(accessControl: AccessControl(protection: .afterFirstUnlock))
        #expect(try vault.update(Items.query(password: "pw"), with: free, as: .app) == 3)
        #expect(Set(try Self.values(vault, password: nil)) == ["a", "b", "c"])
    }

    @Test func puttingAndExchangingNeedIt() throws {
        let vault = try memoryVault()
        _ = try vault.put(Items.item("a", .applicationPassword, password: "pw"), as: .app)
        var next = try Items.item("a", .applicationPassword, password: "other")
        next.value = Data("next".utf8)
        #expect(throws: VaultError.authenticationFailed) { try vault.put(next, as: .app) }
        #expect(throws: VaultError.authenticationFailed) {
            try vault.exchange(next, expecting: Data("secret of a".utf8), as: .app)
        }
        next.authentication.applicationPassword = try SecretBytes("pw")
        #expect(try vault.exchange(next, expecting: Data("secret of a".utf8), as: .app))
        #expect(try Self.values(vault, "a", password: "pw") == ["next"])
        _ = try vault.put(next, as: .app)
        #expect(try Self.values(vault, "a", password: "pw") == ["next"])
    }

    @Test func anItemWithoutAValueIsGuardedToo() throws {
        let vault = try memoryVault()
        var item = try Items.item("a", .applicationPassword, password: "pw")
        item.value = nil
        _ = try vault.add(item, as: .app)
        #expect(throws: VaultError.authenticationFailed) { try Self.values(vault, "a", password: "other") }
        #expect(try Self.values(vault, "a", password: "pw") == [nil])
        let changes = ItemChanges(value: Data("value".utf8))
        #expect(try vault.update(Items.query("a", password: "pw"), with: changes, as: .app) == 1)
        #expect(try Self.values(vault, "a", password: "pw") == ["value"])
    }

    @Test func eachItemHasItsOwnSalt() throws {
        let vault = try memoryVault()
        for account in ["a", "b"] {
            _ = try vault.add(Items.item(account, .applicationPassword, password: account), as: .app)
        }
        #expect(throws: VaultError.authenticationFailed) { try Self.values(vault, password: "a") }
        #expect(try Self.values(vault, "a", password: "a") == ["secret of a"])
        #expect(try Self.values(vault, "b", password: "b") == ["secret of b"])
        let report = try vault.verify(as: .owner)
        #expect(report == IntegrityReport(validItems: 0, lockedItems: 2, problems: []))
    }

    /// The cost that is chosen when nobody says otherwise is one that hurts an attacker and not a program. Opening the
    /// item takes what its seal says.
    @Test func theStandardCostIsPaid() throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
        _ = try vault.add(Items.item("a", .applicationPassword, password: "pw"), as: .app)
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: folder.path(of: "vault")))
        let seal = try #require(try database.read { try Data.fetchOne($0, sql: "SELECT seal FROM item") })
        let password = try #require(try SealedValue.header(of: seal)?.password)
        #expect(password.memoryKiB >= 65_536 && password.passes >= 3)
        #expect(password.memoryKiB <= 262_144 && password.passes <= 4)
        #expect(try Self.values(vault, "a", password: "pw") == ["secret of a"])
    }
}
