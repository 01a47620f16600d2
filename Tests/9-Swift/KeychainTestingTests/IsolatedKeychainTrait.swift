import KeychainServices
import KeychainTesting
import Testing

/// The trait that Documentation/Specify/Conformance.md shows; it is code of the test target, so
/// that the product needs no Swift Testing.
struct IsolatedKeychainTrait: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await TestKeychain().run { try await function() }
    }
}

extension Trait where Self == IsolatedKeychainTrait {
    static var isolatedKeychain: Self { Self() }
}

@Suite(.isolatedKeychain) struct IsolatedKeychainTraitTests {
    @Test(arguments: 1...20)
    func everyTestHasAKeychainOfItsOwn(number: Int) async {
        #expect(CodeUnderTest.add("\(number)", account: "same") == errSecSuccess)
        await Task.yield()
        #expect(CodeUnderTest.read(account: "same").password == "\(number)")
    }
}
