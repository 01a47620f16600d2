import Foundation
import Keychain
import TestSupport
import Testing

/// Versions of items and changes of a vault, in both forms of each operation.
@Suite struct HistoryTests {
    let keychain = Keychain(service: "mail")

    @Test func formerVersionsAreReadRestoredAndPurged() throws {
        try KeychainUnderTest.run { _ in
            try keychain.set("first", for: "ada", attributes: .init(label: "one", keep: .versions(2)))
            try keychain.set("second", for: "ada", attributes: .init(label: "two"))
            try keychain.setAttributes(.init(comment: "no new value"), for: "ada")
            #expect(try keychain.item(for: "ada")?.version == 3)
            #expect(try keychain.item(for: "ada")?.attributes.keep == .versions(2))
            let history = try keychain.history(of: "ada")
            #expect(history.map(\.item.version) == [3, 1] && history.map(\.state) == [.present, .former])
            #expect(history.allSatisfy { !$0.item.hasValue } && history[0].change > history[1].change)
            #expect(try keychain.get(String.self, for: "ada", version: 1) == "first")
            #expect(try keychain.get(String.self, for: "ada", version: 2) == nil)
            let restored = try keychain.restore("ada", version: 1)
            #expect(restored.version == 4 && restored.attributes.label == "one" && !restored.hasValue)
            #expect(try keychain.get(String.self, for: "ada") == "first")
            #expect(try keychain.purge("ada") == 2)
            #expect(try keychain.history(of: "ada").count == 1)
            #expect(throws: KeychainError.self) { try keychain.restore("ada") }
            #expect(throws: KeychainError.self) {
                try keychain.set("x", for: "b", attributes: .init(keep: .versions(-1)))
            }
            #expect(throws: KeychainError.self) {
                try keychain.set("x", for: "b", attributes: .init(keep: .versions(1_001)))
            }
        }
    }

    @Test func aRemovedItemComesBackAsynchronously() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set("first", for: "ada", attributes: .init(keep: .versions(5)))
            let id = try await keychain.item(for: "ada")?.id
            #expect(try await keychain.remove("ada"))
            #expect(try await keychain.get(String.self, for: "ada") == nil)
            #expect(try await keychain.history(of: "ada").map(\.state) == [.deleted])
            #expect(try await keychain.get(String.self, for: "ada", version: 1) == "first")
            #expect(try await keychain.restore("ada").id == id)
            #expect(try await keychain.get(String.self, for: "ada") == "first")
            #expect(try await keychain.remove("ada"))
            try await keychain.set("other", for: "ada")
            let error = await #expect(throws: KeychainError.self) { try await keychain.restore("ada") }
            #expect(error?.code == .duplicateItem)
            #expect(try await keychain.purge() == 2)
            #expect(try await keychain.history(of: "nobody").isEmpty)
        }
    }

    @Test func changesAreToldOnce() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set("first", for: "ada")
            let all = try await keychain.changes(since: 0)
            let id = try await keychain.item(for: "ada")?.id
            #expect(all.isComplete && all.entries.map(\.id) == [id] && all.entries.map(\.version) == [1])
            #expect(try await keychain.changes(since: all.next).entries.isEmpty)
            try await keychain.set("second", for: "ada")
            try await keychain.set("x", for: "bob")
            try await keychain.remove("bob")
            let later = try await keychain.changes(since: all.next)
            #expect(later.isComplete && later.entries.map(\.version) == [2, nil])
            #expect(later.entries.map(\.change) == later.entries.map(\.change).sorted())
            let unknown = try await keychain.changes(since: later.next + 1)
            #expect(!unknown.isComplete && unknown.next == later.next)
        }
    }
}
