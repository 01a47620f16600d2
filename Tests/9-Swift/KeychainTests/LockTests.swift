import Foundation
import Keychain
import Testing

/// The passcode and the lock through the idiomatic API.
@Suite struct LockTests {
    private let cheap = KeychainPasscode.Options(cost: Argon2Cost(memoryKiB: 1_024, passes: 1))

    @Test func aPasscodeLocksAndUnlocks() async throws {
        try await KeychainUnderTest.runAsync { _ in
            let keychain = Keychain(service: "mail")
            try await keychain.set("hunter2", for: "alice")
            #expect(try KeychainLock.status().isPasscodeSet == false)
            #expect(failure { try KeychainLock.lock() }?.code == .passcodeRequired)
            try await KeychainLock.setPasscode(KeychainPasscode("swordfish"), options: cheap)
            #expect(failure { try KeychainLock.setPasscode(KeychainPasscode("x"), options: cheap) } != nil)
            try KeychainLock.lock()
            #expect(try KeychainLock.status().state == .locked)
            #expect(failure { _ = try keychain.get(String.self, for: "alice") }?.code == .interactionNotAllowed)
            #expect(
                failure { try KeychainLock.unlock(with: KeychainPasscode("herring")) }?.code == .authenticationFailed)
            #expect(try KeychainLock.status().failedAttempts == 1)
            try await KeychainLock.unlock(with: KeychainPasscode("swordfish"))
            #expect(try await keychain.get(String.self, for: "alice") == "hunter2")
            try await KeychainLock.changePasscode(
                from: KeychainPasscode("swordfish"), to: KeychainPasscode("halibut"), options: cheap)
            try await KeychainLock.removePasscode(KeychainPasscode("halibut"))
            #expect(try KeychainLock.status().state == .unlocked)
        }
    }

    @Test func optionsThatMakeNoSenseAreRefused() async throws {
        try await KeychainUnderTest.runAsync { _ in
            for options in [
                KeychainPasscode.Options(cost: .init(memoryKiB: 8, passes: 1)),
                .init(cost: .init(memoryKiB: 1_024, passes: 0)), .init(cost: .init(memoryKiB: 0, passes: 1)),
                .init(cost: .init(memoryKiB: 1_024, passes: 1), eraseAfter: 0),
            ] {
                #expect(
                    failure { try KeychainLock.setPasscode(KeychainPasscode("x"), options: options) }?.code
                        == .invalidRequest)
            }
        }
    }
}
