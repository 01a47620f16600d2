import Access
import Enclave
import Foundation
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A vault's life in each kind of enclave.
@Suite struct VaultEnclaveTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
    }

    private func bench(_ kind: EnclaveKind) throws -> (tpm: SoftwareTPM?, open: () throws -> EmbeddedVault) {
        let tpm = kind == .tpm2 ? try SoftwareTPM() : nil
        let enclaves = EnclavePlace(tpm: tpm?.address)
        return (tpm, { [path] in try EmbeddedVault.open(at: path, in: kind, enclaves: enclaves) })
    }

    private func value(_ vault: EmbeddedVault, _ protection: ProtectionClass) throws -> Data? {
        try vault.items(.password("s", protection.rawValue)).first?.value
    }

    @Test(arguments: EnclaveKind.allCases) func keepsItemsOfEveryClass(_ kind: EnclaveKind) throws {
        let (tpm, open) = try bench(kind)
        let vault = try open()
        #expect(try vault.status(as: .owner).enclave == kind.name)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        for protection in ProtectionClass.allCases {
            var item = NewItem.password("s", protection.rawValue, "value")
            item.accessControl = AccessControl(protection: protection)
            _ = try vault.add(item, as: .app)
        }
        vault.close()

        let again = try open()
        #expect(throws: VaultError.self) { try value(again, .whenUnlocked) }
        #expect(try value(again, .always) == Data("value".utf8))
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) { try again.unlock(with: .test("wrong"), as: .app) }
        #expect(throws: VaultError.self) { try value(again, .whenUnlocked) }
        try again.unlock(with: .test("right"), as: .app)
        for protection in ProtectionClass.allCases { #expect(try value(again, protection) == Data("value".utf8)) }

        try again.changePasscode(from: .test("right"), to: .test("next"), options: .cheapest, as: .owner)
        let third = try open()
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) { try third.unlock(with: .test("right"), as: .app) }
        try third.unlock(with: .test("next"), as: .app)
        #expect(try value(third, .whenPasscodeSetThisDeviceOnly) == Data("value".utf8))
        try third.removePasscode(.test("next"), as: .owner)
        let fourth = try open()
        #expect(try value(fourth, .whenUnlocked) == Data("value".utf8))
        #expect(try value(fourth, .whenPasscodeSetThisDeviceOnly) == nil)
        #expect(try fourth.verify(as: .owner).problems.isEmpty)
        withExtendedLifetime(tpm) {}
    }

    @Test(arguments: EnclaveKind.allCases) func everyByteOfAKeybagWithAPasscodeCounts(_ kind: EnclaveKind) throws {
        let (tpm, open) = try bench(kind)
        let vault = try open()
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        vault.close()
        let file = path + "/keybag"
        let encoded = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(encoded[9] == 5)
        for place in encoded.indices {
            var changed = encoded
            changed[place] ^= 1
            try FolderContents.write(changed, to: file)
            #expect(throws: VaultError.self, "byte \(place)") { try open() }
        }
        for count in stride(from: 0, to: encoded.count, by: 5) {
            try FolderContents.write(encoded.prefix(count), to: file)
            #expect(throws: VaultError.self, "\(count) bytes") { try open() }
        }
        try FolderContents.write(encoded, to: file)
        try open().unlock(with: .test("right"), as: .app)
        withExtendedLifetime(tpm) {}
    }

    @Test(arguments: EnclaveKind.allCases) func anEraseMakesAnotherDeviceSecret(_ kind: EnclaveKind) throws {
        let (tpm, open) = try bench(kind)
        let vault = try open()
        _ = try vault.add(.password("s", "a", "old"), as: .app)
        let names = ["keybag", "device-secret"]
        let old = try names.map { try Data(contentsOf: URL(fileURLWithPath: path + "/" + $0)) }
        let store = try ItemStoreFile.name(inVault: path)
        try vault.erase(as: .owner)
        #expect(!FileManager.default.fileExists(atPath: path + "/" + store))
        _ = try vault.add(.password("s", "a", "new"), as: .app)
        vault.close()
        #expect(try open().items(.password("s", "a")).map(\.value) == [Data("new".utf8)])
        for (name, contents) in zip(names, old) {
            #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)) != contents)
        }
        // The old keybag is nothing without the old device secret.
        try FolderContents.write(old[0], to: path + "/keybag")
        #expect(throws: VaultError.self) { try open() }
        withExtendedLifetime(tpm) {}
    }

    @Test func aVaultStaysInItsEnclave() throws {
        let tpm = try SoftwareTPM()
        let enclaves = EnclavePlace(tpm: tpm.address)
        for (first, second) in [(EnclaveKind.software, EnclaveKind.tpm2), (.tpm2, .software)] {
            let path = folder.path(of: first.name)
            try EmbeddedVault.open(at: path, in: first, enclaves: enclaves).close()
            let error = #expect(throws: VaultError.self) {
                try EmbeddedVault.open(at: path, in: second, enclaves: enclaves)
            }
            #expect(error?.description.contains("'\(first.name)'") == true)
            #expect(try EmbeddedVault.open(at: path, enclaves: enclaves).enclaveKind == first)
        }
        withExtendedLifetime(tpm) {}
    }

    @Test func softwareVaultsNeedNoTPM() throws {
        let vault = try EmbeddedVault.open(at: path, enclaves: EnclavePlace(tpm: "swtpm:path=/nowhere"))
        #expect(vault.enclaveKind == .software)
    }
}
