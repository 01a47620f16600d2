import DatabaseVFS
import Foundation
import GRDB
import SQLCipherFiles
import TestSupport
import Testing

/// Processes that write at the same time, and processes that are killed.
@Suite struct SoakDatabaseInterruptionTests {
    private func worker(
        _ database: DatabaseUnderTest, journal: String, task: String, rounds: Int, number: Int,
        cipher: CipherFormat.Version? = nil
    ) throws -> Worker {
        let program = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
            .appendingPathComponent("DatabaseWorker").path
        return try Worker(
            [database.path, journal, task, "\(rounds)", "\(number)"] + (cipher.map { ["\($0.rawValue)"] } ?? []),
            command: program)
    }

    @Test(arguments: ["WAL", "DELETE", "PERSIST"], [nil, CipherFormat.Version.four])
    func processesWriteAtOnce(journal: String, cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest.forWorkers(journal, cipher: cipher)
        let rounds = TestScale.count(15, soak: 300)
        let workers = try (0..<3).map {
            try worker(database, journal: journal, task: "plain", rounds: rounds, number: $0, cipher: cipher)
        }
        for worker in workers {
            let lines = worker.remainingLines()
            #expect(lines.last == "done", "\(lines.last ?? "")")
        }
        let queue = try database.queue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kept") } == 3 * rounds)
        #expect(try queue.integrity() == "ok")
    }

    @Test(
        arguments: [
            ("WAL", "plain"), ("WAL", "spill"), ("WAL", "quick"), ("DELETE", "plain"), ("DELETE", "spill"),
            ("DELETE", "quick"), ("TRUNCATE", "spill"), ("PERSIST", "spill"), ("PERSIST", "quick"),
        ], [nil, CipherFormat.Version.four])
    func killedWritersLoseNothing(_ work: (journal: String, task: String), cipher: CipherFormat.Version?) throws {
        let (journal, task) = work
        var generator = SeededGenerator()
        let database = try DatabaseUnderTest.forWorkers(journal, cipher: cipher)
        var acknowledged: [Int: Int] = [:]
        for round in 0..<TestScale.count(2, soak: 200) {
            // Two at once in turn with one that has the file to itself.
            let workers = try (0...(round % 2)).map { index in
                try worker(
                    database, journal: journal, task: task, rounds: 1_000_000, number: round * 2 + index,
                    cipher: cipher)
            }
            let wanted = 1 + generator.int(below: 12)
            for _ in 0..<wanted { _ = workers[0].readLine() }
            usleep(UInt32(generator.int(below: 3000)))
            for worker in workers { worker.kill() }
            for (index, worker) in workers.enumerated() {
                let lines = worker.remainingLines()
                #expect(!lines.contains { $0.hasPrefix("failed") }, "\(lines.last ?? "")")
                worker.wait()
                let last = lines.compactMap(Int.init).max() ?? (index == 0 ? wanted - 1 : -1)
                acknowledged[round * 2 + index] = last
            }
            for (name, bytes) in try database.files() {
                #expect(bytes.range(of: Data("canary".utf8)) == nil, "\(name)")
            }
            let queue = try database.queue()
            #expect(
                try queue.integrity() == "ok",
                "seed \(generator.seed), \(database.registration.takeFailure()?.description ?? "")")
            let rows = try queue.read {
                try Row.fetchAll($0, sql: "SELECT worker, max(round), count(*) FROM kept GROUP BY worker")
            }
            let kept = Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as Int, ($0[1] as Int, $0[2] as Int)) })
            for (number, last) in acknowledged where last >= 0 {
                #expect(kept[number]?.0 ?? -1 >= last, "worker \(number), seed \(generator.seed)")
                #expect((kept[number]?.0 ?? -1) + 1 == kept[number]?.1)
            }
            try queue.close()
        }
        // Every page can be read, also those that nothing refers to.
        let copy = try DatabaseUnderTest("copy.db", in: database.folder, cipher: cipher)
        let source = try database.queue()
        let destination = try copy.queue()
        #expect(throws: Never.self, "\(database.registration.takeFailure()?.description ?? "")") {
            try source.backup(to: destination)
        }
        #expect(try destination.integrity() == "ok")
    }
}
