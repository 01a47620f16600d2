import Foundation
import Keybag
import Keychain
import KeychainModel
import ProcessVault
import TestSupport
import Testing
import Vault
import VaultInterface

@Suite(.timeLimit(.minutes(60))) struct ObservationTests {
    let keychain = Keychain(service: "observed")

    @Test func reportsChangesSinceItWasAsked() async throws {
        try await KeychainUnderTest.runAsync { _ in
            var changes = try await keychain.changes.makeAsyncIterator()
            try await keychain.set("v", for: "a")
            #expect(await changes.next()?.origin == .thisProcess)
            try await keychain.remove("a")
            #expect(await changes.next()?.origin == .thisProcess)
        }
    }

    @Test func yieldsThePresentValueAndEachNewOne() async throws {
        try await KeychainUnderTest.runAsync { _ in
            var values = keychain.values(String.self, for: "a").makeAsyncIterator()
            #expect(try await values.next() == .some(nil))
            try await keychain.set("one", for: "a")
            #expect(try await values.next() == "one")
            // Neither other items nor the same value again are news.
            try await keychain.set("other", for: "b")
            try await keychain.set("one", for: "a", attributes: .init(label: "l"))
            try await keychain.set("two", for: "a")
            #expect(try await values.next() == "two")
            try await keychain.remove("a")
            #expect(try await values.next() == .some(nil))
        }
    }

    @Test func endsWithTheErrorThatEndsReading() async throws {
        try await KeychainUnderTest.runAsync { test in
            try await keychain.set("one", for: "a")
            var values = keychain.values(String.self, for: "a").makeAsyncIterator()
            #expect(try await values.next() == "one")
            test.keys.enter(.locked)
            try await Keychain(service: "other", accessibility: .always).set("x", for: "x")
            do {
                _ = try await values.next()
                Issue.record("read a locked value")
            } catch KeychainError.Code.interactionNotAllowed {}
            #expect(try await values.next() == nil)
        }
    }

    @Test func endsWhenItsTaskIsCanceled() async throws {
        try await KeychainUnderTest.runAsync { _ async throws in
            let keychain = keychain
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                var count = 0
                for try await _ in keychain.values(String.self, for: "a") {
                    count += 1
                    start.yield()
                }
                return count
            }
            for await _ in started { break }
            task.cancel()
            #expect(try await task.value == 1)
        }
    }

    /// Two vaults on one folder are what two processes are.
    @Test func seesWhatAnotherProcessStores() async throws {
        let folder = try TemporaryFolder()
        let here = OpenVault(try EmbeddedVault.open(at: folder.path(of: "vault")))
        let there = OpenVault(try EmbeddedVault.open(at: folder.path(of: "vault")))
        try await VaultSession.$override.withValue(here) {
            var values = keychain.values(String.self, for: "a").makeAsyncIterator()
            #expect(try await values.next() == .some(nil))
            try await VaultSession.$override.withValue(there) { try await keychain.set("from there", for: "a") }
            #expect(try await values.next() == "from there")
        }
    }

    private final class OpenVault: VaultSessionProvider {
        let session: VaultSession
        init(_ vault: EmbeddedVault) { session = VaultSession(vault: vault, client: .app) }
    }
}
