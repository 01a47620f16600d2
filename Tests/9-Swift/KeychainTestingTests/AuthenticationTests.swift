import Foundation
import KeychainServices
import KeychainTesting
import LocalAuthenticationServices
import Testing

@Suite struct AuthenticationTests {
    private func withProtectedItem(
        _ flags: SecAccessControlCreateFlags, _ body: (TestKeychain) throws -> Void
    ) throws {
        try withTestKeychain { world in
            let control = try #require(CodeUnderTest.control(flags))
            #expect(CodeUnderTest.add("secret", account: "a", control: control) == errSecSuccess)
            try body(world)
        }
    }

    @Test(arguments: TestAuthentication.allCases)
    func everyOutcomeHasItsStatus(outcome: TestAuthentication) throws {
        try withProtectedItem(.userPresence) { world in
            world.authentication = outcome
            let expected: OSStatus =
                switch outcome {
                case .succeeds, .succeedsOnce: errSecSuccess
                case .userCancel: errSecUserCanceled
                case .notInteractive: errSecInteractionNotAllowed
                default: errSecAuthFailed
                }
            let found = CodeUnderTest.read(account: "a")
            #expect(found.status == expected)
            #expect(found.password == (expected == errSecSuccess ? "secret" : nil))
        }
    }

    @Test func onceIsOnce() throws {
        try withProtectedItem(.userPresence) { world in
            world.authentication = .succeedsOnce
            #expect(CodeUnderTest.read(account: "a").password == "secret")
            #expect(CodeUnderTest.read(account: "a").status == errSecAuthFailed)
            world.authentication = .succeedsOnce
            #expect(CodeUnderTest.read(account: "a").password == "secret")
        }
    }

    @Test func promptsAreRecorded() throws {
        try withProtectedItem(.userPresence) { world in
            #expect(world.prompts.isEmpty)
            _ = CodeUnderTest.read(account: "a")
            _ = CodeUnderTest.read(account: "a", prompt: "Show the password")
            #expect(world.prompts == [nil, "Show the password"])
        }
    }

    @Test func plainItemsPromptNobody() throws {
        try withTestKeychain { world in
            world.authentication = .userCancel
            #expect(CodeUnderTest.add("1", account: "a") == errSecSuccess)
            #expect(CodeUnderTest.read(account: "a").password == "1")
            #expect(world.prompts.isEmpty)
        }
    }

    @Test(arguments: TestBiometry.allCases)
    func biometryAloneNeedsAFinger(biometry: TestBiometry) throws {
        try withProtectedItem(.biometryAny) { world in
            world.biometry = biometry
            #expect(
                CodeUnderTest.read(account: "a").status == (biometry == .enrolled ? errSecSuccess : errSecAuthFailed))
        }
        try withProtectedItem([.biometryAny, .or, .devicePasscode]) { world in
            world.biometry = biometry
            #expect(CodeUnderTest.read(account: "a").password == "secret")
            try world.setPasscode(present: false)
            #expect(
                CodeUnderTest.read(account: "a").status == (biometry == .enrolled ? errSecSuccess : errSecAuthFailed))
        }
    }

    /// A finger says nothing about the passcode.
    @Test func aPersonShowsNoMoreThanIsAskedFor() async throws {
        let world = try TestKeychain()
        world.authentication = .succeedsOnce
        try await world.run {
            let control = try #require(CodeUnderTest.control(.devicePasscode))
            #expect(CodeUnderTest.add("secret", account: "a", control: control) == errSecSuccess)
            let context = LAContext()
            let isThere = try await context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics, localizedReason: "why")
            #expect(isThere)
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecUseAuthenticationContext: context,
            ]
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecAuthFailed)
            #expect(world.prompts.count == 2)
        }
    }
}
