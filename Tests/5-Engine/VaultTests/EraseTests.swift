import Access
import Enclave
import Foundation
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// What an erase leaves, finished or killed at each of its steps.
@Suite struct EraseTests {
    private let temporary: TemporaryFolder
    private var path: String { temporary.path(of: "vault") }

    init() throws {
        temporary = try TemporaryFolder()
        let vault = try EmbeddedVault.open(at: temporary.path(of: "vault"))
        _ = try vault.add(.password("s", "a", "old"), as: .app)
        vault.close()
    }

    private func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }

    private func enclave(_ name: String = "device-secret") throws -> SoftwareEnclave {
        try SoftwareEnclave(decoding: bytes(name))
    }

    @Test func copiesOfTheOldKeybagAndRowsOpenNothing() throws {
        let copy = try FolderContents(of: path)
        let vault = try EmbeddedVault.open(at: path)
        try vault.erase(as: .owner)
        vault.close()
        for (name, entry) in copy.entries where name != "device-secret" {
            try FolderContents.write(#require(entry.bytes), to: path + "/" + name)
        }
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
    }

    @Test func killedBeforeTheKeybagWasReplacedNothingIsLost() throws {
        try FolderContents.write(SoftwareEnclave().encoded(), to: path + "/device-secret.next")
        let vault = try EmbeddedVault.open(at: path)
        #expect(try vault.items(.password("s", "a")).map(\.value) == [Data("old".utf8)])
        #expect(try FolderContents(of: path).entries["device-secret.next"] == nil)
    }

    @Test func killedAfterTheKeybagWasReplacedTheEraseIsCompleted() throws {
        let rows = try Keybag(decoding: bytes("keybag"), in: enclave()).identifier
        let next = try SoftwareEnclave()
        try FolderContents.write(next.encoded(), to: path + "/device-secret.next")
        try FolderContents.write(
            Keybag.generate(in: next, replacing: rows).encoded(in: next), to: path + "/keybag")

        let vault = try EmbeddedVault.open(at: path)
        #expect(try vault.items(.password("s", limit: nil)).isEmpty)
        #expect(try enclave().encoded() == next.encoded())
        #expect(try FolderContents(of: path).entries["device-secret.next"] == nil)
        _ = try vault.add(.password("s", "a", "new"), as: .app)
        vault.close()
        #expect(try EmbeddedVault.open(at: path).items(.password("s", "a")).map(\.value) == [Data("new".utf8)])
    }

    @Test func aDamagedNextSecretIsAnErrorAndStays() throws {
        let other = try SoftwareEnclave()
        try FolderContents.write(Keybag.generate(in: other).encoded(in: other), to: path + "/keybag")
        try FolderContents.write(other.encoded().dropLast(), to: path + "/device-secret.next")
        let before = try FolderContents(of: path)
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        #expect(try FolderContents(of: path) == before)
    }

    /// The eraser dies between keys and rows while another process has the vault open and writes on.
    @Test func whatIsWrittenAfterAnUnfinishedEraseStays() throws {
        let vault = try EmbeddedVault.open(at: path)
        #expect(try vault.items(.password("s", limit: nil)).count == 1)
        let rows = try Keybag(decoding: bytes("keybag"), in: enclave()).identifier
        let next = try SoftwareEnclave()
        // A rename, as an eraser does it: another file takes the name.
        unlink(path + "/keybag")
        try FolderContents.write(
            Keybag.generate(in: next, replacing: rows).encoded(in: next), to: path + "/keybag")
        try FolderContents.write(next.encoded(), to: path + "/device-secret")

        _ = try vault.add(.password("s", "b", "new"), as: .app)
        #expect(try EmbeddedVault.open(at: path).items(.password("s", limit: nil)).map(\.accountName) == ["b"])
        #expect(try vault.items(.password("s", limit: nil)).map(\.accountName) == ["b"])
    }

    /// The journal of a store that has no tables yet.
    @Test func killedWhileTheNewStoreWasMadeTheEraseIsCompleted() throws {
        let rows = try Keybag(decoding: bytes("keybag"), in: enclave()).identifier
        let next = try SoftwareEnclave()
        let keybag = try Keybag.generate(in: next, replacing: rows)
        try FolderContents.write(next.encoded(), to: path + "/device-secret")
        try FolderContents.write(keybag.encoded(in: next), to: path + "/keybag")
        let digits = keybag.identifier.uuidString.lowercased().filter { $0 != "-" }.prefix(16)
        for (suffix, bytes) in [("", Data()), ("-journal", Data(count: 512))] {
            try FolderContents.write(bytes, to: path + "/items-\(digits).db" + suffix)
        }
        let vault = try EmbeddedVault.open(at: path)
        #expect(try vault.items(.password("s", limit: nil)).isEmpty)
        _ = try vault.add(.password("s", "a", "new"), as: .app)
        vault.close()
        #expect(try EmbeddedVault.open(at: path).items(.password("s", "a")).map(\.value) == [Data("new".utf8)])
        #expect(try ItemStoreFile.name(inVault: path) == "items-\(digits).db")
    }

    /// An erase that is complete is no reason to begin anew, whatever files are there.
    @Test func aLostStoreIsNotTakenForAnInterruptedErase() throws {
        let former = try ItemStoreFile.name(inVault: path)
        let vault = try EmbeddedVault.open(at: path)
        try vault.erase(as: .owner)
        _ = try vault.add(.password("s", "a", "new"), as: .app)
        vault.close()
        let store = try ItemStoreFile.path(inVault: path)
        let whole = try FolderContents(of: path)
        for remove in [{ unlink($0) }, { truncate($0, 0) }] as [(String) -> Int32] {
            #expect(remove(store) == 0)
            try FolderContents.write(Data(), to: path + "/" + former)
            #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
            try whole.restore(to: path)
        }
        #expect(try EmbeddedVault.open(at: path).items(.password("s", "a")).count == 1)
    }

    /// Nor is a vault with items a creation that was killed.
    @Test func aRenamedKeybagIsNotTakenForAKilledCreation() throws {
        try FileManager.default.moveItem(atPath: path + "/keybag", toPath: path + "/keybag.next")
        let before = try FolderContents(of: path)
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
        #expect(try FolderContents(of: path).entries.keys.sorted() == before.entries.keys.sorted())
        try FileManager.default.moveItem(atPath: path + "/keybag.next", toPath: path + "/keybag")
        #expect(try EmbeddedVault.open(at: path).items(.password("s", "a")).count == 1)
    }

    @Test func aJournalThatBelongsToNoVaultIsRefused() throws {
        try FolderContents.write(Data("x".utf8), to: ItemStoreFile.path(inVault: path) + "-journal")
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: path) }
    }
}
