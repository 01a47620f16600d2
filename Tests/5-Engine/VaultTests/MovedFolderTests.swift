import Enclave
import Foundation
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A vault whose folder is moved or replaced while a program has it open.
@Suite struct MovedFolderTests {
    private let folder: TemporaryFolder
    private let path: String
    private let vault: EmbeddedVault

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
        vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("s", "a", "value"), as: .app)
    }

    private func expectRefusedWrites() {
        let item = NewItem.password("s", "b", "value")
        let query = ItemQuery.password("s", "a", limit: nil)
        let attempts: [() throws -> Void] = [
            { _ = try vault.add(item, as: .app) },
            { _ = try vault.put(item, as: .app) },
            { _ = try vault.exchange(item, expecting: nil, as: .app) },
            { _ = try vault.update(query, with: ItemChanges(value: Data()), as: .app) },
            { _ = try vault.delete(query, as: .app) },
            { try vault.erase(as: .owner) },
        ]
        for attempt in attempts {
            let error = #expect(throws: VaultError.self) { try attempt() }
            guard case .unusableVault(let reason)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains(path))
        }
    }

    @Test func writesToAMovedFolderAreRefused() throws {
        try FileManager.default.moveItem(atPath: path, toPath: folder.path(of: "moved"))
        expectRefusedWrites()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try EmbeddedVault.open(at: folder.path(of: "moved")).items(.password("s", limit: nil)).count == 1)
    }

    @Test func writesAreNotLostInAReplacedFolder() throws {
        try FileManager.default.moveItem(atPath: path, toPath: folder.path(of: "moved"))
        let other = try EmbeddedVault.open(at: path)
        _ = try other.add(.password("s", "other", "value"), as: .app)
        expectRefusedWrites()
        #expect(try other.items(.password("s", limit: nil)).map(\.accountName) == ["other"])
        #expect(try EmbeddedVault.open(at: path).items(.password("s", limit: nil)).count == 1)
    }

    /// The same keys, so that nothing but the file's identity tells them apart.
    @Test func aCopyInItsPlaceIsNotErased() throws {
        try FileManager.default.copyItem(atPath: path, toPath: folder.path(of: "copy"))
        try FileManager.default.moveItem(atPath: path, toPath: folder.path(of: "moved"))
        try FileManager.default.moveItem(atPath: folder.path(of: "copy"), toPath: path)
        let before = try FolderContents(of: path)
        expectRefusedWrites()
        #expect(try FolderContents(of: path)["keybag"] == before["keybag"])
    }

    @Test func anEraseElsewhereIsNoticed() throws {
        let other = try EmbeddedVault.open(at: path)
        try other.erase(as: .owner)
        #expect(try vault.items(.password("s", "a")).isEmpty)
        _ = try vault.add(.password("s", "new", "value"), as: .app)
        #expect(try other.items(.password("s", limit: nil)).map(\.accountName) == ["new"])
        try vault.erase(as: .owner)
        _ = try other.add(.password("s", "newer", "value"), as: .app)
        #expect(try vault.items(.password("s", limit: nil)).map(\.accountName) == ["newer"])
        #expect(try EmbeddedVault.open(at: path).verify(as: .owner).validItems == 1)
    }

    /// One erase was killed after it had replaced the keys, and another one, by a process that had the
    /// vault open all the time, at the same point.
    @Test func twoInterruptedErasesLeaveAVaultThatOpens() throws {
        func enclave() throws -> SoftwareEnclave {
            try SoftwareEnclave(decoding: Data(contentsOf: URL(fileURLWithPath: path + "/device-secret")))
        }
        func keybag() throws -> Keybag {
            try Keybag(decoding: Data(contentsOf: URL(fileURLWithPath: path + "/keybag")), in: enclave())
        }
        let first = try keybag()
        let interrupted = try Keybag.generate(in: enclave(), replacing: first.identifier)
        try FolderContents.write(interrupted.encoded(in: enclave()), to: path + "/keybag")

        try vault.erase(as: .owner)
        // It is complete, so that nothing else passes for an interrupted one.
        #expect(try keybag().replaces == nil)
        #expect(try EmbeddedVault.open(at: path).items(.password("s", limit: nil)).isEmpty)
    }
}
