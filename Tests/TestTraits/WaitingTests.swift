import Testing

/// Tests that mostly wait, for other processes or for time to pass.
///
/// They run on threads of their own, a few at a time, so that the threads of Swift's pool stay with tests that compute.
package struct WaitingTests: TestTrait, SuiteTrait, TestScoping {
    private static let threads = OwnThreads()
    private static let turnstile = Turnstile(4)

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        await Self.turnstile.enter()
        defer { Self.turnstile.leave() }
        try await withTaskExecutorPreference(Self.threads) { try await function() }
    }
}

extension Trait where Self == WaitingTests {
    /// Runs tests that wait for other processes on threads of their own, a few at a time.
    package static var waiting: Self { Self() }
}
