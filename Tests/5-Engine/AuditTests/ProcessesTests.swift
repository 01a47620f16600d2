import Access
import Audit
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A log that several processes write to, and one that runs out of room.
@Suite struct ProcessesTests {
    private func audited(_ folder: TemporaryFolder) throws -> EmbeddedVault {
        var limits = AuditLimits()
        limits.patience = Patience.duration
        let vault = try EmbeddedVault.open(
            at: folder.path(of: "vault"), surroundings: VaultSurroundings(audit: AuditLog(limits: limits)))
        _ = try vault.add(.password("s", "a", "value"), as: .app)
        return vault
    }

    @Test func manyProcessesAppendAtOnce() throws {
        let folder = try TemporaryFolder()
        let vault = try audited(folder)
        let workers = try (0..<4).map { _ in try Worker(["audit", folder.path(of: "vault"), "50"]) }
        for worker in workers { #expect(worker.readLine() == "ready") }
        for worker in workers { worker.cue() }
        for worker in workers { #expect(worker.readToEnd().count == 50 && worker.wait() == 0) }
        let records = try vault.auditRecords(AuditQuery(), as: .owner)
        #expect(records.filter { $0.event == "read" && $0.items == 1 }.count == 200)
        for log in [nil, "looks"] {
            let numbers = records.filter { $0.log == log }.map(\.sequence)
            #expect(numbers == Array(1...UInt64(clamping: numbers.count)))
        }
        #expect(try vault.verifyAudit(as: .owner) == AuditReport(records: records.count + 1))
    }

    /// What a process said it had read is on record, whenever it is killed.
    @Test func killedProcessesLoseNothingThatTheySaid() throws {
        let folder = try TemporaryFolder()
        let vault = try audited(folder)
        var random = SeededGenerator()
        var said = 0
        for _ in 0..<TestScale.count(8, soak: 300) {
            let worker = try Worker(["audit", folder.path(of: "vault"), "1000000"])
            #expect(worker.readLine() == "ready")
            worker.cue()
            // After so many reads, and wherever it is in one that comes later.
            worker.waitForOutput(2 + random.int(below: 20))
            usleep(UInt32(truncatingIfNeeded: random.int(below: 2_000)))
            worker.kill()
            worker.wait()
            said += worker.readToEnd().count
        }
        let reads = try vault.auditRecords(AuditQuery(), as: .owner).filter { $0.event == "read" }
        #expect(said > 8 && reads.count >= said && reads.count <= said + TestScale.count(8, soak: 300))
        #expect(try vault.verifyAudit(as: .owner).problems == [])
    }

    /// A daemon that is killed has recorded every change and every first refusal before it answered.
    @Test func aKilledDaemonLosesNothingThatItPromised() throws {
        let folder = try TemporaryFolder()
        let vault = try audited(folder)
        var random = SeededGenerator()
        var said = 0
        let rounds = TestScale.count(6, soak: 300)
        for round in 0..<rounds {
            let worker = try Worker(["audit-daemon", folder.path(of: "vault"), "\(round)"])
            #expect(worker.readLine() == "ready")
            worker.cue()
            worker.waitForOutput(2 + random.int(below: 20))
            usleep(UInt32(truncatingIfNeeded: random.int(below: 2_000)))
            worker.kill()
            worker.wait()
            said += worker.readToEnd().count
        }
        let records = try vault.auditRecords(AuditQuery(), as: .owner)
        let changes = records.filter { $0.event == "written" && $0.client == "app" }.count - 1
        #expect(said > 2 * rounds && changes >= said && changes <= said + rounds)
        // Each daemon's first refusal; the repeats were counted, and that number went with the daemon.
        #expect(records.filter { $0.event == "refused" && $0.count == nil }.count == rounds)
        #expect(try vault.verifyAudit(as: .owner).problems == [])
    }

    /// Wherever a process is killed while it appends and anchors, nothing that it said is lost, and nothing looks like
    /// a forgery.
    @Test func killedUnlockingsLeaveNoTraceOfAForgery() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let vault = try audited(folder)
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        var random = SeededGenerator()
        var said = 0
        let rounds = TestScale.count(10, soak: 300)
        for _ in 0..<rounds {
            let worker = try Worker(["audit-unlocks", path, "1000000", "1"])
            #expect(worker.readLine() == "ready")
            worker.cue()
            worker.waitForOutput(2 + random.int(below: 3))
            usleep(UInt32(truncatingIfNeeded: random.int(below: 30_000)))
            worker.kill()
            worker.wait()
            said += worker.readToEnd().count
            #expect(try vault.verifyAudit(as: .owner).problems == [], "\(random)")
        }
        try vault.unlock(with: SecretBytes("right"), as: .owner)
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == [])
        let records = try vault.auditRecords(AuditQuery(), as: .owner)
        let changes = records.filter { $0.event == "written" }.count - 1
        #expect(said >= 2 * rounds && changes >= said && changes <= said + rounds)
        #expect(records.filter { $0.failure != nil } == [])
        #expect(try vault.verifyAudit(as: .owner).problems == [])
    }

    @Test func processesAppendAndUnlockAtOnce() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let vault = try audited(folder)
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        let count = TestScale.count(10, soak: 200)
        let workers =
            try (0..<2).map { _ in try Worker(["audit-unlocks", path, "\(count)", "1"]) }
            + (0..<2).map { _ in try Worker(["audit-unlocks", path, "\(5 * count)", "\(5 * count)"]) }
        for worker in workers { #expect(worker.readLine() == "ready") }
        for worker in workers { worker.cue() }
        for worker in workers { #expect(worker.readToEnd().count >= count && worker.wait() == 0) }
        try vault.unlock(with: SecretBytes("right"), as: .owner)
        #expect(try vault.perform(ReadUnlockFindings(), as: .owner) == [])
        #expect(try vault.verifyAudit(as: .owner).problems == [])
        let records = try vault.auditRecords(AuditQuery(), as: .owner)
        #expect(records.filter { $0.event == "unlocked" }.count == 2 * count + 3)
        #expect(records.compactMap(\.missed) == [])
    }

    @Test func aFullDiskStopsTheLogAndNotTheVault() throws {
        let folder = try TemporaryFolder()
        let vault = try audited(folder)
        let worker = try Worker(["audit-limited", folder.path(of: "vault"), "6000"])
        let lines = worker.remainingLines()
        #expect(worker.wait() == 0)
        let missed = try #require(lines.first?.split(separator: " ").last.flatMap { Int($0) })
        #expect(missed > 20 && missed < 50)
        #expect(lines.last == "missed 0")
        let records = try vault.auditRecords(AuditQuery(), as: .owner)
        #expect(records.filter { $0.event == "read" }.count == 51 - missed)
        #expect(records.compactMap(\.missed) == [missed])
        #expect(try vault.verifyAudit(as: .owner).missedEvents == missed)
        #expect(try vault.verifyAudit(as: .owner).problems == [])
    }
}
