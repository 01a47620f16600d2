import Foundation
import Keychain
import Testing

/// What is true of every operation must be true of both of its forms.
@Suite struct OperationTests {
    let keychain = Keychain(service: "mail")

    @Test func storesReplacesAndRemoves() throws {
        try KeychainUnderTest.run { _ in
            #expect(try keychain.get(String.self, for: "ada") == nil)
            #expect(try !keychain.contains("ada"))
            try keychain.set("first", for: "ada")
            try keychain.set("second", for: "ada")
            #expect(try keychain.get(String.self, for: "ada") == "second")
            #expect(try keychain.contains("ada"))
            #expect(try keychain.items().count == 1)
            #expect(try keychain.remove("ada"))
            #expect(try !keychain.remove("ada"))
            #expect(try keychain.get(String.self, for: "ada") == nil)
        }
    }

    @Test func storesReplacesAndRemovesAsynchronously() async throws {
        try await KeychainUnderTest.runAsync { _ in
            #expect(try await keychain.get(String.self, for: "ada") == nil)
            #expect(try await !keychain.contains("ada"))
            try await keychain.set("first", for: "ada")
            try await keychain.set("second", for: "ada")
            #expect(try await keychain.get(String.self, for: "ada") == "second")
            #expect(try await keychain.contains("ada"))
            #expect(try await keychain.items().count == 1)
            #expect(try await keychain.remove("ada"))
            #expect(try await !keychain.remove("ada"))
            #expect(try await keychain.get(String.self, for: "ada") == nil)
        }
    }

