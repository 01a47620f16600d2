import Foundation
import GRDB
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Many processes and threads on one vault folder.
@Suite(.serialized) struct SoakConcurrencyTests {
    @Test func noUpdateIsLost() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let plan = ContentionPlan(
            processes: TestScale.count(3, soak: 8), threads: TestScale.count(4, soak: 8),
            itemsPerThread: TestScale.count(20, soak: 1563), counters: TestScale.count(2, soak: 6))

        let workers = try (0..<plan.processes).map { try Worker(plan.arguments(path: path, process: $0)) }
        for worker in workers { #expect(worker.readLine() == "ready") }
        for worker in workers { worker.cue() }
        var increments: [Int: Int] = [:]
        var winners: [String: [String]] = [:]
        for worker in workers {
            let lines = worker.remainingLines()
            #expect(lines.last == "done")
            for line in lines.dropLast() {
                let words = line.split(separator: " ").map(String.init)
                if words[0] == "increments", let counter = Int(words[1]), let count = Int(words[2]) {
                    increments[counter, default: 0] += count
                } else {
                    winners[words[1], default: []].append("\(words[2]) \(words[3])")
                }
            }
        }

        let vault = try EmbeddedVault.open(at: path)
        for counter in 0..<plan.counters {
            let value = try vault.items(.password("counter \(counter)")).first?.value
            #expect(value == Data("\(increments[counter] ?? 0)".utf8))
        }
        let contested = try vault.items(.password(ContentionPlan.contested, limit: nil))
        #expect(contested.count == (plan.itemsPerThread + 7) / 8)
        for item in contested {
            guard case .string(let account)? = item.attributes[.account] else { continue }
            #expect(winners[account]?.map { Data($0.utf8) } == [item.value ?? Data()])
        }
        let expected = plan.itemsLeft.mapValues { Data($0.utf8) }
        for process in 0..<plan.processes {
            for thread in 0..<plan.threads {
                let found = try vault.items(.password(plan.service(process: process, thread: thread), limit: nil))
                let left = Dictionary(found.map { ($0.accountName, $0.value) }, uniquingKeysWith: { _, _ in nil })
                #expect(left == expected)
            }
        }
        let total = expected.count * plan.processes * plan.threads + contested.count + plan.counters
        let report = try vault.verify(as: .owner)
        #expect(report == IntegrityReport(validItems: total, lockedItems: 0, problems: []))
        try expectSoundStore(in: path)
    }

    @Test func oneOfManyMakesTheVault() throws {
        for _ in 0..<TestScale.count(2, soak: 50) {
            let folder = try TemporaryFolder()
            let path = folder.path(of: "parent/vault")
            let names = (0..<16).map { "process \($0)" }
            let workers = try names.map { try Worker(["join", path, $0]) }
            for worker in workers { #expect(worker.readLine() == "ready") }
            for worker in workers { worker.cue() }
            for worker in workers { #expect(worker.remainingLines() == ["joined"]) }
            let vault = try EmbeddedVault.open(at: path)
            let found = try vault.items(.password("joined", limit: nil))
            #expect(Set(found.map(\.accountName)) == Set(names))
            #expect(try vault.verify(as: .owner).problems.isEmpty)
        }
    }

    /// The last process to close removes files that another one is about to look at.
    @Test func openingMeetsClosing() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let workers = try (0..<4).map { _ in try Worker(["churn", path, "\(TestScale.count(25, soak: 500))"]) }
        for worker in workers { #expect(worker.readLine() == "ready") }
        for worker in workers { worker.cue() }
        for worker in workers { #expect(worker.remainingLines() == ["done"]) }
        #expect(try EmbeddedVault.open(at: path).items(.password("churn", limit: nil)).count == workers.count)
        try expectSoundStore(in: path)
    }
}
