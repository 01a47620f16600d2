import Access
import Bytes
import Enclave
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A vault whose TPM is restarted, cleared, exchanged, switched off, or locked out.
@Suite struct TPMVaultTests {
    private let folder: TemporaryFolder
    private let path: String
    private let tpm: SoftwareTPM
    private let vault: EmbeddedVault

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        tpm = try SoftwareTPM()
        vault = try EmbeddedVault.open(at: path, in: .tpm2, enclaves: EnclavePlace(tpm: tpm.address))
        _ = try vault.add(.password("s", "a", "value"), as: .app)
    }

    private func open(_ address: String? = nil) throws -> EmbeddedVault {
        try EmbeddedVault.open(at: path, enclaves: EnclavePlace(tpm: address ?? tpm.address))
    }

    private func expectUnusable(_ words: String, _ address: String? = nil) throws {
        let before = try FolderContents(of: path).entries
        let error = #expect(throws: VaultError.self) { try open(address) }
        guard case .unusableVault(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains(words))
        #expect(try FolderContents(of: path).entries == before)
    }

    @Test func goesOnAfterARestartOfTheTPM() throws {
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try tpm.restart()
        try vault.lock(after: .zero, as: .app)
        try vault.unlock(with: .test("right"), as: .app)
        #expect(try vault.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
        #expect(try open().status(as: .owner).enclave == "tpm2")
    }

    @Test func neverOpensAnywhereElse() throws {
        let other = try SoftwareTPM()
        try expectUnusable("another TPM", other.address)
        try expectUnusable("KEYCHAIN_TPM", "swtpm:path=\(folder.path(of: "nothing"))")
        vault.close()
        tpm.kill()
        try expectUnusable("KEYCHAIN_TPM")
        try tpm.start()
        #expect(try open().items(.password("s", "a")).count == 1)
        withExtendedLifetime(other) {}
    }

    @Test func saysThatTheTPMWasCleared() throws {
        vault.close()
        try tpm.tool("tpm2_clear", "-c", "l")
        try expectUnusable("cleared")
    }

    @Test func madeWithoutATPMThereIsNone() throws {
        let path = folder.path(of: "other")
        #expect(throws: VaultError.self) {
            try EmbeddedVault.open(at: path, in: .tpm2, enclaves: EnclavePlace(tpm: "swtpm:path=/nowhere"))
        }
        #expect(!FileManager.default.fileExists(atPath: path + "/keybag"))
    }

    @Test func theTPMsLockoutIsAWaitAndNoWrongPasscode() throws {
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        vault.close()
        try tpm.tool("tpm2_dictionarylockout", "-s", "-n", "2", "-t", "500", "-l", "1")
        let vault = try open()
        for _ in 0..<2 {
            #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) {
                try vault.unlock(with: .test("wrong"), as: .app)
            }
        }
        for _ in 0..<4 {
            #expect(throws: VaultError.passcodeDelayed(retryAfter: 500)) {
                try vault.unlock(with: .test("right"), as: .app)
            }
        }
        let status = try vault.status(as: .owner)
        #expect(status.failedAttempts == 2)
        #expect(status.retryAfter == 500)
        vault.close()
        try tpm.tool("tpm2_dictionarylockout", "-c")
        let again = try open()
        try again.unlock(with: .test("right"), as: .app)
        #expect(try again.status(as: .owner).failedAttempts == 0)
    }

    @Test func theLockoutIsTakenOnce() throws {
        let lockout = try #require(try vault.plannedLockout())
        #expect(lockout.tries == 32)
        #expect(lockout.recoveryTime == 600)
        let password = try #require(lockout.password)
        #expect(password.count == 29)
        // Planning sets nothing.
        #expect(try open().plannedLockout()?.password != nil)
        #expect(try vault.takeLockout(lockout))
        #expect(try !vault.takeLockout(lockout))
        #expect(try open().plannedLockout()?.password == nil)
        vault.close()
        try tpm.tool("tpm2_dictionarylockout", "-c", "-p", password)
    }
}
