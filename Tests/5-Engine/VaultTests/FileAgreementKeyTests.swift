import Access
import Foundation
import Glibc
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// The public key that is stored for a locked machine.
@Suite struct FileAgreementKeyTests {
    private let folder: TemporaryFolder
    private let path: String
    private let file: String
    private let record: Data

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        file = path + "/file-agreement-key"
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        vault.close()
        record = try Data(contentsOf: URL(fileURLWithPath: file))
    }

    /// - Returns: The error's words.
    private func failureWhileLocked(_ vault: EmbeddedVault) throws -> VaultError {
        let error = #expect(throws: VaultError.self) { try KeptFileKey.make(.completeUnlessOpen, in: vault, as: .app) }
        // The other classes do not hang on it.
        _ = try KeptFileKey.make(.none, in: vault, as: .app)
        return try #require(error)
    }

    private func expectMended(_ vault: EmbeddedVault) throws {
        try vault.unlock(with: .test("right"), as: .owner)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == record)
        vault.close()
        let again = try EmbeddedVault.open(at: path)
        let made = try KeptFileKey.make(.completeUnlessOpen, in: again, as: .app)
        try again.unlock(with: .test("right"), as: .owner)
        #expect(try made.opens(in: again, as: .app))
    }

    @Test func removedItIsMadeAnewAndTheSame() throws {
        unlink(file)
        let vault = try EmbeddedVault.open(at: path)
        let error = try failureWhileLocked(vault)
        guard case .interactionNotAllowed(let reason) = error else { throw error }
        #expect(reason.contains("file-agreement-key") && reason.contains("unlock"))
        try expectMended(vault)
    }

    /// Whoever could put a key of their own there would read what a locked machine writes.
    @Test func everyByteOfItCounts() throws {
        let vault = try EmbeddedVault.open(at: path)
        let changes = (0..<record.count).map { index in
            var changed = record
            changed[index] ^= 0x40
            return changed
        }
        for changed in changes + [Data(), record.dropLast(), Data(count: record.count)] {
            try FolderContents.write(changed, to: file)
            let error = try failureWhileLocked(vault)
            guard case .corruptVault(let reason) = error else { throw error }
            #expect(reason.contains(file))
        }
        try (record + [0]).write(to: URL(fileURLWithPath: file))
        guard case .unusableVault = try failureWhileLocked(vault) else { throw VaultError.busy }
        try expectMended(vault)
    }

    @Test func anotherVaultsIsNotBelieved() throws {
        let other = folder.path(of: "other")
        let vault = try EmbeddedVault.open(at: other)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try Data(contentsOf: URL(fileURLWithPath: other + "/file-agreement-key")).write(to: URL(fileURLWithPath: file))
        let locked = try EmbeddedVault.open(at: path)
        guard case .corruptVault = try failureWhileLocked(locked) else { throw VaultError.busy }
        try expectMended(locked)
    }

    /// An erase that is killed before it removes the file leaves one of keys that are gone.
    @Test func whatAnErasedVaultLeftIsReplaced() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.erase(as: .owner)
        try record.write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) != record)
        vault.close()
        let again = try EmbeddedVault.open(at: path)
        let made = try KeptFileKey.make(.completeUnlessOpen, in: again, as: .app)
        try again.unlock(with: .test("right"), as: .owner)
        #expect(try made.opens(in: again, as: .app))
    }

    /// A vault that an earlier release gave its passcode gets one when it is unlocked.
    @Test func lockedAfterAnUnlockingItIsNotNeeded() throws {
        unlink(file)
        let vault = try EmbeddedVault.open(at: path)
        try vault.unlock(with: .test("right"), as: .owner)
        try vault.lock(after: .zero, as: .owner)
        unlink(file)
        let made = try KeptFileKey.make(.completeUnlessOpen, in: vault, as: .app)
        try vault.unlock(with: .test("right"), as: .owner)
        #expect(try made.opens(in: vault, as: .app))
    }

    @Test func anUnlockingDoesNotHangOnIt() throws {
        unlink(file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let vault = try EmbeddedVault.open(at: path)
        try vault.unlock(with: .test("right"), as: .owner)
        #expect(try KeptFileKey.make(.completeUnlessOpen, in: vault, as: .app).opens(in: vault, as: .app))
    }
}
