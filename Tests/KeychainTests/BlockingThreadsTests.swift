import Access
import Dispatch
import Foundation
import KeychainModel
import Synchronization
import Testing
import Vault

@testable import Keychain

@Suite(.timeLimit(.minutes(5))) struct BlockingThreadsTests {
    /// More operations wait for a person than there are threads for tasks, and tasks go on.
    @Test func aPersonWhoTakesTheirTimeHoldsUpNoTask() async throws {
        let person = SlowPerson()
        let vault = try EmbeddedVault.inMemory(keys: KeychainUnderTest().keys, authenticator: person)
        try await VaultSession.$override.withValue(Provider(vault)) {
            let keychain = Keychain(service: "bank", accessControl: .userPresence)
            try await keychain.set("secret", for: "ada")
            let readings = ProcessInfo.processInfo.activeProcessorCount + 2
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<readings {
                    group.addTask { try await keychain.get(String.self, for: "ada") }
                }
                for await _ in person.asked { break }
                await Task.detached {}.value
                for _ in 0..<readings { person.answer.signal() }
                for try await value in group { #expect(value == "secret") }
            }
        }
    }

    @Test func whatIsCanceledWhileItWaitsIsNotBegun() async throws {
        let threads = BlockingThreads(limit: 1, idleTime: .seconds(60))
        let release = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await threads.run {
                begin.yield()
                release.wait()
                return 1
            }
        }
        for await _ in begun { break }
        let second = Task {
            try await threads.run { () throws(KeychainError) in
                Issue.record("a canceled operation was begun")
            }
        }
        second.cancel()
        await #expect(throws: KeychainError.taskCanceled) { try await second.value }
        // What has begun is finished, canceled or not.
        first.cancel()
        release.signal()
        #expect(try await first.value == 1)
    }

    @Test func runsNoMoreThanItsLimitAndEverything() async throws {
        let threads = BlockingThreads(limit: 3, idleTime: .milliseconds(1))
        let running = Peak()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await threads.run { () throws(KeychainError) in
                        running.enter()
                        defer { running.leave() }
                        return number
                    }
                }
            }
            var sum = 0
            for try await number in group { sum += number }
            #expect(sum == 199 * 200 / 2)
        }
        #expect((1...3).contains(running.peak))
    }

    private final class SlowPerson: Authenticator {
        let answer = DispatchSemaphore(value: 0)
        let asked: AsyncStream<Void>
        private let ask: AsyncStream<Void>.Continuation

        init() { (asked, ask) = AsyncStream.makeStream(of: Void.self) }

        func evaluate(_ request: AuthenticationRequest, verifier: any PasscodeVerifier) -> AuthenticationOutcome {
            ask.yield()
            answer.wait()
            return .succeeded([.passcode, .biometry])
        }

        func availability(verifier: any PasscodeVerifier) -> PresenceAvailability { .everything }
    }

    private final class Provider: VaultSessionProvider {
        let session: VaultSession
        init(_ vault: EmbeddedVault) {
            session = VaultSession(vault: vault, client: .init(identifier: "app", accessGroups: ["app"]))
        }
    }

    private final class Peak: Sendable {
        private let state = Mutex((now: 0, peak: 0))
        var peak: Int { state.withLock { $0.peak } }
        func enter() { state.withLock { $0 = ($0.now + 1, max($0.peak, $0.now + 1)) } }
        func leave() { state.withLock { $0.now -= 1 } }
    }
}
