import Access
import Foundation
import GRDB
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Attributes of a program's own choice: what is found by them, and that nothing of them is readable in the store.
@Suite struct CustomAttributeTests {
    private let temporary: TemporaryFolder
    private let vault: EmbeddedVault

    init() throws {
        temporary = try TemporaryFolder()
        vault = try EmbeddedVault.open(at: temporary.path(of: "vault"))
    }

    @discardableResult
    private func add(_ account: String, _ custom: CustomAttributes?, service: String = "s") throws -> StoredItem {
        var item = NewItem.password(service, account, "value of \(account)")
        item.customAttributes = custom
        return try vault.add(item, as: .app)
    }

    private func accounts(_ custom: CustomAttributes, as client: Client = .app) throws -> [String] {
        var query = ItemQuery(itemClass: .genericPassword)
        query.customAttributes = custom
        let found = try vault.items(query, as: client)
        return found.compactMap { item in
            guard case .string(let account) = item.attribute(.account) else { return nil }
            #expect(item.value == Data("value of \(account)".utf8))
            return account
        }.sorted()
    }

    @Test func itemsAreFoundByAnyOfThem() throws {
        try add("a", ["stage": "production", "team": "web"])
        try add("b", ["stage": "production", "team": "data"])
        try add("c", ["stage": "test", "team": "web"])
        try add("d", nil)
        #expect(try accounts(["stage": "production"]) == ["a", "b"])
        #expect(try accounts(["team": "web"]) == ["a", "c"])
        #expect(try accounts(["team": "web", "stage": "production"]) == ["a"])
        #expect(try accounts([:]) == ["a", "b", "c", "d"])
        // Names and values do not run into each other, and part of a value is not the value.
        for custom in [["stage": "prod"], ["sta": "geproduction"], ["stageproduction": ""], ["web": "team"]] {
            #expect(try accounts(custom).isEmpty)
        }
        var query = ItemQuery.password("s", "a")
        query.customAttributes = ["team": "web"]
        #expect(
            try vault.copy(query, includingValues: false, as: .app).first?.customAttributes["stage"] == "production")
        query.customAttributes = ["team": "data"]
        #expect(throws: VaultError.itemNotFound) { try vault.copy(query, includingValues: false, as: .app) }
    }

    @Test func otherClassesHaveThemToo() throws {
        for (itemClass, name) in [(ItemClass.internetPassword, AttributeName.server), (.key, .applicationLabel)] {
            let attributes: ItemAttributes =
                itemClass == .key ? [name: .data(Data("x".utf8))] : [name: .string("x")]
            var item = NewItem(itemClass: itemClass, attributes: attributes, value: Data([1]))
            item.customAttributes = ["of": "\(itemClass)"]
            _ = try vault.add(item, as: .app)
            var query = ItemQuery(itemClass: itemClass)
            query.customAttributes = ["of": "\(itemClass)"]
            #expect(try vault.copy(query, includingValues: false, as: .app).count == 1)
        }
        #expect(try accounts(["of": "inet"]).isEmpty)
    }

    @Test func aChangeReplacesAllOrNone() throws {
        try add("a", ["stage": "production", "team": "web"])
        var changes = ItemChanges(attributes: [.label: .string("renamed")])
        #expect(try vault.update(.password("s", "a"), with: changes, as: .app) == 1)
        #expect(try accounts(["stage": "production", "team": "web"]) == ["a"])
        changes.customAttributes = ["stage": "test"]
        #expect(try vault.update(.password("s", "a"), with: changes, as: .app) == 1)
        #expect(try accounts(["stage": "test"]) == ["a"])
        #expect(try accounts(["stage": "production"]).isEmpty && accounts(["team": "web"]).isEmpty)
        // Storing the value again leaves them, and storing it with others replaces them.
        var item = NewItem.password("s", "a", "value of a")
        _ = try vault.put(item, as: .app)
        #expect(try accounts(["stage": "test"]) == ["a"])
        item.customAttributes = ["team": "data"]
        _ = try vault.put(item, as: .app)
        #expect(try accounts(["team": "data"]) == ["a"] && accounts(["stage": "test"]).isEmpty)
        item.customAttributes = ["team": "ops"]
        #expect(try vault.exchange(item, expecting: Data("value of a".utf8), as: .app))
        #expect(try accounts(["team": "ops"]) == ["a"])
        item.customAttributes = [:]
        _ = try vault.put(item, as: .app)
        #expect(try accounts(["team": "ops"]).isEmpty && accounts([:]) == ["a"])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func whatIsTooLargeIsRefusedAndNothingChanges() throws {
        try add("a", ["kept": "yes"])
        let long = String(repeating: "x", count: CustomAttributes.longestName)
        try add("b", [long: String(repeating: "y", count: CustomAttributes.longestValue)])
        let most = Dictionary(uniqueKeysWithValues: (0..<CustomAttributes.most).map { ("\($0)", "") })
        try add("c", most)
        for custom in [
            ["": "x"], [long + "x": ""], ["x": String(repeating: "y", count: CustomAttributes.longestValue + 1)],
            most.merging(["one": "more"]) { $1 },
        ] {
            #expect(throws: VaultError.self) { try add("d", custom) }
            var changes = ItemChanges()
            changes.customAttributes = custom
            #expect(throws: VaultError.self) { try vault.update(.password("s", "a"), with: changes, as: .app) }
        }
        #expect(try accounts(["kept": "yes"]) == ["a"] && accounts(["63": ""]) == ["c"])
    }

    @Test func anotherGroupIsNotSearched() throws {
        try add("a", ["stage": "production"])
        let other = Client(identifier: "other", accessGroups: ["TEAM.other"])
        #expect(try accounts(["stage": "production"], as: other).isEmpty)
    }

    @Test func deletingAndReopeningLeaveNothing() throws {
        try add("a", ["stage": "production"])
        try add("b", ["stage": "production"])
        var query = ItemQuery(itemClass: .genericPassword)
        query.customAttributes = ["stage": "production"]
        #expect(try vault.delete(query, as: .app) == 2)
        #expect(try accounts([:]).isEmpty)
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: temporary.path(of: "vault")))
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM filing") } == 0)
    }

    @Test func theStoreShowsNeitherNamesNorValues() throws {
        try add("a", ["canary-of-a-name": "canary-of-a-value"])
        let contents = try FolderContents(of: temporary.path(of: "vault"))
        let store = try ItemStoreFile.name(inVault: temporary.path(of: "vault"))
        #expect(contents[store + "-wal"]?.isEmpty == false)
        for name in contents.entries.keys {
            #expect(contents[name]?.range(of: Data("canary".utf8)) == nil, "\(name)")
        }
    }

    @Test func aLostFilingIsReported() throws {
        try add("a", ["stage": "production"])
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: temporary.path(of: "vault")))
        let filings = try database.read { try Row.fetchAll($0, sql: "SELECT * FROM filing") }
        // The listing, the identifier, service, account, their pair, and the custom attribute.
        #expect(filings.count == 6)
        for filing in filings {
            let term: Int64 = filing["term"]
            try database.inDatabase { try $0.execute(sql: "DELETE FROM filing WHERE term = ?", arguments: [term]) }
            #expect(try vault.verify(as: .owner).problems.count == 1)
            try database.inDatabase {
                try $0.execute(
                    sql: "INSERT INTO filing VALUES (?, ?, ?)", arguments: [filing["grp"], term, filing["item"]])
            }
        }
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }
}
