import Access
import Enclave
import Foundation
import Glibc
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// The device secret of a vault that is open while its file is lost or replaced.
@Suite struct DeviceSecretTests {
    private let folder: TemporaryFolder
    private let path: String
    private var file: String { path + "/device-secret" }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
    }

    private func problem(_ vault: EmbeddedVault, as client: Client = .owner) throws -> String? {
        try vault.perform(ReadCondition(), as: client).problems.first { $0.kind == .deviceSecret }?.text
    }

    private func opens() throws -> Bool {
        do throws(VaultError) {
            let vault = try EmbeddedVault.open(at: path)
            return try vault.items(.password("s", "a")).first?.value == Data("1".utf8)
        } catch {
            return false
        }
    }

    @Test func aLostOneIsToldAndPutBack() throws {
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("s", "a", "1"), as: .app)
        #expect(try problem(vault) == nil)
        #expect(try vault.perform(PutBackDeviceSecret(), as: .owner) == .init(isWritten: false))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try FileManager.default.removeItem(atPath: file)
        let text = try #require(try problem(vault))
        #expect(text.contains("\(file) is gone") && text.contains("`keychain recovery put-back`"))
        #expect(try !opens())
        #expect(try vault.perform(PutBackDeviceSecret(), as: .owner) == .init(isWritten: true))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
        #expect(try problem(vault) == nil && opens())
    }

    /// The file in its place may be the only copy of another vault's secret.
    @Test(arguments: [false, true])
    func anotherFileIsKept(_ isOpenToOthers: Bool) throws {
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("s", "a", "1"), as: .app)
        let other = folder.path(of: "other")
        _ = try EmbeddedVault.open(at: other)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: other + "/device-secret"))
        try FileManager.default.removeItem(atPath: file)
        try FolderContents.write(bytes, to: file)
        if isOpenToOthers { #expect(chmod(file, 0o644) == 0) }
        #expect(
            try #require(try problem(vault)).contains(
                isOpenToOthers ? "open to other users" : "is not the one of this vault any more"))
        #expect(try !opens())
        let reply = try vault.perform(PutBackDeviceSecret(), as: .owner)
        #expect(reply == .init(isWritten: true, other: file + ".found-1"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".found-1")) == bytes)
        #expect(try problem(vault) == nil && opens())
        // The next one gets a name of its own.
        try FolderContents.write(Data("x".utf8), to: file)
        #expect(try vault.perform(PutBackDeviceSecret(), as: .owner).other == file + ".found-2")
        #expect(try opens())
    }

    /// The secret in memory would open nothing in this folder.
    @Test func nothingIsWrittenForAnotherKeybag() throws {
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("s", "a", "1"), as: .app)
        let other = folder.path(of: "other")
        _ = try EmbeddedVault.open(at: other)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.removeItem(atPath: path + "/keybag")
        #expect(throws: VaultError.self) { try problem(vault) }
        #expect(throws: VaultError.self) { try vault.perform(PutBackDeviceSecret(), as: .owner) }
        try FolderContents.write(Data(contentsOf: URL(fileURLWithPath: other + "/keybag")), to: path + "/keybag")
        #expect(throws: VaultError.self) { try vault.perform(PutBackDeviceSecret(), as: .owner) }
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    /// An erase by another program replaces the secret together with the keybag.
    @Test func anEraseIsNoLoss() throws {
        let (first, second) = (try EmbeddedVault.open(at: path), try EmbeddedVault.open(at: path))
        try second.erase(as: .owner)
        #expect(try problem(first) == nil)
        #expect(try first.perform(PutBackDeviceSecret(), as: .owner) == .init(isWritten: false))
    }

    @Test func itIsForThoseWhoLookAfterTheVault() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        try FileManager.default.removeItem(atPath: file)
        let stranger = Client(identifier: "p", accessGroups: ["g"], rights: [.list])
        #expect(try vault.perform(ReadCondition(), as: stranger) == VaultCondition())
        var unlocker = stranger
        unlocker.rights = .unlock
        #expect(try problem(vault, as: unlocker) != nil)
        #expect(
            try vault.perform(ReadCondition(), as: unlocker).cost == Argon2Cost(memoryKiB: 1_024, passes: 1))
        #expect(throws: VaultError.self) { try vault.perform(PutBackDeviceSecret(), as: unlocker) }
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    /// The file of a vault in a TPM has no secret in the clear, and is as necessary.
    @Test func theFileOfATPMIsPutBack() throws {
        let tpm = try SoftwareTPM()
        let place = EnclavePlace(tpm: tpm.address)
        let vault = try EmbeddedVault.open(at: path, in: .tpm2, enclaves: place)
        _ = try vault.add(.password("s", "a", "1"), as: .app)
        #expect(try problem(vault) == nil)
        try FileManager.default.removeItem(atPath: file)
        #expect(try problem(vault) != nil)
        #expect(try vault.perform(PutBackDeviceSecret(), as: .owner).isWritten)
        vault.close()
        let again = try EmbeddedVault.open(at: path, enclaves: place)
        #expect(try again.items(.password("s", "a")).first?.value == Data("1".utf8))
    }
}
