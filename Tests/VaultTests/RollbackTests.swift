import Access
import Bytes
import Enclave
import Foundation
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Older copies of a keybag, put back.
@Suite struct RollbackTests {
    private let folder: TemporaryFolder
    private let path: String
    private let tpm: SoftwareTPM

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        tpm = try SoftwareTPM()
    }

    private func open(detectsRollback: Bool = false) throws -> EmbeddedVault {
        try EmbeddedVault.open(
            at: path, in: .tpm2, detectsRollback: detectsRollback, enclaves: EnclavePlace(tpm: tpm.address))
    }

    private func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }

    private func expectRolledBack() {
        let error = #expect(throws: VaultError.self) { try open() }
        #expect(error?.description.contains("older copy") == true)
    }

    @Test func anOldPasscodeOpensNothing() throws {
        let vault = try open(detectsRollback: true)
        #expect(vault.detectsRollback)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        var copies = [try bytes("keybag")]
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        copies.append(try bytes("keybag"))
        try vault.changePasscode(from: .test("first"), to: .test("second"), options: .cheapest, as: .owner)
        copies.append(try bytes("keybag"))
        try vault.removePasscode(.test("second"), as: .owner)
        vault.close()
        let last = try bytes("keybag")
        for copy in copies {
            try FolderContents.write(copy, to: path + "/keybag")
            expectRolledBack()
        }
        try FolderContents.write(last, to: path + "/keybag")
        try tpm.restart()
        #expect(try open().items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
    }

    @Test func anEraseIsFinalAlsoForCopiesOfTheWholeFolder() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        vault.close()
        let names = ["keybag", "device-secret", "items.db"]
        let copies = try names.map(bytes)
        let again = try open()
        try again.erase(as: .owner)
        again.close()
        #expect(try open().items(.password("s", "a")).isEmpty)
        for (name, copy) in zip(names, copies) { try FolderContents.write(copy, to: path + "/" + name) }
        expectRolledBack()
    }

    @Test func killedBeforeCountingNothingIsLost() throws {
        let vault = try open(detectsRollback: true)
        vault.close()
        let enclave = try #require(try? EnclavePlace(tpm: tpm.address).open(bytes("device-secret")))
        var keybag = try Keybag(decoding: bytes("keybag"), in: enclave)
        keybag.counter = keybag.counter?.next
        let old = try bytes("keybag")
        try FolderContents.write(keybag.encoded(in: enclave), to: path + "/keybag")
        try open().close()
        try FolderContents.write(old, to: path + "/keybag")
        expectRolledBack()
        // And not further than one.
        keybag.counter = keybag.counter?.next.next
        try FolderContents.write(keybag.encoded(in: enclave), to: path + "/keybag")
        expectRolledBack()
    }

    @Test func theWayBackIsARecoveryKey() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let key = try vault.makeRecoveryKey(as: .owner)
        let old = try bytes("keybag")
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        vault.close()
        try FolderContents.write(old, to: path + "/keybag")
        expectRolledBack()
        let recovered = try EmbeddedVault.recover(
            at: path, with: key, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address), as: .owner
        ).vault
        #expect(try recovered.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
        #expect(recovered.detectsRollback)
    }

    /// Places in a TPM are few, and nobody but the vault knows which are its own.
    @Test func aCounterOfAKilledCreationIsUsedByTheNext() throws {
        try open().close()
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        let counter = try enclave.freeCounter()
        for name in ["keybag", "items.db"] { try FileManager.default.removeItem(atPath: path + "/" + name) }
        try FolderContents.write(withUnsafeBytes(of: counter.bigEndian) { Data($0) }, to: path + "/counter.next")
        try enclave.makeCounter(counter)
        enclave.close()
        let places = { try tpm.tool("tpm2_getcap", "handles-nv-index").split(separator: "\n").count }
        #expect(try places() == 1)
        let vault = try open(detectsRollback: true)
        #expect(vault.detectsRollback)
        vault.close()
        #expect(try places() == 1)
        #expect(!FileManager.default.fileExists(atPath: path + "/counter.next"))
        // What has the place meanwhile is not touched.
        let other = folder.path(of: "other")
        try FileManager.default.createDirectory(
            atPath: other, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try tpm.tool("tpm2_nvdefine", "-C", "o", "-s", "8", "-a", "authread|authwrite", "0x1800001")
        try FolderContents.write(Data([1, 0x80, 0, 1]), to: other + "/counter.next")
        let second = try EmbeddedVault.open(
            at: other, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address))
        #expect(second.detectsRollback)
        second.close()
        #expect(try places() == 3)
    }

    @Test func softwareHasNoCounter() throws {
        #expect(throws: VaultError.self) {
            try EmbeddedVault.open(at: folder.path(of: "other"), in: .software, detectsRollback: true)
        }
    }
}
