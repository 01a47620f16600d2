import Access
import KeychainModel
import KeychainTesting
import LocalAuthentication
import ProcessVault
import TestSupport
import Testing
import VaultInterface

/// Rights of the running program.
@Suite struct RightTests {
    @Test func aPersonGrantsARightOnce() async throws {
        let world = try TestKeychain()
        try await world.run {
            let right = LARight()
            #expect(right.state == .unknown)
            #expect(right.tag == 0)
            right.tag = 7
            try await right.checkCanAuthorize()
            #expect(right.state == .unknown)
            try await right.authorize(localizedReason: "to pay")
            #expect(right.state == .authorized)
            try await right.authorize(localizedReason: "to pay again")
            #expect(world.prompts == ["to pay"])
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
            try await right.authorize(localizedReason: "to pay once more")
            #expect(right.state == .authorized)
            #expect(world.prompts == ["to pay", "to pay once more"])
            #expect(right.tag == 7)
        }
    }

    @Test(arguments: [
        (TestAuthentication.userCancel, LAError.Code.userCancel), (.authenticationFailed, .authenticationFailed),
        (.systemCancel, .systemCancel), (.notInteractive, .notInteractive), (.biometryLockout, .biometryLockout),
    ])
    func aRightIsRefusedAsThePersonRefuses(outcome: TestAuthentication, code: LAError.Code) async throws {
        let world = try TestKeychain()
        world.authentication = outcome
        await world.run {
            let right = LARight(requirement: .biometry(fallback: .devicePasscode))
            #expect(await failure { try await right.authorize(localizedReason: "why") } == code)
            #expect(right.state == .notAuthorized)
        }
    }

    @Test func aRightIsBeingAuthorizedWhileAPersonIsAskedAndCanBeGivenBackThen() async throws {
        let person = PersonUnderTest()
        person.willNotAnswer()
        let vault = try memoryVault(person: person)
        let session = VaultSession(vault: vault, client: .app)
        await VaultSession.$override.withValue(OneSession(session: session)) {
            let right = LARight()
            let states = Collected<LARight.State>()
            Thread.detachNewThread {
                person.asked.wait()
                states.append(right.state)
                right.deauthorize {}
            }
            #expect(await failure { try await right.authorize(localizedReason: "why") } == .appCancel)
            #expect(right.state == .notAuthorized)
            #expect(states.all.first == .authorizing)
        }
    }

    @Test func whatIsMissingIsFoundOutWithoutAskingAnybody() async throws {
        let world = try TestKeychain(isPasscodeSet: false)
        try await world.run {
            #expect(await failure { try await LARight().checkCanAuthorize() } == .passcodeNotSet)
            #expect(await failure { try await LARight().authorize(localizedReason: "why") } == .passcodeNotSet)
            try world.setPasscode(present: true)
            world.biometry = .notEnrolled
            let biometry = LARight(requirement: .biometry)
            #expect(await failure { try await biometry.checkCanAuthorize() } == .biometryNotEnrolled)
            #expect(await failure { try await biometry.authorize(localizedReason: "why") } == .biometryNotEnrolled)
            world.biometry = .unavailable
            #expect(await failure { try await biometry.checkCanAuthorize() } == .biometryNotAvailable)
            for fallback in [LABiometryFallbackRequirement.default, .devicePasscode] {
                try await LARight(requirement: .biometry(fallback: fallback)).checkCanAuthorize()
            }
            #expect(world.prompts.isEmpty)
            try await LARight(requirement: .biometry(fallback: .devicePasscode)).authorize(localizedReason: "PIN")
            #expect(world.prompts == ["PIN"])
        }
    }

    @Test func aBlankReasonIsRefused() async throws {
        let world = try TestKeychain()
        await world.run {
            let right = LARight()
            for reason in ["", " \n"] {
                #expect(await failure { try await right.authorize(localizedReason: reason) } == .notInteractive)
            }
            #expect(right.state == .unknown)
            #expect(world.prompts.isEmpty)
        }
    }

    @Test func aRightForThePresentFingersEndsWithAnotherFinger() async throws {
        let world = try TestKeychain()
        try await world.run {
            let bound = LARight(requirement: .biometryCurrentSet)
            let free = LARight(requirement: .biometry)
            for right in [bound, free] { try await right.authorize(localizedReason: "why") }
            world.changeBiometry()
            let asked = world.prompts.count
            #expect(await failure { try await bound.checkCanAuthorize() } == .authenticationFailed)
            #expect(await failure { try await bound.authorize(localizedReason: "why") } == .authenticationFailed)
            #expect(bound.state == .notAuthorized)
            #expect(world.prompts.count == asked)
            try await free.authorize(localizedReason: "why")
            try await LARight(requirement: .biometryCurrentSet).authorize(localizedReason: "the new finger")
        }
    }

    @Test func requirementsAreEqualIfTheyDemandTheSame() {
        #expect(LAAuthenticationRequirement.biometry(fallback: .default) == .default)
        #expect(LAAuthenticationRequirement.biometry(fallback: .devicePasscode) != .default)
        #expect(LAAuthenticationRequirement.biometry != .biometryCurrentSet)
    }

    /// Whatever happens at the same time, each authorization is answered once and the state is one of the ends.
    @Test func rightsAreUsedByManyTasks() async throws {
        let world = try TestKeychain()
        await world.run {
            for _ in 0..<20 {
                let right = LARight()
                let answers = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            if number == 4 { await right.deauthorize() }
                            do {
                                try await right.authorize(localizedReason: "why")
                                return true
                            } catch {
                                #expect([.appCancel, .invalidContext].contains((error as? LAError)?.code))
                                return true
                            }
                        }
                    }
                    return await group.reduce(into: 0) { count, _ in count += 1 }
                }
                #expect(answers == 8)
                #expect([.authorized, .notAuthorized].contains(right.state))
            }
        }
    }
}

/// The code of the error that `body` throws; nil if it throws none, or another.
func failure<Value>(_ body: () async throws -> Value) async -> LAError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? LAError)?.code
    }
}

/// A vault and a client that stay the same.
struct OneSession: VaultSessionProvider {
    let session: VaultSession
}
