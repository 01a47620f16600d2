import Access
import Audit
import Bytes
import Enclave
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

extension SecretBytes {
    fileprivate static func test(_ text: String) throws -> SecretBytes { try SecretBytes(text) }
}

/// The same on a whole vault, which somebody else opened who does not know the passcode.
@Suite struct ForgedVaultTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        let vault = try open()
        try vault.setPasscode(try .test("right"), options: .cheapest, as: .owner)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        try vault.lock(after: .zero, as: .owner)
        vault.close()
    }

    private func open() throws -> EmbeddedVault {
        try EmbeddedVault.open(at: path, surroundings: VaultSurroundings(audit: AuditLog()))
    }

    private func unlocked() throws -> EmbeddedVault {
        let vault = try open()
        try vault.unlock(with: try .test("right"), as: .owner)
        return vault
    }

    private let logs = ["audit.log", "audit.head", "audit-looks.log", "audit-looks.head", "audit.anchor"]

    @Test func anUnlockedVaultVerifiesItsLog() throws {
        for _ in 0..<3 {
            let vault = try unlocked()
            #expect(try vault.verifyAudit(as: .owner).problems == [])
            #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == [])
            vault.close()
        }
    }

    @Test func aLockedVaultSaysWhatItCouldNotCheck() throws {
        let vault = try open()
        let report = try vault.verifyAudit(as: .owner)
        #expect(report.problems == [] && report.recordsOfEarlierKeys > 2)
        try vault.unlock(with: try .test("right"), as: .owner)
        #expect(try vault.verifyAudit(as: .owner).recordsOfEarlierKeys == 0)
        // The key stays at hand.
        try vault.lock(after: .zero, as: .owner)
        let afterLock = try vault.verifyAudit(as: .owner)
        #expect(afterLock.recordsOfEarlierKeys == 0 && afterLock.problems == [])
    }

    /// The forger lets a vault of the same keys write another log from its beginning.
    @Test func aLogWithoutItsAnchorIsRefused() throws {
        for name in logs { unlink("\(path)/\(name)") }
        let forged = try open()
        for _ in 0..<3 { #expect(throws: VaultError.self) { try forged.add(.password("s", "a", "v"), as: .app) } }
        #expect(try !forged.verifyAudit(as: .owner).problems.isEmpty)
        forged.close()
        let vault = try unlocked()
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == .auditLog)
        #expect(try !vault.verifyAudit(as: .owner).problems.isEmpty)
        let told = try vault.auditRecords(AuditQuery(), as: .owner).filter { $0.event == AuditRecord.repaired }
        #expect(told.map(\.failure) == ["anchor", "anchor"])
    }

    @Test func aLogThatIsGoneIsMissed() throws {
        for name in logs { unlink("\(path)/\(name)") }
        let vault = try EmbeddedVault.open(at: path)
        try vault.unlock(with: try .test("right"), as: .owner)
        #expect(try vault.verifyAudit(as: .owner).problems.count == 1)
    }

    /// A vault of an earlier version has a log, a passcode and no anchor.
    @Test func theFirstUnlockingAnchorsALog() throws {
        let old = folder.path(of: "old")
        let made = try EmbeddedVault.open(at: old)
        try made.setPasscode(try .test("right"), options: .cheapest, as: .owner)
        made.close()
        func reopened() throws -> EmbeddedVault {
            try EmbeddedVault.open(at: old, surroundings: VaultSurroundings(audit: AuditLog()))
        }
        let locked = try reopened()
        #expect(throws: VaultError.self) { try locked.copy(.password("s"), includingValues: true, as: .app) }
        #expect(try locked.verifyAudit(as: .owner).problems == [])
        #expect(access(old + "/audit.anchor", F_OK) != 0)
        try locked.unlock(with: try .test("right"), as: .owner)
        #expect(access(old + "/audit.anchor", F_OK) == 0)
        #expect(try locked.verifyAudit(as: .owner).problems == [])
        locked.close()
        // The keybag tells of it from then on, and opens with the same passcode.
        unlink(old + "/audit.anchor")
        let again = try reopened()
        try again.unlock(with: try .test("right"), as: .owner)
        #expect(try again.perform(ReadUnlockFindings(), as: .owner) == .auditLog)
        try again.changePasscode(from: try .test("right"), to: try .test("next"), options: .cheapest, as: .owner)
        #expect(try again.perform(ReadUnlockFindings(), as: .owner) == [])
        again.close()
        unlink(old + "/audit.anchor")
        let last = try reopened()
        try last.unlock(with: try .test("next"), as: .owner)
        #expect(try last.perform(ReadUnlockFindings(), as: .owner) == .auditLog)
    }

    /// Nothing that a vault does to itself looks like a forgery.
    @Test func passcodesComeAndGo() throws {
        let vault = try unlocked()
        try vault.removePasscode(try .test("right"), as: .owner)
        _ = try vault.put(.password("s", "a", "other"), as: .app)
        #expect(try vault.verifyAudit(as: .owner).problems == [])
        try vault.setPasscode(try .test("second"), options: .cheapest, as: .owner)
        #expect(try vault.verifyAudit(as: .owner).problems == [])
        try vault.erase(as: .owner)
        #expect(access(path + "/audit.anchor", F_OK) != 0)
        #expect(try vault.verifyAudit(as: .owner).problems == [])
        try vault.setPasscode(try .test("third"), options: .cheapest, as: .owner)
        try vault.lock(after: .zero, as: .owner)
        try vault.unlock(with: try .test("third"), as: .owner)
        #expect(try vault.verifyAudit(as: .owner).problems == [])
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == [])
    }

    /// The recovered vault has no anchor, because its key went with the device.
    @Test func aRecoveredVaultGoesOn() throws {
        let vault = try unlocked()
        let key = try vault.makeRecoveryKey(as: .owner)
        vault.close()
        let (recovered, _) = try EmbeddedVault.recover(at: path, with: key, in: .software, as: .owner)
        #expect(try recovered.verifyAudit(as: .owner).problems == [])
        try recovered.setPasscode(try .test("next"), options: .cheapest, as: .owner)
        try recovered.lock(after: .zero, as: .owner)
        try recovered.unlock(with: try .test("next"), as: .owner)
        #expect(try recovered.verifyAudit(as: .owner).problems == [])
        #expect(try recovered.perform(ReadUnlockFindings(), as: .owner) == [])
    }

    @Test func anotherAgreementKeyIsSaidAndRecorded() throws {
        let file = path + "/file-agreement-key"
        let own = try Data(contentsOf: URL(fileURLWithPath: file))
        let other = try EmbeddedVault.open(at: folder.path(of: "other"))
        try other.setPasscode(try .test("right"), options: .cheapest, as: .owner)
        try FolderContents.write(
            try Data(contentsOf: URL(fileURLWithPath: folder.path(of: "other") + "/file-agreement-key")), to: file)
        let vault = try unlocked()
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == .agreementKey)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == own)
        var stranger = Client.app
        stranger.rights = []
        #expect(throws: VaultError.self) { try vault.perform(ReadUnlockFindings(), as: stranger) }
        // The next unlocking does not report it again. The record stays in the log.
        try vault.unlock(with: try .test("right"), as: .owner)
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == [])
        let events = try vault.auditRecords(AuditQuery(), as: .owner).map(\.event)
        #expect(events.filter { $0 == "agreement-key-replaced" }.count == 1)
        try FolderContents.write(own.dropLast() + [own[own.count - 1] ^ 1], to: file)
        try vault.changePasscode(from: try .test("right"), to: try .test("next"), options: .cheapest, as: .owner)
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == .agreementKey)
        // A file that is missing is made, and betrays nobody.
        unlink(file)
        try vault.unlock(with: try .test("next"), as: .owner)
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == [])
        #expect(try vault.verifyAudit(as: .owner).problems == [])
    }

    /// The keybag of a vault in a TPM is replaced when the log is first anchored, and its counter goes on.
    @Test func aVaultInATPMIsAnchored() throws {
        let tpm = try SoftwareTPM()
        let path = folder.path(of: "tpm")
        func open(_ surroundings: VaultSurroundings) throws -> EmbeddedVault {
            try EmbeddedVault.open(
                at: path, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address),
                surroundings: surroundings)
        }
        let made = try open(VaultSurroundings())
        _ = try made.add(.password("s", "a", "value"), as: .app)
        try made.setPasscode(try .test("right"), options: .cheapest, as: .owner)
        made.close()
        for _ in 0..<3 {
            let vault = try open(VaultSurroundings(audit: AuditLog()))
            try vault.unlock(with: try .test("right"), as: .owner)
            #expect(try vault.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
            #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == [])
            #expect(try vault.verifyAudit(as: .owner).problems == [])
            vault.close()
        }
        for name in logs { unlink("\(path)/\(name)") }
        let vault = try open(VaultSurroundings(audit: AuditLog()))
        try vault.unlock(with: try .test("right"), as: .owner)
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == .auditLog)
    }
}
