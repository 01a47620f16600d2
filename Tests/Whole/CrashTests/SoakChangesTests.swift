import Foundation
import Glibc
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// Nobody who follows the changes of a vault misses one or learns of one twice, whoever writes and is killed meanwhile.
@Suite(.serialized) struct SoakChangesTests {
    private static let (processes, threadsOfProcess, ownThreads) = (8, 6, 16)

    /// Somebody who asks for changes again and again.
    private struct Follower {
        var next: Int64 = 0
        /// The version of each item that is there.
        var items: [UUID: Int64] = [:]
        /// The last change of each item that was told.
        private var last: [UUID: Int64] = [:]
        private(set) var answers = 0

        mutating func follow(_ vault: EmbeddedVault) throws {
            let (changed, known) = try vault.changes(since: next, as: .owner)
            #expect(known.isComplete && known.next >= next)
            answers += 1
            var told: Set<UUID> = []
            for item in changed {
                #expect(item.change > next && item.change <= known.next)
                // A later answer has later changes.
                #expect(item.change > last[item.identifier] ?? 0, "\(item) was told before")
                if item.isDeleted {
                    items[item.identifier] = nil
                } else {
                    #expect(told.insert(item.identifier).inserted, "\(item) twice in an answer")
                    #expect(item.version > items[item.identifier] ?? 0)
                    items[item.identifier] = item.version
                }
                last[item.identifier] = item.change
            }
            next = known.next
        }
    }

    /// Writers that are threads of this process, until the end.
    private final class OwnWriters: Sendable {
        private let isEnded = Atomic(false)
        private let failures = Mutex<[String]>([])
        private let group = DispatchGroup()

        init(_ vault: EmbeddedVault, count: Int, seed: UInt64) {
            for number in 0..<count {
                group.enter()
                Thread.detachNewThread { [self] in
                    defer { group.leave() }
                    var script = WriteScript(seed: seed &+ UInt64(number))
                    do {
                        while !isEnded.load(ordering: .relaxed) { try script.perform(script.next(), on: vault) }
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
        }

        func end() -> [String] {
            isEnded.store(true, ordering: .relaxed)
            group.wait()
            return failures.withLock { $0 }
        }
    }

    @Test func followersLoseAndRepeatNothing() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let vault = try EmbeddedVault.open(at: path)
        _ = try vault.keepVersions(2, as: .owner)
        var random = SeededGenerator()
        func startWorker() throws -> Worker {
            let worker = try Worker(["write-threads", path, "\(random.next() >> 1)", "\(Self.threadsOfProcess)"])
            worker.waitForOutput()
            return worker
        }
        let own = OwnWriters(vault, count: Self.ownThreads, seed: random.next())
        var workers = try (0..<Self.processes).map { _ in try startWorker() }
        // One always asks, one sometimes, and one only at the end.
        var (eager, casual, late) = (Follower(), Follower(), Follower())
        for round in 0..<TestScale.count(5, soak: 200) {
            for _ in 0...random.int(below: 8) { try eager.follow(vault) }
            let killed = random.int(below: workers.count)
            workers[killed].kill()
            try eager.follow(vault)
            workers[killed].wait()
            workers[killed] = try startWorker()
            if round.isMultiple(of: 3) { try casual.follow(vault) }
        }
        for worker in workers { worker.kill() }
        for worker in workers { worker.wait() }
        #expect(own.end() == [])

        // What the dead have committed is told, and nothing else.
        let reader = try EmbeddedVault.open(at: path)
        try eager.follow(reader)
        try casual.follow(reader)
        try late.follow(reader)
        let query = ItemQuery(itemClass: .genericPassword, synchronizable: .any)
        let items = try reader.copy(query, includingValues: false, as: .owner)
        let present = Dictionary(uniqueKeysWithValues: items.map { ($0.identifier, $0.version) })
        #expect(eager.items == present, "seed \(random.seed)")
        #expect(casual.items == present, "seed \(random.seed)")
        #expect(late.items == present, "seed \(random.seed)")
        #expect(eager.next == casual.next && eager.next == late.next && eager.answers > casual.answers)
        let before = eager.next
        try eager.follow(reader)
        #expect(eager.next == before)

        let report = try reader.verify(as: .owner)
        #expect(report.problems.isEmpty && report.validItems == items.count, "seed \(random.seed)")
        reader.close()
        vault.close()
        try expectSoundStore(in: path)
    }
}
