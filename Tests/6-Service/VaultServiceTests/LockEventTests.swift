import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// Who observes a vault hears of its lock.
@Suite(.timeLimit(.minutes(10))) struct LockEventTests {
    private static let owner =
        #"{"executable": "\#(DaemonUnderTest.ownExecutable)", "groups": ["TEAM.app", "*"], "rights": ["unlock", "administer"]}"#

    /// The same of a vault in this process and of a daemon's.
    private func expectEvents(of vault: any Vault, as client: Client) async throws {
        let passcode = try SecretBytes("right")
        var events = vault.lockEvents().makeAsyncIterator()
        #expect(await events.next() == .unlocked)
        try vault.setPasscode(passcode, options: .cheapest, as: client)
        try vault.lock(after: .zero, as: client)
        #expect(await events.next() == .willLock)
        #expect(await events.next() == .locked)
        // Who comes later hears how it is.
        var others = vault.lockEvents().makeAsyncIterator()
        #expect(await others.next() == .locked)
        // Locked again it is as it was; so is what is unlocked twice.
        try vault.lock(after: .zero, as: client)
        for _ in 0..<2 { try vault.unlock(with: passcode, as: client) }
        #expect(await events.next() == .unlocked)
        #expect(await others.next() == .unlocked)
        // Called off.
        try vault.lock(after: .seconds(3600), as: client)
        #expect(await events.next() == .willLock)
        var late = vault.lockEvents().makeAsyncIterator()
        #expect(await late.next() == .unlocked)
        #expect(await late.next() == .willLock)
        try vault.unlock(with: passcode, as: client)
        #expect(await events.next() == .unlocked)
        try vault.lock(after: .milliseconds(1), as: client)
        #expect(await events.next() == .willLock)
        #expect(await events.next() == .locked)
        #expect(throws: VaultError.self) { try KeptFileKey.make(.complete, in: vault, as: client) }
        try vault.unlock(with: passcode, as: client)
        #expect(await events.next() == .unlocked)
        // Whoever holds keys has to give them up, though the vault, now without a passcode, is unlocked again.
        try vault.erase(as: client)
        #expect(await events.next() == .willLock)
        #expect(await events.next() == .locked)
        #expect(await events.next() == .unlocked)
    }

    @Test func toldBeforeLockingReturns() throws {
        let vault = try memoryVault()
        let told = Collected<Int>()
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        var observation: LockObservation? = vault.observeLocking { told.append(1) }
        try vault.lock(after: .zero, as: .owner)
        #expect(told.all == [1])
        try vault.unlock(with: SecretBytes("right"), as: .owner)
        try vault.erase(as: .owner)
        #expect(told.all == [1, 1])
        #expect(observation != nil)
        observation = nil
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        try vault.lock(after: .zero, as: .owner)
        #expect(told.all == [1, 1])
    }

    @Test func inThisProcess() async throws {
        try await expectEvents(of: memoryVault(), as: .owner)
        let folder = try TemporaryFolder()
        try await expectEvents(of: EmbeddedVault.open(at: folder.path(of: "vault")), as: .owner)
    }

    @Test func ofADaemon() async throws {
        let daemon = try DaemonUnderTest(rules: [Self.owner])
        let vault = try daemon.connect()
        try await expectEvents(of: vault, as: vault.granted)
    }

    @Test func anotherProgramsPasscodeLocks() async throws {
        let folder = try TemporaryFolder()
        let vault = try EmbeddedVault.open(at: folder.path(of: "vault"))
        let other = try EmbeddedVault.open(at: folder.path(of: "vault"))
        var events = vault.lockEvents().makeAsyncIterator()
        #expect(await events.next() == .unlocked)
        try other.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        // Found out by the next use.
        #expect(try vault.status(as: .owner).lockState != .unlocked)
        #expect(await events.next() == .locked)
        try other.erase(as: .owner)
        #expect(try vault.status(as: .owner).lockState == .unlocked)
        #expect(await events.next() == .unlocked)
    }

    /// With a daemon go its keys, and the next one is locked.
    @Test func aDaemonThatIsGone() async throws {
        let daemon = try DaemonUnderTest(rules: [Self.owner])
        let vault = try daemon.connect()
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: vault.granted)
        var events = vault.lockEvents().makeAsyncIterator()
        #expect(await events.next() == .unlocked)
        daemon.kill()
        try daemon.start()
        #expect(await events.next() == .locked)
        try vault.unlock(with: SecretBytes("right"), as: vault.granted)
        #expect(await events.next() == .unlocked)
        daemon.kill()
        #expect(await events.next() == .locked)
    }
}
