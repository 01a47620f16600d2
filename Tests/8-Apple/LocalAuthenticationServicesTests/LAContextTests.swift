import Access
import KeychainModel
import KeychainTesting
import LocalAuthentication
import ProcessVault
import Synchronization
import TestSupport
import Testing
import VaultInterface

@Suite struct LAContextTests {
    @Test func succeedsWithAPerson() async throws {
        let world = try TestKeychain()
        try await world.run {
            let context = LAContext()
            #expect(context.biometryType == .none)
            #expect(context.evaluatedPolicyDomainState == nil)
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            #expect(context.biometryType == .touchID)
            let first = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why")
            let second = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "again")
            #expect(first && second)
            #expect(world.prompts == ["why"])
        }
    }

    @Test(arguments: [
        (TestAuthentication.userCancel, LAError.Code.userCancel), (.authenticationFailed, .authenticationFailed),
        (.userFallback, .userFallback), (.systemCancel, .systemCancel), (.notInteractive, .notInteractive),
        (.biometryLockout, .biometryLockout), (.invalidContext, .invalidContext),
    ])
    func failsAsThePersonDoes(outcome: TestAuthentication, code: LAError.Code) async throws {
        let world = try TestKeychain()
        world.authentication = outcome
        await world.run {
            let error = await #expect(throws: LAError.self) {
                try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why")
            }
            #expect(error?.code == code)
            #expect(error?.localizedDescription.isEmpty == false)
        }
    }

    @Test func errorsAreCaughtInEveryWay() throws {
        let thrown: any Error = LAError(.userCancel)
        let object: any Error = NSError(domain: LAErrorDomain, code: -2)
        for error in [thrown, object] {
            do {
                throw error
            } catch LAError.userFallback {
                Issue.record("another code")
            } catch LAError.userCancel {
            } catch {
                Issue.record(error)
            }
        }
        #expect((thrown as? LAError)?.code == .userCancel)
        #expect((thrown as NSError).domain == "com.apple.LocalAuthentication")
        #expect((thrown as NSError).code == -2)
        #expect(LAError(_nsError: thrown as NSError).code == .userCancel)
        #expect(LAError(.userCancel) == LAError(.userCancel))
        for error in [thrown, object] {
            #expect((error as? LAError)?.code == .userCancel)
            #expect(error is LAError)
            do { throw error } catch let error as LAError { #expect(error.code == .userCancel) }
            switch error {
            case let error as LAError where error.code == .userCancel: break
            default: Issue.record(error)
            }
            if case LAError.userCancel = error {} else { Issue.record(error) }
            switch (error as? LAError)?.code {
            case .userCancel?: break
            default: Issue.record(error)
            }
        }
        let stranger: any Error = NSError(domain: NSCocoaErrorDomain, code: -2)
        #expect(stranger as? LAError == nil)
        if case LAError.userCancel = stranger { Issue.record("another domain") }
    }

    @Test func saysWhyNot() throws {
        let world = try TestKeychain(isPasscodeSet: false)
        world.run {
            var error: NSError?
            #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
            #expect(error?.domain == LAErrorDomain)
            #expect((error as? LAError)?.code == .passcodeNotSet)
            #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithCompanion, error: &error))
            #expect(error?.code == LAError.Code.watchNotAvailable.rawValue)
        }
    }

    @Test func itemsOpenToAnEvaluatedContext() async throws {
        let world = try TestKeychain()
        world.authentication = .succeedsOnce
        try await world.run {
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
                kSecValueData as String: Data("secret".utf8), kSecAttrAccessControl as String: control,
            ]
            #expect(SecItemAdd(item as NSDictionary, nil) == errSecSuccess)
            let context = LAContext()
            #expect(
                try await context.evaluateAccessControl(control, operation: .createItem, localizedReason: "add"))
            #expect(world.prompts.isEmpty)
            #expect(try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "use"))
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
                kSecUseAuthenticationContext as String: context,
            ]
            #expect(SecItemCopyMatching(query as NSDictionary, nil) == errSecSuccess)
            #expect(world.prompts == ["use"])
            context.invalidate()
            #expect(SecItemCopyMatching(query as NSDictionary, nil) == errSecAuthFailed)
            #expect(SecItemDelete(query as NSDictionary) == errSecAuthFailed)
        }
    }

    @Test func whatTheProgramCallsThePartsOfAPromptReachesIt() async throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person)
        try await VaultSession.$override.withValue(vault) {
            let context = LAContext()
            context.localizedCancelTitle = "Not now"
            context.localizedFallbackTitle = "The PIN"
            _ = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why")
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "s", kSecAttrAccount: "a",
                kSecAttrAccessControl: control, kSecValueData: Data([1]),
            ]
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
            query[kSecAttrAccessControl] = nil
            query[kSecValueData] = nil
            query[kSecReturnData] = true
            let other = LAContext()
            other.localizedCancelTitle = "Later"
            query[kSecUseAuthenticationContext] = other
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            #expect(
                person.requests.map(\.titles) == [
                    PromptTitles(cancel: "Not now", passcode: "The PIN"), PromptTitles(cancel: "Later"),
                ])
        }
    }

    /// A context that is let go leaves nothing behind that another could use.
    @Test func aContextEndsWithItsLastReference() throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person)
        let identifier: UUID = try VaultSession.$override.withValue(vault) {
            let context = LAContext()
            let session = try VaultSession.current()
            #expect(context._keychainState.use(in: session))
            _ = try session.vault.authenticate(
                .userPresence, context: context._keychainState.identifier, options: .init(), as: session.client)
            return context._keychainState.identifier
        }
        #expect(throws: VaultError.presence(.invalidContext)) {
            try vault.session.vault.authenticate(
                .userPresence, context: identifier, options: .init(), as: vault.session.client)
        }
    }

    @Test func invalidatingCancelsWhatIsInProgress() async throws {
        let person = PersonUnderTest()
        person.willNotAnswer()
        let vault = try memoryVault(person)
        await VaultSession.$override.withValue(vault) {
            let context = LAContext()
            let replies = Collected<LAError.Code?>()
            await withCheckedContinuation { continuation in
                context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why") { isSuccess, error in
                    #expect(!isSuccess)
                    // The end came before the reply.
                    #expect(!context.setCredential(Data("pw".utf8), type: .applicationPassword))
                    replies.append((error as? LAError)?.code)
                    continuation.resume()
                }
                Thread.detachNewThread {
                    person.asked.wait()
                    context.invalidate()
                }
            }
            #expect(replies.all == [.appCancel])
            let late = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "why")
            }
            #expect(late?.code == .invalidContext)
            #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            #expect(!context.setCredential(Data("pw".utf8), type: .applicationPassword))
        }
    }

    /// Whatever happens at the same time, each evaluation is answered once.
    @Test func everyEvaluationIsAnsweredOnce() async throws {
        let world = try TestKeychain()
        await world.run {
            for _ in 0..<50 {
                let context = LAContext()
                let answers = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            if number == 5 { context.invalidate() }
                            context.localizedReason = "reason \(number)"
                            do {
                                return try await context.evaluatePolicy(
                                    .deviceOwnerAuthentication, localizedReason: context.localizedReason)
                            } catch {
                                #expect([.appCancel, .invalidContext].contains((error as? LAError)?.code))
                                return false
                            }
                        }
                    }
                    var answers = 0
                    for await _ in group { answers += 1 }
                    return answers
                }
                #expect(answers == 8)
            }
        }
    }

    @Test func theDomainStateFollowsTheEnrolment() throws {
        let world = try TestKeychain()
        world.run {
            let context = LAContext()
            let first = context.domainState
            #expect(first.biometry.biometryType == .touchID)
            #expect(first.stateHash == first.biometry.stateHash)
            #expect(first.companion.stateHash == nil)
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            #expect(context.evaluatedPolicyDomainState == first.stateHash)
            world.changeBiometry()
            #expect(context.domainState.stateHash != first.stateHash)
            world.biometry = .notEnrolled
            #expect(context.domainState.stateHash == nil)
        }
    }

    /// Programs stand in for a person by a subclass.
    @Test func canBeSubclassed() async throws {
        final class Yes: LAContext, @unchecked Sendable {
            override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }
            override func evaluatePolicy(
                _ policy: LAPolicy, localizedReason: String,
                reply: @escaping @Sendable (Bool, (any Error)?) -> Void
            ) {
                reply(true, nil)
            }
        }
        let context: LAContext = Yes()
        #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: ""))
    }

    private func memoryVault(_ person: PersonUnderTest) throws -> FixedSession {
        FixedSession(session: VaultSession(vault: try TestSupport.memoryVault(person: person), client: .app))
    }
}

private struct FixedSession: VaultSessionProvider {
    let session: VaultSession
}
