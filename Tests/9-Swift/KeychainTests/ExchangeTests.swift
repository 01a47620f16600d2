import Foundation
import Keychain
import TestSupport
import Testing

@Suite struct ExchangeTests {
    let keychain = Keychain(service: "counters")

    @Test func replacesOnlyWhatWasExpected() throws {
        try KeychainUnderTest.run { _ throws in
            #expect(try !keychain.replace(expecting: "a", with: "b", for: "x"))
            #expect(try keychain.replace(expecting: nil, with: "a", for: "x"))
            #expect(try !keychain.replace(expecting: nil, with: "b", for: "x"))
            #expect(try keychain.get(String.self, for: "x") == "a")
            #expect(try keychain.replace(expecting: "a", with: "b", for: "x"))
            #expect(try keychain.replace(expecting: "b", with: String?.none, for: "x"))
            #expect(try !keychain.contains("x"))
            #expect(try keychain.replace(expecting: String?.none, with: nil, for: "x"))
        }
    }

    @Test func replacesOnlyWhatWasExpectedAsynchronously() async throws {
        try await KeychainUnderTest.runAsync { _ async throws in
            #expect(try await keychain.replace(expecting: nil, with: "a", for: "x"))
            #expect(try await !keychain.replace(expecting: "z", with: "b", for: "x"))
            #expect(try await keychain.replace(expecting: "a", with: "b", for: "x"))
            #expect(try await keychain.get(String.self, for: "x") == "b")
        }
    }

    /// JSON with other white space and another order of keys is another encoding of the same value.
    @Test func comparesValuesAndNotTheirEncodings() throws {
        try KeychainUnderTest.run { _ in
            try keychain.set(#"{ "b": 2, "a": 1 }"#, for: "x")
            #expect(try keychain.replace(expecting: ["a": 1, "b": 2], with: ["a": 3], for: "x"))
            #expect(try keychain.get([String: Int].self, for: "x") == ["a": 3])
        }
    }

    @Test func updateStoresRemovesOrLeavesAlone() throws {
        try KeychainUnderTest.run { _ in
            #expect(try keychain.update(Int.self, for: "n") { $0 = ($0 ?? 0) + 1 } == 1)
            #expect(try keychain.update(Int.self, for: "n") { $0 = ($0 ?? 0) + 1 } == 2)
            let before = try keychain.item(for: "n")?.modificationDate
            #expect(try keychain.update(Int.self, for: "n") { _ in } == 2)
            #expect(try keychain.item(for: "n")?.modificationDate == before)
            #expect(try keychain.update(Int.self, for: "n") { $0 = nil } == nil)
            #expect(try !keychain.contains("n"))
        }
    }

    @Test func anUpdateThatThrowsStoresNothing() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set(1, for: "n")
            let refused = KeychainError(.init("refused"), status: 0, message: "refused")
            await #expect(throws: refused) {
                try await keychain.update(Int.self, for: "n") { value in
                    value = 2
                    throw refused
                }
            }
            #expect(try await keychain.get(Int.self, for: "n") == 1)
        }
    }

    @Test func concurrentUpdatesLoseNothing() async throws {
        let rounds = TestScale.count(25, soak: 1_000)
        try await KeychainUnderTest.runAsync { _ in
            let keychain = keychain
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<rounds {
                            try await keychain.update(Int.self, for: "n") { $0 = ($0 ?? 0) + 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await keychain.get(Int.self, for: "n") == 8 * rounds)
        }
    }

    /// The change itself may wait: somebody else's write in that time makes it run again.
    @Test func aRefreshStartsAgainOnANewerValue() async throws {
        try await KeychainUnderTest.runAsync { _ in
            try await keychain.set(1, for: "n")
            var seen: [Int?] = []
            let keychain = keychain
            let result = try await keychain.refresh(Int.self, for: "n") { value in
                seen.append(value)
                if seen.count == 1 { try await keychain.set(10, for: "n") }
                value = (value ?? 0) + 1
            }
            #expect(seen == [1, 10])
            #expect(result == 11)
            #expect(try await keychain.get(Int.self, for: "n") == 11)
        }
    }

    @Test func concurrentStoresLeaveOneWholeItem() async throws {
        try await KeychainUnderTest.runAsync { _ in
            let keychain = keychain
            let values = (0..<8).map { String(repeating: "\($0)", count: 5_000) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for value in values {
                    group.addTask {
                        for _ in 0..<TestScale.count(10, soak: 200) {
                            try await keychain.set(value, for: "x")
                            // There is no moment without a value.
                            let seen = try await keychain.get(String.self, for: "x")
                            #expect(seen.map(values.contains) == true)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await keychain.items().count == 1)
        }
    }
}
