import Access
import Dispatch
import Foundation
import KeychainModel
import ProcessVault
import Synchronization
import Testing
import Vault
import VaultInterface

@testable import Keychain

@Suite(.timeLimit(.minutes(60))) struct BlockingThreadsTests {
    /// More operations wait for a person than there are threads for tasks, and tasks go on.
    @Test func aPersonWhoTakesTheirTimeHoldsUpNoTask() async throws {
        let person = SlowPerson()
        let vault = try EmbeddedVault.inMemory(
            keys: KeychainUnderTest().keys, surroundings: VaultSurroundings(authenticator: person))
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
            try await threads.run {
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

    /// What is called off leaves the queue while all threads go on with something else, and lets go of what it holds.
    @Test func whatIsCanceledLeavesTheQueue() async throws {
        final class Held: Sendable {}
        let threads = BlockingThreads(limit: 1, idleTime: .milliseconds(1))
        let release = try await occupy(threads)
        weak var held: Held?
        var waiting: [Task<Void, any Error>] = []
        do {
            let value = Held()
            held = value
            for _ in 0..<50 {
                waiting.append(Task { try await threads.run { _ = value } })
            }
        }
        while threads.waitingCount < 50 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(held != nil)
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: KeychainError.taskCanceled) { try await task.value } }
        waiting = []
        #expect(threads.waitingCount == 0)
        while held != nil { try await Task.sleep(for: .milliseconds(1)) }
        // The others come in their turn.
        async let next = threads.run { 2 }
        release()
        #expect(try await next == 2)
        #expect(try await threads.run { 3 } == 3)
    }

    @Test func noMoreWaitThanTheLimit() async throws {
        let threads = BlockingThreads(limit: 1, idleTime: .seconds(60))
        @Sendable func run(_ limit: Int) async throws {
            try await threads.run(
                orThrow: KeychainError.taskCanceled,
                waitingLimit: .init(limit, orThrow: KeychainError(.busy, status: 0, message: ""))
            ) {}
        }
        // Who finds a thread does not wait.
        try await run(0)
        let release = try await occupy(threads)
        await #expect(throws: KeychainError(.busy, status: 0, message: "")) { try await run(0) }
        let waiting = [Task { try await run(2) }, Task { try await run(2) }]
        while threads.waitingCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
        await #expect(throws: KeychainError(.busy, status: 0, message: "")) { try await run(2) }
        // Where one leaves, another finds a place.
        waiting[0].cancel()
        await #expect(throws: KeychainError.taskCanceled) { try await waiting[0].value }
        let other = Task { try await run(2) }
        while threads.waitingCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
        release()
        try await waiting[1].value
        try await other.value
    }

    /// Everybody gets an answer, whoever leaves when.
    @Test func leavingAtAnyMoment() async throws {
        let threads = BlockingThreads(limit: 2, idleTime: .milliseconds(1))
        for _ in 0..<200 {
            let tasks = (0..<20).map { number in Task { try await threads.run { number } } }
            for number in stride(from: 0, to: 20, by: 3) { tasks[number].cancel() }
            for (number, task) in tasks.enumerated() {
                switch await task.result {
                case .success(let value): #expect(value == number)
                case .failure(let error): #expect(number % 3 == 0 && error as? KeychainError == .taskCanceled)
                }
            }
        }
        #expect(threads.waitingCount == 0)
    }

    /// Keeps the only thread until the closure is called.
    private func occupy(_ threads: BlockingThreads) async throws -> () -> Void {
        let release = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        Task {
            try await threads.run {
                begin.yield()
                release.wait()
            }
        }
        for await _ in begun { break }
        return { release.signal() }
    }

    @Test func runsNoMoreThanItsLimitAndEverything() async throws {
        let threads = BlockingThreads(limit: 3, idleTime: .milliseconds(1))
        let running = Peak()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await threads.run {
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
