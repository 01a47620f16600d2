import Access
import Bytes
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// The way back into a vault whose enclave is gone.
@Suite struct RecoveryTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
    }

    private func key(_ text: String) -> RecoveryKey? {
        try? Data(text.utf8).withUnsafeBytes { try RecoveryKey(typed: $0) }
    }

    private func fill(_ vault: EmbeddedVault) throws {
        for protection in ProtectionClass.allCases {
            var item = NewItem.password("s", protection.rawValue, "value of \(protection.rawValue)")
            item.accessControl = AccessControl(protection: protection)
            _ = try vault.add(item, as: .app)
        }
    }

    /// Of programs that find no key at the same time, one makes it, and the others learn that there is one.
    @Test func oneOfSeveralMakesTheFirstKey() throws {
        let vaults = try (0..<8).map { _ in try EmbeddedVault.open(at: path) }
        var item = NewItem.password("s", "a", "for this device only")
        item.accessControl = AccessControl(protection: .whenUnlockedThisDeviceOnly)
        _ = try vaults[0].add(item, as: .app)
        let keys = Mutex<[SecretBytes]>([])
        DispatchQueue.concurrentPerform(iterations: vaults.count) { index in
            if let key = try? vaults[index].perform(MakeFirstRecoveryKey(), as: .owner).text {
                keys.withLock { $0.append(key) }
            }
        }
        let made = keys.withLock { $0 }
        #expect(made.count == 1)
        #expect(throws: VaultError.invalidRequest(reason: "the vault has a recovery key already")) {
            try vaults[1].perform(MakeFirstRecoveryKey(), as: .owner)
        }
        let key = try #require(made.first).withUnsafeBytes { try RecoveryKey(typed: $0) }
        #expect(try EmbeddedVault.itemsLost(recovering: path, with: key) == [.genericPassword: 1])
    }

    @Test(arguments: EnclaveKind.allCases)
    func bringsBackWhatMayLeaveTheDevice(_ kind: EnclaveKind) throws {
        let (first, second) = (try SoftwareTPM(), try SoftwareTPM())
        let vault = try EmbeddedVault.open(at: path, in: kind, enclaves: EnclavePlace(tpm: first.address))
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try fill(vault)
        let text = try vault.makeRecoveryKey(as: .owner).text
        vault.close()

        // Another machine: the device secret stays behind.
        first.kill()
        try FileManager.default.removeItem(atPath: path + "/device-secret")
        let (recovered, lost) = try EmbeddedVault.recover(
            at: path, with: try #require(key(text)), in: kind, enclaves: EnclavePlace(tpm: second.address), as: .owner)
        #expect(lost == 4)
        #expect(!(try recovered.status(as: .owner).isPasscodeSet))
        for protection in ProtectionClass.allCases {
            let value = try recovered.items(.password("s", protection.rawValue)).first?.value
            #expect(
                value
                    == (["ak", "ck", "dk"].contains(protection.rawValue)
                        ? Data("value of \(protection.rawValue)".utf8) : nil))
        }
        #expect(try recovered.verify(as: .owner).problems.isEmpty)
        // It is a vault as any other.
        try recovered.setPasscode(.test("next"), options: .cheapest, as: .owner)
        recovered.close()
        let again = try EmbeddedVault.open(at: path, enclaves: EnclavePlace(tpm: second.address))
        try again.unlock(with: .test("next"), as: .app)
        var item = NewItem.password("s", "new", "value")
        item.accessControl = AccessControl(protection: .whenUnlockedThisDeviceOnly)
        _ = try again.add(item, as: .app)
        #expect(try again.items(.password("s", "new")).count == 1)
        withExtendedLifetime(second) {}
    }

    @Test func onlyTheLastKeyOpens() throws {
        let vault = try EmbeddedVault.open(at: path)
        let first = try vault.makeRecoveryKey(as: .owner)
        let second = try vault.makeRecoveryKey(as: .owner)
        vault.close()
        for wrong in [first, try RecoveryKey.random()] {
            let before = try FolderContents(of: path).entries
            #expect(throws: VaultError.self) {
                try EmbeddedVault.recover(at: path, with: wrong, in: .software, as: .owner)
            }
            #expect(try FolderContents(of: path).entries == before)
        }
        _ = try EmbeddedVault.recover(at: path, with: second, in: .software, as: .owner)
    }

    @Test func aLockedVaultGivesNone() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try vault.lock(after: .zero, as: .owner)
        #expect(throws: VaultError.self) { try vault.makeRecoveryKey(as: .owner) }
        #expect(throws: VaultError.self) { try vault.makeRecoveryKey(as: .app) }
        #expect(!FileManager.default.fileExists(atPath: path + "/recovery"))
    }

    @Test func anEraseEndsIt() throws {
        let vault = try EmbeddedVault.open(at: path)
        let key = try vault.makeRecoveryKey(as: .owner)
        try vault.erase(as: .owner)
        vault.close()
        #expect(throws: VaultError.self) {
            try EmbeddedVault.recover(at: path, with: key, in: .software, as: .owner)
        }
    }

    @Test func everyByteOfTheRecordCounts() throws {
        let enclave = try SoftwareEnclave()
        let keys = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
        let key = try RecoveryKey.random()
        let record = try RecoveryRecord.make(of: keys, under: key)
        let encoded = record.encoded(under: key)
        #expect(try RecoveryRecord(decoding: encoded, with: key) == record)
        for place in encoded.indices {
            var changed = encoded
            changed[place] ^= 1
            #expect(throws: KeybagError.self, "byte \(place)") { try RecoveryRecord(decoding: changed, with: key) }
        }
        for count in encoded.indices {
            #expect(throws: KeybagError.self) { try RecoveryRecord(decoding: encoded.prefix(count), with: key) }
        }
    }

    @Test func aTypingErrorIsFoundInItsGroup() throws {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        func mistake(_ text: String) -> RecoveryKeyMistake? {
            do {
                _ = try Data(text.utf8).withUnsafeBytes { try RecoveryKey(typed: $0) }
                return nil
            } catch {
                return error as? RecoveryKeyMistake
            }
        }
        let text = try Array(RecoveryKey.random().text)
        for place in text.indices where text[place] != "-" {
            let group = RecoveryKeyMistake.group(place / 6 + 1)
            for letter in letters + ["0", "!"] where letter != text[place] {
                var typed = text
                typed[place] = letter
                #expect(mistake(String(typed)) == group, "\(letter) at \(place)")
            }
            var typed = text
            typed.remove(at: place)
            #expect(mistake(String(typed)) == (place < 72 ? group : .length(64)), "without \(place)")
            guard place + 1 < text.count, text[place + 1] != "-", text[place] != text[place + 1] else { continue }
            typed = text
            typed.swapAt(place, place + 1)
            #expect(mistake(String(typed)) == group, "swapped at \(place)")
        }
        var groups = String(text).split(separator: "-")
        groups.swapAt(3, 4)
        if groups[3] != groups[4] { #expect(mistake(groups.joined(separator: "-")) == .group(4)) }
        #expect(mistake("AAAA") == .length(4))
    }

    /// The folder's own words, and what a recovery would lose.
    @Test func theWayBackIsNamedWithWhatItLoses() throws {
        let vault = try EmbeddedVault.open(at: path)
        #expect(try vault.status(as: .owner).recoveryKey == .absent)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try fill(vault)
        let recoveryKey = try vault.makeRecoveryKey(as: .owner)
        guard case .made(let seconds) = try vault.status(as: .owner).recoveryKey else {
            Issue.record("no recovery key")
            return
        }
        #expect(seconds > 1_700_000_000)
        #expect(try vault.status(as: .app).recoveryKey == .undisclosed)
        vault.close()
        try FileManager.default.removeItem(atPath: path + "/device-secret")
        let failure = #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        #expect(failure?.description.contains("`keychain recovery restore`") == true)
        let lost = try EmbeddedVault.itemsLost(recovering: path, with: recoveryKey)
        #expect(lost == [.genericPassword: 4])
        let (recovered, count) = try EmbeddedVault.recover(at: path, with: recoveryKey, in: .software, as: .owner)
        #expect(count == 4)
        recovered.close()
    }

    @Test func aKeyIsReadAsItIsWritten() throws {
        for _ in 0..<50 {
            let text = try RecoveryKey.random().text
            #expect(text.count == 77)
            #expect(key(text)?.text == text)
            #expect(key(text.lowercased().replacing("-", with: " "))?.text == text)
            #expect(key(text.replacing("-", with: ""))?.text == text)
            #expect(key(String(text.dropLast())) == nil)
            #expect(key(text + "A") == nil)
            // As it was written before there were check letters.
            let plain = text.split(separator: "-").map { $0.dropLast() }.joined(separator: "-")
            #expect(key(plain)?.text == text)
            #expect(key(plain + "A") == nil)
            // The last letter holds one bit.
            #expect(key(plain.dropLast() + "B") == nil)
        }
        for text in ["", "1", "AAAA-BBBB", String(repeating: "0", count: 52), "ä"] { #expect(key(text) == nil) }
    }
}
