import Enclave
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Older copies of the item store, in part and as a whole, put back by somebody who has no key.
@Suite struct FreshnessTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path(of: "vault") }

    init() throws { folder = try TemporaryFolder() }

    /// An item that is read and written while the vault is locked.
    private static func always(_ account: String, _ value: String) -> NewItem {
        var item = NewItem.password("s", account, value)
        item.accessControl = AccessControl(protection: .always)
        return item
    }

    private func files() throws -> FolderContents { try FolderContents(of: path) }

    /// Fills a vault, and returns its files before and after a change of one item.
    private func filesAroundAChange(_ random: inout SeededGenerator) throws -> (before: FolderContents, changed: String)
    {
        let vault = try EmbeddedVault.open(at: path)
        let count = random.int(below: 40) + 2
        for number in 0..<count {
            let value = String(repeating: "x", count: random.int(below: 600))
            _ = try vault.add(.password("s", "\(number)", "old \(value)"), as: .app)
        }
        vault.close()
        let before = try files()
        let again = try EmbeddedVault.open(at: path)
        let changed = "\(random.int(below: count))"
        switch random.int(below: 3) {
        case 0: _ = try again.put(.password("s", changed, "new"), as: .app)
        case 1: _ = try again.put(.password("s", changed, "new " + String(repeating: "y", count: 3_000)), as: .app)
        default:
            _ = try again.update(
                .password("s", changed), with: ItemChanges(attributes: [.label: .string("new")]), as: .app)
        }
        again.close()
        return (before, changed)
    }

    /// Returns whether everything that the vault says of the item is new, or an error.
    private func refusesTheOldItem(_ account: String) -> Bool {
        do {
            let vault = try EmbeddedVault.open(at: path)
            let found = try vault.items(.password("s", account, limit: nil))
            let report = try vault.verify(as: .owner)
            let isNew =
                found.count == 1
                && (found[0].value?.starts(with: Data("new".utf8)) == true
                    || found[0].attributes[.label] == .string("new"))
            // An old page may not have been needed for the search: then the check of everything finds it.
            return isNew || !report.problems.isEmpty
        } catch {
            return true
        }
    }

    @Test func anOlderPageIsRefused() throws {
        var random = SeededGenerator()
        for round in 0..<TestScale.count(20, soak: 1_000) {
            let (before, changed) = try filesAroundAChange(&random)
            let after = try files()
            let store = try ItemStoreFile.name(inVault: path)
            let (old, new) = (try #require(before[store]), try #require(after[store]))
            let pages = (0..<min(old.count, new.count) / 4096).filter {
                old[($0 * 4096)..<($0 * 4096 + 4096)] != new[($0 * 4096)..<($0 * 4096 + 4096)]
            }
            #expect(!pages.isEmpty)
            for page in pages {
                var mixed = new
                mixed.replaceSubrange(
                    (page * 4096)..<(page * 4096 + 4096), with: old[(page * 4096)..<(page * 4096 + 4096)])
                var contents = after
                contents[store] = mixed
                try contents.restore(to: path)
                #expect(throws: (any Error).self, "page \(page), round \(round), seed \(random.seed)") {
                    let vault = try EmbeddedVault.open(at: path)
                    let report = try vault.verify(as: .owner)
                    if report.problems.isEmpty { return }
                    throw CancellationError()
                }
                #expect(refusesTheOldItem(changed), "page \(page), round \(round), seed \(random.seed)")
            }
            // The pages alone, without their index.
            var contents = after
            contents[store] = old
            try contents.restore(to: path)
            #expect(refusesTheOldItem(changed), "round \(round), seed \(random.seed)")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func anOlderStoreUnderANewerKeybagIsRefused() throws {
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("s", "a", "old"), as: .app)
        vault.close()
        let before = try files()
        let again = try EmbeddedVault.open(at: path)
        _ = try again.put(.password("s", "a", "new"), as: .app)
        try again.setPasscode(.test("first"), options: .cheapest, as: .owner)
        again.close()
        try putBack(before)
        expectOlder()
    }

    @Test func anUnlockingTellsTheKeybag() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        _ = try vault.add(Self.always("a", "old"), as: .app)
        vault.close()
        let before = try files()
        let again = try EmbeddedVault.open(at: path)
        _ = try again.add(Self.always("b", "value"), as: .app)
        try again.unlock(with: .test("first"), as: .owner)
        again.close()
        try putBack(before)
        expectOlder()
        // What was put back with its keybag is not noticed without a counter.
        try before.restore(to: path)
        #expect(throws: Never.self) { try EmbeddedVault.open(at: path) }
    }

    /// Puts back the item store alone.
    private func putBack(_ before: FolderContents) throws {
        var contents = try files()
        for name in contents.entries.keys where name.hasPrefix("items-") { contents[name] = nil }
        for (name, entry) in before.entries where name.hasPrefix("items-") { contents[name] = entry.bytes }
        try contents.restore(to: path)
    }

    private func expectOlder(_ place: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: VaultError.self, sourceLocation: place) { try EmbeddedVault.open(at: path) }
        #expect(
            error?.description.contains("older copy") == true, "\(String(describing: error))", sourceLocation: place)
    }

    /// The files are overwritten in place, so that the program keeps them open.
    @Test func anOlderStoreUnderAnOpenVaultIsRefused() throws {
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.add(.password("s", "a", "old"), as: .app)
        vault.close()
        let before = try files()
        let open = try EmbeddedVault.open(at: path)
        _ = try open.put(.password("s", "a", "new"), as: .app)
        for (name, entry) in before.entries where name.hasPrefix("items-") {
            try FolderContents.write(#require(entry.bytes), to: path + "/" + name)
        }
        truncate(try ItemStoreFile.path(inVault: path) + "-wal", 0)
        #expect(throws: VaultError.self) {
            let found = try open.items(.password("s", "a"))
            // SQLite may still have the page.
            if found.map(\.value) == [Data("new".utf8)] { _ = try open.put(.password("s", "b", "value"), as: .app) }
        }
    }

    @Test func anOlderFolderIsRefusedWhereATPMCounts() throws {
        let tpm = try SoftwareTPM()
        func open() throws -> EmbeddedVault {
            try EmbeddedVault.open(at: path, in: .tpm2, detectsRollback: true, enclaves: EnclavePlace(tpm: tpm.address))
        }
        let vault = try open()
        try vault.setPasscode(.test("first"), options: .cheapest, as: .owner)
        _ = try vault.add(Self.always("a", "old"), as: .app)
        vault.close()
        let before = try files()
        let again = try open()
        _ = try again.put(Self.always("a", "new"), as: .app)
        try again.unlock(with: .test("first"), as: .owner)
        again.close()
        let after = try files()
        #expect(before["keybag"] != after["keybag"])
        try before.restore(to: path)
        let error = #expect(throws: VaultError.self) { try open() }
        #expect(error?.description.contains("older copy") == true, "\(String(describing: error))")
        try after.restore(to: path)
        let last = try open()
        try last.unlock(with: .test("first"), as: .owner)
        #expect(try last.items(.password("s", "a")).map(\.value) == [Data("new".utf8)])
        // Nothing was stored since: the counter, which wears out, stays where it is.
        #expect(try files()["keybag"] == after["keybag"])
    }

    /// A checkpoint has written some pages of the file when its program is killed, and the index knows nothing of them.
    @Test func aKilledCheckpointIsNoOlderStore() throws {
        let vault = try EmbeddedVault.open(at: path)
        for number in 0..<40 {
            let value = String(repeating: "x", count: 3_000)
            _ = try vault.add(.password("s", "\(number)", value), as: .app)
        }
        let during = try files()
        vault.close()
        let after = try files()
        let store = try ItemStoreFile.name(inVault: path)
        let (old, new) = (try #require(during[store]), try #require(after[store]))
        #expect(during[store + "-wal"]?.isEmpty == false)
        for pages in [1, 2, new.count / 4096 / 2, new.count / 4096] {
            var contents = during
            contents[store] = new.prefix(pages * 4096) + old.dropFirst(pages * 4096)
            contents[store + "-shm"] = nil
            try contents.restore(to: path)
            let opened = try EmbeddedVault.open(at: path)
            #expect(try opened.items(.password("s", limit: nil)).count == 40, "\(pages)")
            #expect(try opened.verify(as: .owner).problems.isEmpty)
            opened.close()
        }
    }

    /// Programs that do as they should are never refused, whatever they do at the same time.
    @Test func honestProgramsAreNeverRefused() throws {
        for _ in 0..<TestScale.count(2, soak: 1_000) {
            try EmbeddedVault.open(at: path).close()
            let workers = try (0..<8).map { _ in try Worker(["churn", path, "3"]) }
            for worker in workers { #expect(worker.readLine() == "ready") }
            for worker in workers { worker.cue() }
            for worker in workers {
                #expect(worker.remainingLines() == ["done"])
                #expect(worker.wait() == 0)
            }
            let vault = try EmbeddedVault.open(at: path)
            #expect(try vault.verify(as: .owner).problems.isEmpty)
            #expect(try vault.items(.password("churn", limit: nil)).count == workers.count)
            vault.close()
            try FileManager.default.removeItem(atPath: path)
        }
    }
}