    @Test func findsByCustomAttributes() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set("x", for: "a", attributes: .init(custom: ["stage": "production", "team": "web"]))
            try await keychain.set("y", for: "b", attributes: .init(custom: ["stage": "test"]))
            try await Keychain(service: "other").set("z", for: "c", attributes: .init(custom: ["stage": "test"]))
            #expect(try await keychain.items(withCustom: ["stage": "production"]).map(\.account) == ["a"])
            let found = try await keychain.items(withCustom: ["stage": "test"], includingValues: true)
            #expect(try found.map { try $0.value(as: String.self) } == ["y"])
            #expect(try await keychain.items(withCustom: ["stage": "test", "team": "web"]).isEmpty)
            try await keychain.set("new", for: "a")
            try await keychain.setAttributes(.init(label: "renamed"), for: "a")
            #expect(
                try await keychain.item(for: "a")?.attributes.custom == ["stage": "production", "team": "web"])
            try await keychain.setAttributes(.init(custom: [:]), for: "a")
            #expect(try await keychain.item(for: "a")?.attributes.custom == nil)
            #expect(throws: KeychainError.self) { try keychain.setAttributes(.init(custom: ["": "x"]), for: "a") }
        }
    }

    @Test func expiredItemsAreThereAndNotRead() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set("old", for: "a", attributes: .init(expiry: .at(.distantPast)))
            try await keychain.set("kept", for: "b", attributes: .init(expiry: .after(.seconds(3_600))))
            let expired = KeychainError(.itemExpired, status: -25_300, message: "")
            await #expect(throws: expired) { try await keychain.get(String.self, for: "a") }
            #expect(try await keychain.get(String.self, for: "b") == "kept")
            #expect(try await keychain.items(includingValues: true).map(\.account) == ["b"])
            #expect(try await keychain.item(for: "a")?.expirationDate == .distantPast)
            #expect(try await keychain.contains("a"))
            var former = keychain
            former.readsExpiredItems = true
            #expect(try await former.get(String.self, for: "a") == "old")
            // A change starts from the value that is there, and the new one has no end.
            #expect(try await keychain.update(String.self, for: "a") { $0? += " and new" } == "old and new")
            #expect(try await keychain.get(String.self, for: "a") == "old and new")
            try await keychain.setAttributes(.init(expiry: .never), for: "b")
            #expect(try await keychain.item(for: "b")?.expirationDate == nil)
        }
    }

    @Test func listsByAccountAndClears() throws {
        try KeychainUnderTest.run { _ in
            for account in ["c", "a", "b"] { try keychain.set(account + "-value", for: account) }
            try Keychain(service: "other").set("kept", for: "a")

            let items = try keychain.items()
            #expect(items.map(\.account) == ["a", "b", "c"])
            #expect(items.allSatisfy { !$0.hasValue && $0.target == .service("mail") })
            #expect(
                try keychain.items(includingValues: true).map { try $0.value(as: String.self) }
                    == ["a-value", "b-value", "c-value"])
            #expect(try keychain.removeAll() == 3)
            #expect(try keychain.removeAll() == 0)
            #expect(try keychain.items().isEmpty)
            #expect(try Keychain(service: "other").get(String.self, for: "a") == "kept")
        }
    }

    @Test func listsByAccountAndClearsAsynchronously() async throws {
        try await KeychainUnderTest.runAsync { _ in
            for account in ["c", "a", "b"] { try await keychain.set(account + "-value", for: account) }
            let items = try await keychain.items(includingValues: true)
            #expect(items.map(\.account) == ["a", "b", "c"])
            #expect(try items.map { try $0.value(as: String.self) } == ["a-value", "b-value", "c-value"])
            #expect(try await keychain.removeAll() == 3)
            #expect(try await keychain.removeAll() == 0)
        }
    }

    @Test func changesAttributesAndNothingElse() throws {
        try KeychainUnderTest.run { _ in
            try keychain.set(
                "secret", for: "ada",
                attributes: .init(
                    label: "Mail", comment: "work", itemDescription: "mail password", generic: Data([1, 2]),
                    creator: 0xFFFF_FFFF, type: 7, isInvisible: true, isNegative: false))
            let before = try #require(try keychain.item(for: "ada"))
            #expect(before.attributes.comment == "work")
            #expect(before.attributes.generic == Data([1, 2]))
            #expect(before.attributes.creator == 0xFFFF_FFFF)
            #expect(before.attributes.isInvisible == true)
            #expect(before.attributes.isNegative == false)
            #expect(before.creationDate == before.modificationDate)

            try keychain.setAttributes(.init(label: "Mail of Ada"), for: "ada")
            let after = try #require(try keychain.item(for: "ada"))
            var expected = before.attributes
            expected.label = "Mail of Ada"
            #expect(after.attributes == expected)
            #expect(after.id == before.id)
            #expect(after.creationDate == before.creationDate)
            #expect(after.modificationDate > before.modificationDate)
            #expect(try keychain.get(String.self, for: "ada") == "secret")

            #expect(throws: KeychainError.self) { try keychain.setAttributes(.init(label: "x"), for: "nobody") }
        }
    }

    @Test func changesAttributesAsynchronously() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set("secret", for: "ada", attributes: .init(comment: "work"))
            try await keychain.setAttributes(.init(label: "Mail"), for: "ada")
            let attributes = try await keychain.item(for: "ada")?.attributes
            #expect(attributes == .init(label: "Mail", comment: "work"))
            #expect(try await keychain.item(for: "nobody") == nil)
        }
    }

    @Test func storingAgainKeepsAttributesThatAreNotGiven() throws {
        try KeychainUnderTest.run { _ in
            try keychain.set("one", for: "ada", attributes: .init(label: "Mail", comment: "work"))
            try keychain.set("two", for: "ada", attributes: .init(comment: "home"))
            #expect(try keychain.item(for: "ada")?.attributes == .init(label: "Mail", comment: "home"))
        }
    }

    @Test func givesAnItemAnotherProtection() throws {
        try KeychainUnderTest.run { _ in
            try keychain.set("secret", for: "ada")
            var strict = keychain
            strict.accessibility = .afterFirstUnlockThisDeviceOnly
            try strict.protect("ada")
            #expect(try keychain.item(for: "ada")?.accessibility == .afterFirstUnlockThisDeviceOnly)
            #expect(try keychain.get(String.self, for: "ada") == "secret")
            try keychain.set("again", for: "ada")
            #expect(try keychain.item(for: "ada")?.accessibility == .whenUnlocked)
        }
    }

    @Test func givesAnItemAnotherProtectionAsynchronously() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set("secret", for: "ada")
            try await Keychain(service: "mail", accessibility: .always).protect("ada")
            #expect(try await keychain.item(for: "ada")?.accessibility == .always)
        }
    }

    @Test func emptyValuesAreValues() throws {
        try KeychainUnderTest.run { _ in
            try keychain.set("", for: "ada")
            #expect(try keychain.get(String.self, for: "ada") == "")
            #expect(try keychain.get(Data.self, for: "ada") == Data())
        }
    }

    @Test func localAndSynchronizableItemsAreApart() throws {
        try KeychainUnderTest.run { _ in
            let synchronizable = Keychain(service: "mail", isSynchronizable: true)
            try keychain.set("local", for: "ada")
            try synchronizable.set("everywhere", for: "ada")
            #expect(try keychain.get(String.self, for: "ada") == "local")
            #expect(try synchronizable.get(String.self, for: "ada") == "everywhere")
            #expect(try keychain.items().map(\.isSynchronizable) == [false])
            #expect(try keychain.removeAll() == 1)
            #expect(try synchronizable.items().map(\.isSynchronizable) == [true])
        }
    }

    @Test func readsWhereItStores() throws {
        try KeychainUnderTest.run { _ in
            let shared = Keychain(service: "mail", accessGroup: "TEAM.shared")
            try shared.set("shared", for: "ada")
            #expect(try keychain.get(String.self, for: "ada") == nil)
            try keychain.set("own", for: "ada")
            #expect(try keychain.item(for: "ada")?.accessGroup == "TEAM.app")
            #expect(try shared.get(String.self, for: "ada") == "shared")
            #expect(try keychain.removeAll() == 1)
            #expect(try shared.contains("ada"))
        }
    }

    @Test func canceledTasksDoNothing() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set("kept", for: "ada")
            let keychain = keychain
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await keychain.remove("ada")
            }
            await #expect(throws: KeychainError(.taskCanceled, status: -128, message: "")) { try await task.value }
            #expect(try await keychain.contains("ada"))
        }
    }
}
