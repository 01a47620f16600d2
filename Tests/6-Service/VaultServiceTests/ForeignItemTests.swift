import Access
import Foundation
import GRDB
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// What a program learns of the items of groups that it does not hold: nothing, and not their number either. For each
/// operation of a limited program, the store visits the same rows whatever other groups hold.
///
/// `VaultBenchmark foreign` measures the times of the same.
@Suite struct ForeignItemTests {
    private static let groups = ["TEAM.app", "TEAM.shared"]
    private let server: ServerUnderTest
    private let vault: RemoteVault
    /// The path of the item store.
    private let store: String

    init() throws {
        VisitedRows.watch()
        server = try ServerUnderTest(ServerUnderTest.patient, rules: [.ownProgram(Self.groups)])
        vault = try server.connect()
        store = try ItemStoreFile.path(inVault: server.folder.path(of: "vault"))
        for (number, group) in Self.groups.enumerated() {
            for account in ["ada", "bob"] {
                var item = Self.item("own", account, label: "own \(number)")
                item.accessGroup = group
                _ = try vault.add(item, as: vault.granted)
            }
        }
    }

    /// Adds a row that is the last of each table and index. SQLite takes an instruction less where a range ends with
    /// the table, which would otherwise depend on the random keys of the vault.
    private func addLastRow() throws {
        let database = try DatabaseQueue(path: ItemStoreFile.uri(inVault: server.folder.path(of: "vault")))
        try database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO item
                    VALUES (1000, 1, x'\(String(repeating: "FF", count: 16))', x'', \(Int64.max), 1, 0, 1, 1, x'', x'', x'', x'');
                    INSERT INTO filing VALUES (\(Int64.max), \(Int64.max), 1000);
                    INSERT INTO deletion VALUES (\(Int64.max), 1, x'', 1);
                    INSERT INTO trail VALUES (\(Int64.max), 1, 0);
                    INSERT INTO former VALUES
                        (1000, 1, x'\(String(repeating: "FF", count: 16))', x'', \(Int64.max), 1, 0, 1, 1, 1, 1, x'', x'', x'', x'');
                    """)
        }
        try database.close()
    }

    private func statements(during body: () throws -> Void) rethrows -> [String] {
        try VisitedRows.statements(on: store, during: body)
    }

    private static func item(_ service: String, _ account: String, label: String) -> NewItem {
        var item = NewItem.password(service, account, "value")
        item.attributes[.label] = .string(label)
        return item
    }

    private static func query(_ attributes: ItemAttributes, group: String? = nil) -> ItemQuery {
        var query = ItemQuery(itemClass: .genericPassword, attributes: attributes, limit: nil)
        query.accessGroup = group
        return query
    }

    /// Stores items of many other groups, which have all that the operations ask for.
    ///
    /// - Returns: Their identifiers.
    @discardableResult
    private func addForeignItems() throws -> [UUID] {
        let other = Client(identifier: "other", accessGroups: ["*"])
        return try (0..<60).flatMap { number in
            try ["mail", "own", "new"].map { service in
                var item = Self.item(service, number < 30 ? "ada" : "ada \(number)", label: "label")
                item.accessGroup = number < 30 ? "OTHER.\(number)" : "OTHER"
                return try server.vault.add(item, as: other).identifier
            }
        }
    }

    /// Every operation that a limited program may ask for, and that looks for items or counts them.
    private func operations(_ foreign: UUID) -> [(name: String, perform: () throws -> Void)] {
        let client = vault.granted
        let (service, account, label) = (AttributeValue.string("mail"), AttributeValue.string("ada"), "label")
        func find(_ query: ItemQuery, _ expected: Int) throws {
            let found = try vault.items(query, as: client)
            #expect(found.count == expected)
        }
        var byIdentifier = Self.query([:])
        byIdentifier.identifier = foreign
        let pair: ItemAttributes = [.service: .string("own"), .account: account]
        return [
            ("service", { try find(Self.query([.service: service]), 0) }),
            ("service of one group", { try find(Self.query([.service: service], group: "TEAM.app"), 0) }),
            ("account", { try find(Self.query([.account: account]), 2) }),
            ("label", { try find(Self.query([.label: .string(label)]), 0) }),
            ("service and account", { try find(Self.query([.service: service, .account: account]), 0) }),
            ("service and label", { try find(Self.query([.service: service, .label: .string(label)]), 0) }),
            ("own service", { try find(Self.query([.service: .string("own")]), 4) }),
            ("own service and label", { try find(Self.query(pair.merging([.label: .string("own 0")]) { $1 }), 1) }),
            ("identifier", { try find(byIdentifier, 0) }),
            ("list", { try find(Self.query([:]), 4) }),
            ("list of a class without items", { try find(ItemQuery(itemClass: .key), 0) }),
            (
                "status",
                {
                    let counts = try vault.status(as: client).itemCounts
                    #expect(counts == [.genericPassword: 4])
                }
            ),
            (
                "changes",
                {
                    let last = try vault.changes(since: .max, as: client).known.next
                    let changes = try vault.changes(since: last, as: client)
                    #expect(changes.items.isEmpty && changes.known.isComplete)
                }
            ),
            (
                "versions",
                {
                    let versions = try vault.versions(Self.query(pair), as: client)
                    #expect(versions.count == 2)
                }
            ),
            (
                "duplicate",
                {
                    #expect(throws: VaultError.duplicateItem) {
                        try vault.add(Self.item("own", "ada", label: "own 0"), as: client)
                    }
                }
            ),
            ("put", { _ = try vault.put(Self.item("own", "ada", label: "own 0"), as: client) }),
            (
                "update",
                {
                    let changes = ItemChanges(attributes: [.label: .string("own 1")])
                    let query = Self.query(pair, group: "TEAM.shared")
                    let changed = try vault.update(query, with: changes, as: client)
                    #expect(changed == 1)
                }
            ),
            (
                "add and delete",
                {
                    _ = try vault.add(Self.item("new", "ada", label: "label"), as: client)
                    let deleted = try vault.delete(Self.query([.service: .string("new")]), as: client)
                    #expect(deleted == 1)
                }
            ),
            (
                "delete nothing",
                {
                    #expect(throws: VaultError.itemNotFound) {
                        try vault.delete(Self.query([.service: service]), as: client)
                    }
                }
            ),
        ]
    }

    @Test func theStoreVisitsTheSameRowsWhateverOtherGroupsHold() throws {
        func steps(_ identifier: UUID) throws -> [(name: String, statements: [String])] {
            try operations(identifier).map { operation in
                // The first time, connections are made and statements prepared.
                try operation.perform()
                return (operation.name, try statements(during: operation.perform))
            }
        }
        try addLastRow()
        // The operations delete an item of a group. It has a row of deletions from the first on.
        _ = try vault.add(Self.item("new", "ada", label: "label"), as: vault.granted)
        _ = try vault.delete(Self.query([.service: .string("new")]), as: vault.granted)
        let before = try steps(UUID())
        let foreign = try addForeignItems()
        let after = try steps(try #require(foreign.first))
        #expect(before.count == after.count)
        for (before, after) in zip(before, after) {
            #expect(!before.statements.isEmpty, "\(before.name)")
            #expect(before.statements == after.statements, "\(before.name)")
        }
    }

    @Test func whatOtherGroupsHoldAndWhatNobodyHasIsVisitedAlike() throws {
        try addLastRow()
        try addForeignItems()
        func steps(_ service: String) -> [String] {
            statements {
                #expect(throws: VaultError.itemNotFound) {
                    try vault.copy(
                        Self.query([.service: .string(service)], group: "TEAM.app"), includingValues: true,
                        as: vault.granted)
                }
            }
        }
        _ = steps("nobody's")
        #expect(steps("mail") == steps("nobody's"))
    }

    /// Only a search by a client that holds every group walks through all groups.
    @Test func theOwnerFindsTheItemsOfAllGroups() throws {
        try addForeignItems()
        let owner = Client.owner
        for (query, count) in [
            (Self.query([.service: .string("mail")]), 60), (Self.query([.account: .string("ada")]), 92),
            (Self.query([.service: .string("own"), .label: .string("label")]), 60), (Self.query([:]), 184),
        ] {
            let found = try server.vault.items(query, as: owner)
            #expect(found.count == count)
            #expect(Set(found.map(\.identifier)).count == count)
        }
        #expect(try server.vault.status(as: owner).itemCounts == [.genericPassword: 184])
    }
}
