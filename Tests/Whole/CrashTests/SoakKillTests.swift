import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A process that is killed at any moment leaves every write that had returned, and a vault that opens.
@Suite(.serialized) struct SoakKillTests {
    @Test func acknowledgedWritesSurvive() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        var random = SeededGenerator()
        for round in 0..<TestScale.count(10, soak: 500) {
            let seed = random.next()
            let worker = try Worker(["write", path, "\(seed)"])
            worker.waitForOutput()
            usleep(UInt32.random(in: 1_000...60_000, using: &random))
            worker.kill()
            let acknowledged = worker.readToEnd().count
            worker.wait()

            var script = WriteScript(seed: seed)
            for _ in 0..<acknowledged { _ = script.next() }
            let before = script.items
            _ = script.next()
            let vault = try EmbeddedVault.open(at: path)
            let stored = try script.stored(in: vault)
            #expect(
                stored == before || stored == script.items,
                "round \(round), seed \(random.seed), after \(acknowledged) steps of script \(seed)")
            let report = try vault.verify(as: .owner)
            #expect(report.problems.isEmpty, "round \(round), seed \(random.seed)")
        }
        try expectSoundStore(in: path)
    }

    @Test func killedCreationLeavesAFolderThatOpens() throws {
        var random = SeededGenerator()
        for round in 0..<TestScale.count(15, soak: 200) {
            let folder = try TemporaryFolder()
            let path = folder.path(of: "vault")
            let worker = try Worker(["create", path])
            #expect(worker.readLine() == "ready")
            usleep(UInt32.random(in: 0...15_000, using: &random))
            worker.kill()
            let wasStored = worker.remainingLines() == ["stored"]
            worker.wait()

            let vault = try EmbeddedVault.open(at: path)
            let found = try vault.items(.password("created"))
            #expect(!wasStored || found.count == 1, "round \(round), seed \(random.seed)")
            _ = try vault.put(.password("created", "a", "again"), as: .app)
            #expect(try vault.items(.password("created", "a")).map(\.value) == [Data("again".utf8)])
            #expect(try vault.verify(as: .owner).problems.isEmpty, "round \(round), seed \(random.seed)")
        }
    }

    @Test func killedErasureLeavesEverythingOrNothing() throws {
        var random = SeededGenerator()
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        for round in 0..<TestScale.count(10, soak: 200) {
            do {
                let vault = try EmbeddedVault.open(at: path)
                for number in 0..<20 { _ = try vault.put(.password("s", "\(number)", "value \(number)"), as: .app) }
            }
            let worker = try Worker(["erase", path])
            #expect(worker.readLine() == "ready")
            usleep(UInt32.random(in: 0...8_000, using: &random))
            worker.kill()
            let wasErased = worker.remainingLines() == ["erased"]
            worker.wait()

            let vault = try EmbeddedVault.open(at: path)
            let left = try vault.items(.password("s", limit: nil))
            #expect(left.isEmpty || (!wasErased && left.count == 20), "round \(round), seed \(random.seed)")
            for item in left { #expect(item.value == Data("value \(item.accountName)".utf8)) }
            let report = try vault.verify(as: .owner)
            #expect(report == IntegrityReport(validItems: left.count, lockedItems: 0, problems: []))
            _ = try vault.put(.password("s", "after", "value"), as: .app)
            #expect(try vault.delete(.password("s", "after", limit: nil), as: .app) == 1)
        }
    }

    /// The passcode is the one before or the one after the step that was interrupted, and the items are there.
    @Test func killedPasscodeChangeLeavesTheOldOrTheNew() throws {
        var random = SeededGenerator()
        for round in 0..<TestScale.count(10, soak: 300) {
            let folder = try TemporaryFolder()
            let path = folder.path(of: "vault")
            do {
                let vault = try EmbeddedVault.open(at: path)
                try vault.setPasscode(SecretBytes("start"), options: .cheapest, as: .owner)
                for number in 0..<5 { _ = try vault.put(.password("s", "\(number)", "value \(number)"), as: .app) }
            }
            let worker = try Worker(["passcode", path, "\(random.next())"])
            #expect(worker.readLine() == "ready")
            usleep(UInt32.random(in: 0...60_000, using: &random))
            worker.kill()
            let lines = ["start"] + worker.remainingLines()
            worker.wait()

            let vault = try EmbeddedVault.open(at: path)
            let candidates = [lines.last ?? "", "passcode \(lines.count - 1)"]
            let unlocked =
                try !vault.status(as: .owner).isPasscodeSet
                || candidates.contains { (try? vault.unlock(with: SecretBytes($0), as: .owner)) != nil }
            #expect(unlocked, "round \(round), seed \(random.seed), after \(lines)")
            #expect(try vault.items(.password("s", limit: nil)).count == 5, "round \(round), seed \(random.seed)")
            #expect(try vault.verify(as: .owner).problems.isEmpty, "round \(round), seed \(random.seed)")
        }
    }
}
