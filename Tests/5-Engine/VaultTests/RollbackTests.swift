import Access
import Bytes
import Crypto
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
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
        let copy = try FolderContents(of: path)
        let again = try open()
        try again.erase(as: .owner)
        again.close()
        #expect(try open().items(.password("s", "a")).isEmpty)
        for (name, entry) in copy.entries { try FolderContents.write(#require(entry.bytes), to: path + "/" + name) }
        expectRolledBack()
    }

    @Test func killedBeforeCountingNothingIsLost() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        try vault.setPasscode(.test("old"), options: .cheapest, as: .owner)
        vault.close()
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        let old = try bytes("keybag")
        let keybag = try Keybag(decoding: old, in: enclave)
        let oldKey = try #require(keybag.passcode).key(for: .test("old"), in: enclave)
        let protection = PasscodeProtection.fresh(cost: Argon2id.Cost(memoryKiB: 1024, passes: 1), eraseAfter: nil)
        let (guarded, key) = try protection.guarding(.test("first"), in: enclave)
        let next = try keybag.rewrapped(from: oldKey, to: key, guarded, in: enclave)
        // Nothing opens it before the counter has its value.
        #expect(throws: KeybagError.rolledBack) {
            try ClassKeys(Keybag(decoding: next.encoded(in: enclave), in: enclave), in: enclave)
        }
        try FolderContents.write(next.encoded(in: enclave), to: path + "/keybag")
        let again = try open()
        try again.unlock(with: .test("first"), as: .owner)
        #expect(try again.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
        again.close()
        #expect(throws: KeybagError.rolledBack) { try ClassKeys(keybag, in: enclave) }
        try FolderContents.write(old, to: path + "/keybag")
        expectRolledBack()
        // And not further than one.
        let further = try next.rewrapped(from: key, to: nil, nil, in: enclave)
            .rewrapped(from: nil, to: nil, nil, in: enclave)
        try FolderContents.write(further.encoded(in: enclave), to: path + "/keybag")
        expectRolledBack()
    }

    @Test func anEraseThatWasKilledBeforeCountingIsCompleted() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        vault.close()
        let names = ["keybag", "device-secret"]
        let copies = try names.map(bytes)
        let enclaves = EnclavePlace(tpm: tpm.address)
        let keybag = try Keybag(decoding: copies[0], in: enclaves.open(copies[1]))
        let counter = try #require(keybag.freshness?.counter)
        // Another vault's secret is as new as any.
        let other = folder.path(of: "other")
        try EmbeddedVault.open(at: other, in: .tpm2, enclaves: enclaves).close()
        let secret = try Data(contentsOf: URL(fileURLWithPath: other + "/device-secret"))
        let next = try enclaves.open(secret)
        try FolderContents.write(secret, to: path + "/device-secret.next")
        try FolderContents.write(
            Keybag.generate(in: next, replacing: keybag.identifier, counter: counter.next).encoded(in: next),
            to: path + "/keybag")
        let erased = try open()
        #expect(try erased.items(.password("s", limit: nil)).isEmpty)
        #expect(try bytes("device-secret") == secret)
        _ = try erased.add(.password("s", "b", "new"), as: .app)
        erased.close()
        #expect(try open().items(.password("s", "b")).count == 1)
        for (name, copy) in zip(names, copies) { try FolderContents.write(copy, to: path + "/" + name) }
        expectRolledBack()
    }

    /// A keybag that only pretends to be the last one: the TPM notices.
    @Test func aNumberThatWasChangedIsNotEnough() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let old = try bytes("keybag")
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        vault.close()
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        // Who may use the TPM can compute the MAC.
        let stored = try #require(StoredKeybag(old))
        let value = withUnsafeBytes(of: (stored.value + 1).bigEndian) { Data($0) }
        let place = old.count - 32 - 8 - stored.sealed.count - 2 - 8
        let changed = old.prefix(place) + value + old.dropFirst(place + 8).dropLast(32)
        try FolderContents.write(changed + Self.code(of: changed, stored.salt, enclave), to: path + "/keybag")
        expectRolledBack()
    }

    private static func code(of body: Data, _ salt: Data, _ enclave: any Enclave) throws -> Data {
        let key = try enclave.deriveKey(tangling: nil, salt: salt, context: "swift-keychain/v1/keybag")
        return Data(HMAC<SHA256>.authenticationCode(for: body, using: key))
    }

    @Test func theWayBackIsARecoveryKey() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let key = try vault.makeRecoveryKey(as: .owner)
        let old = try bytes("keybag")
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        vault.close()
        let last = ["keybag", "device-secret"]
        let copies = try last.map(bytes)
        try FolderContents.write(old, to: path + "/keybag")
        expectRolledBack()
        let recover = {
            try EmbeddedVault.recover(
                at: path, with: key, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address),
                as: .owner
            ).vault
        }
        let recovered = try recover()
        #expect(try recovered.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
        #expect(recovered.detectsRollback)
        recovered.close()
        // It goes on with the same counter, so that the last keybag before it is an older one.
        #expect(try tpm.tool("tpm2_getcap", "handles-nv-index").split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: path + "/counter.next"))
        let before = try #require(StoredKeybag(copies[0]))
        #expect(throws: SoftwareTPMError.self) { try before.freshness(tpm) }
        for (name, copy) in zip(last, copies) { try FolderContents.write(copy, to: path + "/" + name) }
        expectRolledBack()
        let again = try recover()
        #expect(try again.items(.password("s", "a")).count == 1)
    }

    /// The counter has yet to reach the value of the keybag that is recovered from.
    @Test func aRecoveryEndsAKeybagThatWasNotCounted() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let key = try vault.makeRecoveryKey(as: .owner)
        vault.close()
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        let next = try Keybag(decoding: bytes("keybag"), in: enclave).rewrapped(from: nil, to: nil, nil, in: enclave)
            .encoded(in: enclave)
        try FolderContents.write(next, to: path + "/keybag")
        let recovered = try EmbeddedVault.recover(
            at: path, with: key, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address), as: .owner
        ).vault
        #expect(try recovered.items(.password("s", "a")).count == 1)
        recovered.close()
        let (before, present) = (try #require(StoredKeybag(next)), try #require(try StoredKeybag(bytes("keybag"))))
        #expect(present.counter == before.counter)
        #expect(throws: SoftwareTPMError.self) { try before.freshness(tpm) }
        #expect(try present.freshness(tpm).count == 32)
    }

    @Test func aRemovedCounterClosesTheVaultToAllButARecoveryKey() throws {
        let vault = try open(detectsRollback: true)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let key = try vault.makeRecoveryKey(as: .owner)
        vault.close()
        let stored = try #require(try StoredKeybag(bytes("keybag")))
        let index = "0x" + String(stored.counter, radix: 16)
        try tpm.tool("tpm2_nvundefine", "-C", "o", index)
        let missing = #expect(throws: VaultError.self) { try open() }
        #expect(missing?.description.contains("NV_ReadPublic") == true, "\(String(describing: missing))")
        try tpm.tool("tpm2_nvdefine", "-C", "o", "-s", "8", "-a", "authread|authwrite|no_da|nt=counter", index)
        #expect(throws: VaultError.self) { try open() }
        try tpm.tool("tpm2_nvincrement", "-C", index, index)
        expectRolledBack()
        #expect(throws: SoftwareTPMError.self) { try stored.freshness(tpm) }
        let recovered = try EmbeddedVault.recover(
            at: path, with: key, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address), as: .owner
        ).vault
        #expect(try recovered.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
        recovered.close()
        #expect(try open().items(.password("s", "a")).count == 1)
    }

    @Test func aBackupIsRestoredIntoOne() throws {
        let vault = try EmbeddedVault.open(at: path, in: .software)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        let key = try vault.makeRecoveryKey(as: .owner)
        var backup = try vault.makeBackup(.recoveryKey, as: .owner).bytes[...]
        vault.close()
        try FileManager.default.removeItem(atPath: path)
        let reader = try BackupReader { count in
            defer { backup = backup.dropFirst(count) }
            return Data(backup.prefix(count))
        }
        _ = try EmbeddedVault.restore(
            reader, with: key, to: path, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address))
        let restored = try open()
        #expect(restored.detectsRollback)
        #expect(try restored.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
        let old = try bytes("keybag")
        try restored.setPasscode(.test("first"), options: .cheapest, as: .owner)
        restored.close()
        let again = try open()
        try again.unlock(with: .test("first"), as: .owner)
        #expect(try again.items(.password("s", "a")).count == 1)
        again.close()
        try FolderContents.write(old, to: path + "/keybag")
        expectRolledBack()
    }

    enum PasscodeChange: CaseIterable { case set, change, remove }

    /// A vault of earlier software: the class keys do not depend on the counter.
    @Test(arguments: PasscodeChange.allCases)
    func aCounterGetsItsSecretWithThePasscode(_ change: PasscodeChange) throws {
        let hasPasscode = change != .set
        let vault = try open()
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        if hasPasscode { try vault.setPasscode(.test("first"), options: .cheapest, as: .owner) }
        vault.close()
        // Formats/Vault.md: nothing is sealed to the counter.
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        let counter = try enclave.freeCounter()
        try enclave.makeCounter(counter)
        let value = try enclave.value(ofCounter: counter)
        let whole = Data(try bytes("keybag").dropLast(32))
        var body = Data(whole.dropLast(12 + 2 + 8))
        body += withUnsafeBytes(of: counter.bigEndian) { Data($0) }
        body += withUnsafeBytes(of: value.bigEndian) { Data($0) }
        func keybag(_ body: Data) throws -> Data { try body + Self.code(of: body, body[44..<76], enclave) }
        let old = try keybag(body + whole.suffix(2 + 8))
        // Version 3, which ends with the counter.
        body[9] = 3
        let version3 = try keybag(body)
        enclave.close()
        try FolderContents.write(old, to: path + "/keybag")
        for encoded in [old, version3] {
            #expect(try Keybag(decoding: encoded, in: enclave).encoded(in: enclave) == encoded)
        }

        let opened = try open()
        #expect(opened.detectsRollback)
        if hasPasscode { try opened.unlock(with: .test("first"), as: .owner) }
        switch change {
        case .set: try opened.setPasscode(.test("second"), options: .cheapest, as: .owner)
        case .change:
            try opened.changePasscode(from: .test("first"), to: .test("second"), options: .cheapest, as: .owner)
        case .remove: try opened.removePasscode(.test("first"), as: .owner)
        }
        #expect(try opened.items(.password("s", "a")).count == 1)
        opened.close()
        let stored = try #require(try StoredKeybag(bytes("keybag")))
        #expect(stored.counter == counter)
        #expect(stored.value == value + 1)
        let again = try open()
        if change != .remove { try again.unlock(with: .test("second"), as: .owner) }
        #expect(try again.items(.password("s", "a")).map(\.value) == [Data("value".utf8)])
        again.close()
        try FolderContents.write(old, to: path + "/keybag")
        expectRolledBack()
    }

    @Test func aKeybagThatEndsEarlyIsRefused() throws {
        try open(detectsRollback: true).close()
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        let whole = try bytes("keybag")
        #expect(throws: Never.self) { try Keybag(decoding: whole, in: enclave) }
        for count in 0..<whole.count {
            #expect(throws: KeybagError.self) { try Keybag(decoding: whole.prefix(count), in: enclave) }
        }
        // Without anything sealed, though the MAC is right.
        let stored = try #require(StoredKeybag(whole))
        let body = whole.dropLast(32 + 8 + stored.sealed.count + 2) + Data(count: 2 + 8)
        let empty = try body + Self.code(of: body, stored.salt, enclave)
        #expect(throws: KeybagError.authenticationFailed) {
            try ClassKeys(Keybag(decoding: empty, in: enclave), in: enclave)
        }
    }

    // MARK: Other software

    @Test func otherSoftwareGetsNothingFromAnOldPasscode() throws {
        let vault = try open(detectsRollback: true)
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        let old = try #require(try StoredKeybag(bytes("keybag")))
        try vault.changePasscode(from: .test("first"), to: .test("second"), options: .cheapest, as: .owner)
        let present = try #require(try StoredKeybag(bytes("keybag")))
        vault.close()
        try expectRefused(old, "first", insteadOf: present, "second")
    }

    @Test func otherSoftwareGetsNothingFromBeforeThePasscode() throws {
        let vault = try open(detectsRollback: true)
        let old = try #require(try StoredKeybag(bytes("keybag")))
        // The same steps open it while it is the last.
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        enclave.close()
        let secret = try bytes("device-secret")
        #expect(try old.classKey(("ak", 1), deviceSecret: secret, tpm).count == 32)
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        let present = try #require(try StoredKeybag(bytes("keybag")))
        vault.close()
        try expectRefused(old, nil, insteadOf: present, "first")
    }

    /// Expects that the TPM refuses the secret of an older keybag, and reveals that of the present one for the same
    /// commands.
    private func expectRefused(
        _ old: StoredKeybag, _ oldPasscode: String?, insteadOf present: StoredKeybag, _ passcode: String
    ) throws {
        let secret = try bytes("device-secret")
        // A TPM that starts anew has no session that somebody kept.
        try tpm.restart()
        for (name, oldPasscode) in [(("ak", UInt8(1)), oldPasscode), (("dk", 3), nil)] {
            let error = #expect(throws: SoftwareTPMError.self) {
                try old.classKey(name, deviceSecret: secret, passcode: oldPasscode, tpm)
            }
            // All else that the key depends on is to be had.
            #expect(error?.program == "tpm2_policynv")
            #expect(error?.output.contains("policy failure") == true, "\(String(describing: error))")
        }
        // With the value that the counter has, the condition is not that of the old secret.
        try tpm.load(old.sealed)
        let error = #expect(throws: SoftwareTPMError.self) {
            try tpm.unseal(whileCounter: present.counter, is: present.value)
        }
        #expect(error?.program == "tpm2_unseal")
        #expect(error?.output.contains("policy check failed") == true, "\(String(describing: error))")

        let enclave = try EnclavePlace(tpm: tpm.address).open(secret)
        let keybag = try Keybag(decoding: bytes("keybag"), in: enclave)
        let always = try keybag.unwrapKey(for: .always, in: enclave).withUnsafeBytes { Data($0) }
        enclave.close()
        #expect(try present.classKey(("dk", 3), deviceSecret: secret, tpm) == always)
        #expect(try present.classKey(("ak", 1), deviceSecret: secret, passcode: passcode, tpm).count == 32)
    }

    /// Places in a TPM are few, and nobody but the vault knows which are its own.
    @Test func aCounterOfAKilledCreationIsUsedByTheNext() throws {
        try open().close()
        let enclave = try EnclavePlace(tpm: tpm.address).open(bytes("device-secret"))
        let counter = try enclave.freeCounter()
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name == "keybag" || name.hasPrefix("items-") {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
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
