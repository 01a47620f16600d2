import Configuration
import Foundation
import Keychain
import KeychainConfiguration
import KeychainTesting
import Testing

/// Values and snapshots are followed through changes and locks.
@Suite(.timeLimit(.minutes(5))) struct WatchTests {
    private typealias Update = Result<LookupResult, any Error>

    private func text(_ update: Update?) throws -> String? {
        try #require(update, "the watch has ended").get().text
    }

    @Test func yieldsThePresentValueAndEachNewOne() async throws {
        try await withTestKeychain { _ in
            try await Shop.provider.watchValue(forKey: Shop.password, type: .string) { updates in
                var iterator = updates.makeAsyncIterator()
                #expect(try await text(iterator.next()) == nil)
                try await Shop.keychain.set("one", for: Shop.account)
                #expect(try await text(iterator.next()) == "one")
                // Neither other items nor the same value again are news.
                try await Shop.keychain.set("other", for: "other")
                try await Shop.keychain.set("one", for: Shop.account, attributes: .init(label: "l"))
                try await Shop.keychain.set("two", for: Shop.account)
                #expect(try await text(iterator.next()) == "two")
                try await Shop.keychain.remove(Shop.account)
                #expect(try await text(iterator.next()) == nil)
            }
        }
    }

    @Test func yieldsErrorsAndGoesOn() async throws {
        try await withTestKeychain { world in
            try await Shop.keychain.set("5432", for: "port")
            try await Shop.provider.watchValue(forKey: "port", type: .int) { updates in
                var iterator = updates.makeAsyncIterator()
                #expect(try await iterator.next()?.get().value?.content == .int(5432))
                try await Shop.keychain.set("none", for: "port")
                let update = try await iterator.next()
                #expect(throws: KeychainError(.undecodableValue, status: 0, message: "")) { try update?.get() }
                try await Shop.keychain.set("5433", for: "port")
                #expect(try await iterator.next()?.get().value?.content == .int(5433))
                try await Shop.keychain.set("5434", for: "port")
                world.client = TestClient(name: "nobody", accessGroups: [])
                let denied = try await iterator.next()
                #expect(throws: KeychainError(.accessDenied, status: 0, message: "")) { try denied?.get() }
            }
        }
    }

    /// A lock takes nothing away; what changed meanwhile comes after it.
    @Test func staysWithTheLastValueWhileLocked() async throws {
        try await withTestKeychain { world in
            try await Shop.keychain.set("one", for: Shop.account)
            let (seen, see) = AsyncStream.makeStream(of: Update.self)
            let watch = Task {
                try await Shop.provider.watchValue(forKey: Shop.password, type: .string) { updates in
                    for await update in updates { see.yield(update) }
                }
            }
            var updates = seen.makeAsyncIterator()
            #expect(try await text(updates.next()) == "one")
            world.lock()
            // A change, which makes the watch read the locked value.
            try await Keychain(service: "com.example.open", accessibility: .always).set("x", for: "x")
            for _ in 0..<1000 { await Task.yield() }
            world.unlock()
            try await Shop.keychain.set("two", for: Shop.account)
            #expect(try await text(updates.next()) == "two")
            watch.cancel()
            try await watch.value
        }
    }

    @Test func beginsLockedAndSeesTheUnlocking() async throws {
        try await withTestKeychain { world in
            try await Shop.keychain.set("one", for: Shop.account)
            world.lock()
            try await Shop.provider.watchValue(forKey: Shop.password, type: .string) { updates in
                var iterator = updates.makeAsyncIterator()
                let locked = try await iterator.next()
                #expect(throws: KeychainError(.interactionNotAllowed, status: 0, message: "")) { try locked?.get() }
                world.unlock()
                #expect(try await text(iterator.next()) == "one")
            }
            world.lock()
            try await Shop.provider.watchSnapshot { updates in
                var iterator = updates.makeAsyncIterator()
                let locked = try #require(try await iterator.next())
                #expect(throws: KeychainError(.interactionNotAllowed, status: 0, message: "")) {
                    try locked.value(forKey: "anything", type: .string)
                }
                world.unlock()
                #expect(try await iterator.next()?.value(forKey: Shop.password, type: .string).text == "one")
            }
        }
    }

    @Test func yieldsSnapshots() async throws {
        try await withTestKeychain { _ in
            try await Shop.keychain.set("one", for: "first")
            try await Shop.provider.watchSnapshot { updates in
                var iterator = updates.makeAsyncIterator()
                let before = try #require(try await iterator.next())
                try await Keychain(service: "com.example.other").set("other", for: "first")
                try await Shop.keychain.set("two", for: "second")
                let after = try #require(try await iterator.next())
                #expect(try before.value(forKey: "second", type: .string).value == nil)
                for (key, value) in [("first", "one"), ("second", "two")] {
                    #expect(try after.value(forKey: .init(ConfigKey(key)), type: .string).text == value)
                }
            }
        }
    }

    /// What a server does: a reader over two providers, which reads in tasks of its own.
    @Test func isWatchedThroughAReader() async throws {
        try await withTestKeychain { _ in
            let environment = EnvironmentVariablesProvider(environmentVariables: ["DATABASE_PASSWORD": "zero"])
            let config = ConfigReader(providers: [Shop.provider, environment])
            try await config.watchString(forKey: "database.password") { updates in
                var next = 0
                let values = ["one", "two"]
                for await update in updates {
                    #expect(update == ["zero", "one", "two"][next])
                    guard next < values.count else { break }
                    try await Shop.keychain.set(values[next], for: Shop.account)
                    next += 1
                }
                #expect(next == values.count)
            }
        }
    }

    /// What the library makes of a watch that begins locked.
    @Test func beginsLockedThroughAReader() async throws {
        try await withTestKeychain { world in
            try await Shop.keychain.set("one", for: Shop.account)
            world.lock()
            let environment = EnvironmentVariablesProvider(environmentVariables: ["DATABASE_PASSWORD": "zero"])
            let config = ConfigReader(providers: [Shop.provider, environment])
            await #expect(throws: KeychainError(.interactionNotAllowed, status: 0, message: "")) {
                try await config.watchRequiredString(forKey: "database.password") { updates in
                    for try await _ in updates { Issue.record("watched a locked value") }
                }
            }
            try await config.watchString(forKey: "database.password") { updates in
                var values: [String?] = []
                for await update in updates {
                    values.append(update)
                    if update != nil { break }
                    world.unlock()
                }
                #expect(values == [nil, "one"])
            }
        }
    }

    @Test func endsWhenItsTaskIsCanceled() async throws {
        try await withTestKeychain { _ async throws in
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await Shop.provider.watchValue(forKey: Shop.password, type: .string) { updates in
                    var count = 0
                    for await _ in updates {
                        count += 1
                        start.yield()
                    }
                    return count
                }
            }
            for await _ in started { break }
            task.cancel()
            #expect(try await task.value == 1)
        }
    }

    /// The handler runs where its caller does, and what it throws comes out.
    @MainActor @Test func runsTheHandlerAtItsCaller() async throws {
        struct Stopped: Error {}
        await #expect(throws: Stopped.self) {
            try await withTestKeychain { _ in
                try await Shop.provider.watchValue(forKey: Shop.password, type: .string) { _ in
                    MainActor.assertIsolated()
                    throw Stopped()
                }
            }
        }
    }
}
