import Access
import Foundation
import GRDB
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// What somebody who can write the database does to the parts that are not sealed, and what it takes to
/// see it and to go on.
@Suite struct TamperedIndexTests {
    private let temporary: TemporaryFolder
    private let vault: EmbeddedVault
    private let database: DatabaseQueue

    init() throws {
        temporary = try TemporaryFolder()
        vault = try EmbeddedVault.open(at: temporary.path(of: "vault"))
        for account in ["a", "b", "c"] { _ = try vault.add(.password("s", account, account), as: .app) }
        database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: temporary.path(of: "vault")))
    }

    @Test func aLostIndexIsReportedAndMendedByStoring() throws {
        try database.inDatabase { try $0.execute(sql: "DELETE FROM filing") }
        #expect(try vault.verify(as: .owner).problems.count == 3)
        _ = try vault.put(.password("s", "a", "new"), as: .app)
        #expect(try vault.items(.password("s", "a")).map(\.value) == [Data("new".utf8)])
        #expect(try vault.verify(as: .owner).problems.count == 2)
    }

    @Test func aRowMadeToLookDeletedIsDamageAndNotRoom() throws {
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET flags = 3 WHERE id = 1") }
        #expect(try vault.items(.password("s", "a")).isEmpty)
        let failure = #expect(throws: VaultError.self) { try vault.put(.password("s", "a", "new"), as: .app) }
        guard case .corruptItem(row: 1, _)? = failure else {
            Issue.record("\(String(describing: failure)) is not damage of the row")
            return
        }
        #expect(try vault.verify(as: .owner).problems.count == 1)
    }

    @Test(arguments: ["meta = x'00'", "class = 77", "data = x'0000'", "flags = 3", "grp = 5", "seal = x''"])
    func whatIsDamagedCanBeDeletedAndNothingElse(_ damage: String) throws {
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET \(damage) WHERE id = 2") }
        #expect(throws: VaultError.self) { try vault.deleteDamaged(as: .app) }
        #expect(try vault.verify(as: .owner).problems.count == 1)
        #expect(try vault.deleteDamaged(as: .owner) == 1)
        let report = try vault.verify(as: .owner)
        #expect(report.validItems == 2)
        #expect(report.problems.isEmpty)
        #expect(
            try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM filing WHERE item = 2") } == 0)
        #expect(Set(try vault.items(.password("s", limit: nil)).map(\.value)) == [Data("a".utf8), Data("c".utf8)])
        #expect(try vault.deleteDamaged(as: .owner) == 0)
    }

    @Test func whatIsLockedIsNotDamaged() throws {
        let options = PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 1))
        try vault.setPasscode(.test("right"), options: options, as: .owner)
        try vault.lock(after: .zero, as: .owner)
        #expect(try vault.deleteDamaged(as: .owner) == 0)
        try vault.unlock(with: .test("right"), as: .owner)
        #expect(try vault.items(.password("s", limit: nil)).count == 3)
    }

    @Test(arguments: ["meta = x'00'", "class = 77"]) func listingsGoOnWithoutDamagedItems(_ damage: String) throws {
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET \(damage) WHERE id = 2") }
        var query = ItemQuery.password("s", limit: nil)
        #expect(throws: VaultError.self) { try vault.copy(query, includingValues: true, as: .owner) }
        query.reports = .damage
        var reports: [CopyItems.Part] = []
        let found = try vault.copy(query, includingValues: true, as: .owner) { reports.append($0) }
        #expect(Set(found.map(\.value)) == [Data("a".utf8), Data("c".utf8)])
        #expect(reports.count == 1)
    }

    @Test(
        arguments: [
            "class = 77", "class = -1", "class = 'x'", "class = 9223372036854775807", "pk = x''", "uuid = x''",
            "grp = 'x'", "pdmn = 77", "pdmn = 'x'", "flags = 4", "terms = x'00'", "meta = 'x'", "seal = 1", "data = 1",
        ])
    func theStatusIsToldWithDamagedRows(_ damage: String) throws {
        try database.inDatabase { try $0.execute(sql: "UPDATE item SET \(damage) WHERE id = 2") }
        #expect(try vault.status(as: .owner).itemCounts[.genericPassword] ?? 0 >= 2)
        let report = try vault.verify(as: .owner)
        #expect(report.validItems == 2)
        #expect(report.problems.count == 1)
    }

    @Test func onlyTheOwnerMayVerify() throws {
        #expect(throws: VaultError.accessDenied(.groupNotHeld(group: "*", client: "app"))) {
            try vault.verify(as: .app)
        }
    }
}
