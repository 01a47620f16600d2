import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// Class keys that are renewed while programs write, and while they are killed.
@Suite struct RenewalCrashTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path(of: "vault") }

    init() throws { folder = try TemporaryFolder() }

    @Test func otherProgramsGoOn() throws {
        let vault = try EmbeddedVault.open(at: path)
        let other = try EmbeddedVault.open(at: path)
        _ = try other.add(.password("s", "before", "value"), as: .app)
        let start = try other.changes(since: 0, as: .app).known.next
        try vault.renewKeys()
        #expect(try other.items(.password("s", "before")).count == 1)
        _ = try other.add(.password("s", "after", "value"), as: .app)
        #expect(try vault.items(.password("s", limit: nil)).count == 2)
        // Which items were deleted is not known any more.
        let (_, known) = try vault.changes(since: start, as: .app)
        #expect(!known.isComplete)
        _ = try other.delete(.password("s", "after"), as: .app)
        let (changes, next) = try vault.changes(since: known.next, as: .app)
        #expect(next.isComplete && changes.map(\.isDeleted) == [true])
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    private final class Stop: Sendable { let isDone = Atomic(false) }

    @Test func writersGoOnMeanwhile() async throws {
        let vault = try EmbeddedVault.open(at: path)
        for number in 0..<TestScale.count(300, soak: 20_000) {
            _ = try vault.add(.password("many", "\(number)", "value"), as: .app)
        }
        let stop = Stop()
        let scripts = try await withThrowingTaskGroup(of: WriteScript.self) { group in
            for seed in 0..<4 {
                let own = seed.isMultiple(of: 2) ? vault : try EmbeddedVault.open(at: path)
                group.addTask {
                    var script = WriteScript(seed: UInt64(clamping: seed))
                    while !stop.isDone.load(ordering: .relaxed) { try script.perform(script.next(), on: own) }
                    return script
                }
            }
            // Also after a failure, or the writers would never end.
            defer { stop.isDone.store(true, ordering: .relaxed) }
            for _ in 0..<TestScale.count(4, soak: 20) { try vault.renewKeys() }
            stop.isDone.store(true, ordering: .relaxed)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for script in scripts { #expect(try script.stored(in: vault) == script.items) }
        #expect(try vault.items(.password("many", limit: nil)).count == TestScale.count(300, soak: 20_000))
        #expect(try vault.verify(as: .owner).problems.isEmpty)
        vault.close()
        try expectSoundStore(in: path)
    }

    /// A kill at any moment leaves the former keys in force, or the new ones, and all that was acknowledged.
    @Test func aKilledRenewalLosesNothing() throws {
        var random = SeededGenerator()
        let count = TestScale.count(40, soak: 100_000)
        // A renewal takes longer with more items, and is killed in any part of it.
        let longest = UInt32(clamping: TestScale.count(120_000, soak: 4_000_000))
        do {
            let vault = try EmbeddedVault.open(at: path)
            for number in 0..<count { _ = try vault.add(.password("many", "\(number)", "value"), as: .app) }
            vault.close()
        }
        for round in 0..<TestScale.count(12, soak: 500) {
            let seed = random.next()
            let renewing = try Worker(["renew", path])
            let writing = try Worker(["write", path, "\(seed)"])
            #expect(renewing.readLine() == "ready")
            usleep(UInt32.random(in: 1_000...longest, using: &random))
            renewing.kill()
            renewing.wait()
            usleep(UInt32.random(in: 0...20_000, using: &random))
            writing.kill()
            let acknowledged = writing.readToEnd().count
            writing.wait()

            var script = WriteScript(seed: seed)
            for _ in 0..<acknowledged { _ = script.next() }
            let before = script.items
            _ = script.next()
            let vault = try EmbeddedVault.open(at: path)
            let stored = try script.stored(in: vault)
            #expect(
                stored == before || stored == script.items,
                "round \(round), seed \(random.seed), after \(acknowledged) steps of script \(seed)")
            #expect(
                try vault.items(.password("many", limit: nil)).count == count, "round \(round), seed \(random.seed)")
            #expect(try vault.verify(as: .owner).problems.isEmpty, "round \(round), seed \(random.seed)")
            vault.close()
            let left = try FolderContents(of: path).entries.keys.filter {
                !["device-secret", "keybag", "lock"].contains($0)
                    && ![".pages", "-wal", "-shm"].contains(where: $0.hasSuffix)
                    && !$0.hasPrefix("former-keys-")
            }
            #expect(left.count == 1, "round \(round), seed \(random.seed): \(left)")
        }
        try expectSoundStore(in: path)
    }
}
