import Configuration
import Foundation
import Keychain
import KeychainConfiguration
import KeychainTesting
import Testing

/// Snapshots are of one moment.
@Suite(.timeLimit(.minutes(5))) struct SnapshotTests {
    @Test func staysAsItWas() throws {
        try withTestKeychain { world in
            try Shop.keychain.set("one", for: Shop.account)
            let snapshot = Shop.provider.snapshot()
            try Shop.keychain.set("two", for: Shop.account)
            try Shop.keychain.set("new", for: "new")
            world.lock()
            #expect(try snapshot.value(forKey: Shop.password, type: .string).text == "one")
            #expect(try snapshot.value(forKey: "new", type: .string).value == nil)
            // What could not be read stays so, too, for every key.
            let locked = Shop.provider.snapshot()
            world.unlock()
            for key in [Shop.password, "new", "missing"] {
                #expect(throws: KeychainError(.interactionNotAllowed, status: 0, message: "")) {
                    try locked.value(forKey: key, type: .string)
                }
            }
            #expect(try Shop.provider.snapshot().value(forKey: Shop.password, type: .string).text == "two")
        }
    }

    /// A writer stores the number under `first`, and then under `second`: at no moment is the second ahead.
    @Test func isOfOneMoment() async throws {
        try await withTestKeychain { _ in
            try await Shop.keychain.set(0, for: "first")
            try await Shop.keychain.set(0, for: "second")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...200 {
                        try await Shop.keychain.set(number, for: "first")
                        try await Shop.keychain.set(number, for: "second")
                    }
                }
                for _ in 0..<2 {
                    group.addTask {
                        let config = ConfigReader(provider: Shop.provider)
                        var second = 0
                        while second < 200 {
                            let snapshot = config.snapshot()
                            let first = try snapshot.requiredInt(forKey: "first")
                            let last = second
                            second = try snapshot.requiredInt(forKey: "second")
                            #expect((0...1).contains(first - second))
                            #expect(second >= last)
                            await Task.yield()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Many readers of all kinds, beside a writer, each see a value that was stored.
    @Test func manyReadAtOnce() async throws {
        try await withTestKeychain { _ in
            let values = ["one", "two"]
            try await Shop.keychain.set(values[0], for: Shop.account)
            let config = ConfigReader(provider: Shop.provider)
            try await withThrowingTaskGroup(of: [String].self) { group in
                group.addTask {
                    for number in 0..<100 { try await Shop.keychain.set(values[number % 2], for: Shop.account) }
                    return []
                }
                for _ in 0..<50 {
                    group.addTask {
                        [
                            try config.requiredString(forKey: "database.password"),
                            try await config.fetchRequiredString(forKey: "database.password"),
                            try config.snapshot().requiredString(forKey: "database.password"),
                        ]
                    }
                }
                var count = 0
                for try await read in group {
                    #expect(read.allSatisfy(values.contains))
                    count += read.count
                }
                #expect(count == 150)
            }
        }
    }
}
