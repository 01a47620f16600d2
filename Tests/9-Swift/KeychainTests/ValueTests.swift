import Foundation
import Keychain
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

@Suite struct ValueTests {
    struct Session: Codable, Equatable, KeychainValue {
        var token: String
        var expires: Date
        var scopes: Set<String>
    }

    private func roundTrips<Value: KeychainValue & Equatable>(_ value: Value) throws {
        try KeychainUnderTest.run { _ in
            let keychain = Keychain(service: "values")
            try keychain.set(value, for: "x")
            #expect(try keychain.get(Value.self, for: "x") == value)
        }
    }

    @Test func roundTrip() throws {
        try roundTrips("pässwörd \u{1F511}\u{0}")
        try roundTrips(Data([0, 255, 1]))
        try roundTrips([UInt8]([0, 255, 1]))
        try roundTrips(["a", "b"])
        try roundTrips(["a": [1, 2], "b": []])
        try roundTrips(true)
        try roundTrips(Int.min)
        try roundTrips(UInt64.max)
        try roundTrips(0.1)
        try roundTrips(Date(timeIntervalSinceReferenceDate: 700_000_000.123_456))
        try roundTrips(UUID())
        try roundTrips(try #require(URL(string: "https://example.com/a?b=c")))
        try roundTrips(Session(token: "t", expires: .distantFuture, scopes: ["read"]))
    }

    @Test func stringsAndBytesAreStoredAsTheyAre() throws {
        #expect("pä".keychainData() == Data("pä".utf8))
        #expect(try [UInt8]([1, 2]).keychainData() == Data([1, 2]))
    }

    @Test func equalValuesAreEqualBytes() throws {
        let first = ["b": 1, "a": 2, "c": 3]
        let second = ["c": 3, "a": 2, "b": 1]
        #expect(try first.keychainData() == second.keychainData())
        // In an array too, whatever order the keys have in memory.
        let keys = (0..<20).map { "https://example.com/\($0)" }
        let ascending = [Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })]
        let descending = {
            var values = [String: Int](minimumCapacity: 200)
            for key in keys.reversed() { values[key] = 1 }
            return [values]
        }()
        #expect(try ascending.keychainData() == descending.keychainData())
    }

    @Test func whatCannotBeReadIsAnErrorThatQuotesNothing() throws {
        try KeychainUnderTest.run { _ in
            let keychain = Keychain(service: "values")
            try keychain.set(Data([0x68, 0xff, 0x69]), for: "bytes")
            #expect(code { _ = try keychain.get(String.self, for: "bytes") } == .undecodableValue)
            try keychain.set(#"{"token": "hunter2", "scopes": "hunter2"}"#, for: "json")
            let error = try #require(failure { _ = try keychain.get(Session.self, for: "json") })
            #expect(error.code == .undecodableValue)
            #expect(error.message.contains("the stored value is not of type "))
            #expect(error.message.contains("Session"))
            #expect(!"\(error) \(String(reflecting: error))".contains("hunter2"))
        }
    }

    @Test func whatCannotBeStoredIsAnErrorThatQuotesNothing() throws {
        try KeychainUnderTest.run { _ in
            let keychain = Keychain(service: "values")
            let error = try #require(failure { try keychain.set(["hunter2": Double.nan], for: "x") })
            #expect(error.code == .unencodableValue)
            #expect(!"\(error) \(String(reflecting: error))".contains("hunter2"))
            #expect(try !keychain.contains("x"))
        }
    }

    /// Apple's functions can store an item without any value, which is not an empty one.
    @Test func anItemWithoutValueReadsAsNilAndIsThere() throws {
        try KeychainUnderTest.run { test in
            let keychain = Keychain(service: "values")
            _ = try test.vault.add(
                NewItem(
                    itemClass: .genericPassword, attributes: [.service: .string("values"), .account: .string("x")]),
                as: test.client)
            #expect(try keychain.get(String.self, for: "x") == nil)
            #expect(try keychain.contains("x"))
            #expect(code { try keychain.update(String.self, for: "x") { $0 = "v" } } == .invalidRequest)
            try keychain.set("v", for: "x")
            #expect(try keychain.get(String.self, for: "x") == "v")
        }
    }
}
