import DatabasePages
import DatabaseVFS
import Foundation
import GRDB
import TestSupport
import Testing

/// PyPI's SQLCipher and this library at work on one file.
@Suite struct CipherPeerTests {
    /// Where `Scripts/setup.sh --tests` puts what `Scripts/test-vectors.txt` names.
    private static let packages = URL(filePath: #filePath)
        .appendingPathComponent("../../../.build/test-vectors").standardizedFileURL.path
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Peer/cipher_writer.py").path
    private static let workerProgram = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("DatabaseWorker").path

    private enum Writer: CaseIterable {
        case ours, theirs
    }

    private func writer(
        _ writer: Writer, _ database: DatabaseUnderTest, _ journal: String, task: String, rounds: Int, number: Int
    ) throws -> Worker {
        let work = [database.path, journal, task, "\(rounds)", "\(number)"]
        switch writer {
        case .ours: return try Worker(work + ["4"], command: Self.workerProgram)
        case .theirs:
            return try Worker(["-B", Self.script, Self.packages, "write"] + work, command: "/usr/bin/python3")
        }
    }

    /// What SQLCipher finds in the file.
    private func check(_ database: DatabaseUnderTest) throws -> [String] {
        let run = try ProgramStart(["/usr/bin/python3", "-B", Self.script, Self.packages, "check", database.path]).run()
        try #require(run.status == 0, "\(run.errors)")
        return run.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test(arguments: ["WAL", "DELETE", "TRUNCATE"])
    func bothWriteAtOnce(journal: String) throws {
        let database = try DatabaseUnderTest.forWorkers(journal, cipher: .four)
        let rounds = TestScale.count(25, soak: 2000)
        let kinds: [Writer] = [.ours, .theirs, .ours]
        let workers = try kinds.enumerated().map { number, kind in
            try writer(kind, database, journal, task: "plain", rounds: rounds, number: number)
        }
        for (worker, kind) in zip(workers, kinds) {
            let lines = worker.remainingLines()
            #expect(lines.last == "done", "\(kind): \(lines.last ?? "")")
        }
        #expect(try check(database).prefix(2) == ["ok", ""])
        let queue = try database.queue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kept") } == 3 * rounds)
        #expect(try queue.integrity() == "ok")
    }

    /// A killed writer leaves a journal or a log. The next program recovers it.
    @Test(arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST"])
    func eachRecoversWhatTheOtherLeft(journal: String) throws {
        var generator = SeededGenerator()
        let database = try DatabaseUnderTest.forWorkers(journal, cipher: .four)
        var acknowledged: [Int: Int] = [:]
        for round in 0..<TestScale.count(4, soak: 120) {
            let kind = Writer.allCases[round % 2]
            let worker = try writer(kind, database, journal, task: "spill", rounds: 1_000_000, number: round)
            let wanted = 1 + generator.int(below: 6)
            for _ in 0..<wanted { _ = worker.readLine() }
            usleep(UInt32(generator.int(below: 6000)))
            worker.kill()
            let lines = worker.remainingLines()
            #expect(!lines.contains { $0.hasPrefix("failed") }, "\(kind): \(lines.last ?? "")")
            worker.wait()
            acknowledged[round] = lines.compactMap { Int($0) }.max() ?? wanted - 1

            var found: [Int: (last: Int, count: Int)] = [:]
            if kind == .ours {
                let lines = try check(database)
                #expect(lines.prefix(2) == ["ok", ""], "seed \(generator.seed)")
                for row in lines.dropFirst(2).map({ $0.split(separator: " ").compactMap { Int($0) } })
                where row.count == 3 { found[row[0]] = (row[1], row[2]) }
            } else {
                let queue = try database.queue()
                #expect(
                    try queue.integrity() == "ok",
                    "seed \(generator.seed), \(database.registration.takeFailure()?.description ?? "")")
                let rows = try queue.read {
                    try Row.fetchAll($0, sql: "SELECT worker, max(round), count(*) FROM kept GROUP BY worker")
                }
                for row in rows { found[row[0]] = (row[1], row[2]) }
                try queue.close()
            }
            for (number, last) in acknowledged {
                #expect(found[number]?.last ?? -1 >= last, "\(kind), worker \(number), seed \(generator.seed)")
                #expect((found[number]?.last ?? -1) + 1 == found[number]?.count)
            }
        }
    }

    @Test func otherKeysDoNotOpen() throws {
        let folder = try TemporaryFolder()
        do {
            let database = try DatabaseUnderTest(in: folder, cipher: .four)
            let queue = try database.queue()
            try queue.write { try $0.execute(sql: "CREATE TABLE t(x)") }
            try queue.close()
        }
        let database = try DatabaseUnderTest(in: folder, key: 8, cipher: .four)
        let before = try database.files()
        let error = #expect(throws: DatabaseError.self) { try database.queue() }
        #expect(error?.resultCode == .SQLITE_NOTADB)
        #expect(database.registration.takeFailure() == .wrongCipherKey(path: database.path))
        #expect(try database.files() == before)
    }

    @Test func pagesThatAreTooSmallAreRefused() throws {
        let database = try DatabaseUnderTest(cipher: .four)
        let queue = try database.queue { try $0.execute(sql: "PRAGMA page_size = 512") }
        #expect(throws: DatabaseError.self) { try queue.write { try $0.execute(sql: "CREATE TABLE t(x)") } }
        try queue.close()
        #expect(try database.bytes().isEmpty)
    }

    /// No changed byte gives other rows: they are those from before, or there is an error.
    @Test(arguments: ["WAL", "DELETE"])
    func changedBytesAreFound(journal: String) throws {
        var generator = SeededGenerator()
        let database = try DatabaseUnderTest(cipher: .four)
        let queue = try database.queue(journal: journal)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
            for id in 0..<300 {
                try db.execute(
                    sql: "INSERT INTO t VALUES(?, ?)", arguments: [id, String(repeating: "text \(id) ", count: 20)])
            }
        }
        let sql = "SELECT group_concat(id || text) FROM t"
        let expected = try queue.read { try String.fetchOne($0, sql: sql) }
        let files = try database.files().filter { !$0.key.hasSuffix("-shm") }
        try queue.close()
        for _ in 0..<TestScale.count(60, soak: 10_000) {
            var changed = files
            let name = try #require(
                files.keys.sorted().filter { !(files[$0] ?? Data()).isEmpty }.randomElement(using: &generator))
            let place = generator.int(below: changed[name]?.count ?? 1)
            changed[name]?[place] ^= UInt8(1 + generator.int(below: 255))
            try database.restore(changed)
            guard let queue = try? database.queue() else { continue }
            let found = try? queue.read { try String.fetchOne($0, sql: sql) }
            // A log ends before a frame whose checksum is wrong, as in SQLCipher: then the rows are not there at all.
            if let found { #expect(found == expected, "\(name) at \(place), seed \(generator.seed)") }
            try? queue.close()
        }
    }
}
