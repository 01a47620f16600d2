import DatabaseVFS
import Foundation
import GRDB
import SQLCipherFiles
import TestSupport
import Testing

/// SQLCipher and this library at work on one file.
@Suite struct CipherPeerTests {
    /// Where `Scripts/install/setup.sh --tests` puts what `Tests/Support/Vectors/test-vectors.txt` names.
    private static let packages = Repository.file(".build/test-vectors").path
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Peer/cipher_writer.py").path
    private static let workerProgram = URL(fileURLWithPath: Worker.executable).deletingLastPathComponent()
        .appendingPathComponent("DatabaseWorker").path

    /// Another SQLCipher.
    enum Peer: String, CaseIterable {
        /// PyPI's, of today.
        case python
        /// Debian's program, of version 3.4.1 in Debian 12.
        case debian

        var version: CipherFormat.Version { self == .python ? .four : .three }
    }

    /// Starts a process that writes; one of ours if there is no peer.
    private func writer(
        _ peer: Peer?, _ database: DatabaseUnderTest, _ version: CipherFormat.Version, _ journal: String, task: String,
        rounds: Int, number: Int
    ) throws -> Worker {
        let work = [database.path, journal, task, "\(rounds)", "\(number)"]
        switch peer {
        case nil: return try Worker(work + ["\(version.rawValue)"], command: Self.workerProgram)
        case .python:
            return try Worker(["-B", Self.script, Self.packages, "write"] + work, command: "/usr/bin/python3")
        case .debian:
            // A killed writer gets no further than a few rows.
            let rows = (0..<min(rounds, 2000)).map { Self.transaction($0, number, parts: task == "spill" ? 60 : 3) }
            let script = database.folder.path(of: "\(number).sql")
            let settings = task == "spill" ? "PRAGMA cache_size = 10; PRAGMA cache_spill = 10;\n" : ""
            let text = Self.opening + "PRAGMA journal_mode = \(journal);\n" + settings + rows.joined()
            try Data((text + "SELECT 'done';\n").utf8).write(to: URL(filePath: script))
            // Each line of the program's output is written at once.
            let worker = try Worker(
                ["-oL", "sqlcipher", "-batch", "-bail", database.path], command: "/usr/bin/stdbuf")
            worker.send([UInt8](".read \(script)\n".utf8))
            worker.finishInput()
            return worker
        }
    }

    private static let opening = """
        PRAGMA key = "x'\(String(repeating: "07", count: 32))'";
        PRAGMA cipher_page_size = 4096;
        .timeout 120000

        """

    /// What the other writers do, as a script.
    private static func transaction(_ row: Int, _ number: Int, parts: Int) -> String {
        var script = "BEGIN IMMEDIATE; INSERT INTO kept VALUES(\(number), \(row), 'canary \(number) \(row)');\n"
        for part in 0..<parts {
            let size = 500 + (row * 37 + part * 911) % 3000
            script += "INSERT INTO passing(worker, round, bytes) VALUES(\(number), \(row), zeroblob(\(size)));\n"
        }
        if row % 3 == 2 { script += "DELETE FROM passing WHERE worker = \(number) AND round < \(row - 1);\n" }
        return script + "COMMIT; SELECT \(row);\n"
    }

    /// What SQLCipher finds in the file: two integrity checks, and the workers with their last row and number of rows.
    private func check(_ database: DatabaseUnderTest, _ peer: Peer) throws -> [String] {
        let run =
            switch peer {
            case .python:
                try ProgramStart(["/usr/bin/python3", "-B", Self.script, Self.packages, "check", database.path]).run()
            case .debian:
                // It has one check. The line of the other is empty.
                try ProgramStart(["sqlcipher", "-batch", "-bail", "-separator", " ", database.path]).run(
                    input: Data(
                        (Self.opening + "PRAGMA integrity_check; SELECT '';\n"
                            + "SELECT worker, max(round), count(*) FROM kept GROUP BY worker;\n").utf8))
            }
        try #require(run.status == 0, "\(run.errors)")
        return run.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test(arguments: ["WAL", "DELETE", "TRUNCATE"], Peer.allCases)
    func bothWriteAtOnce(journal: String, peer: Peer) throws {
        let database = try DatabaseUnderTest.forWorkers(journal, cipher: peer.version)
        let rounds = TestScale.count(25, soak: 2000)
        let kinds: [Peer?] = [nil, peer, nil]
        let workers = try kinds.enumerated().map { number, kind in
            try writer(kind, database, peer.version, journal, task: "plain", rounds: rounds, number: number)
        }
        for (worker, kind) in zip(workers, kinds) {
            let lines = worker.remainingLines()
            #expect(lines.last == "done", "\(kind?.rawValue ?? "ours"): \(lines.last ?? "")")
        }
        #expect(try check(database, peer).prefix(2) == ["ok", ""])
        let queue = try database.queue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kept") } == 3 * rounds)
        #expect(try queue.integrity() == "ok")
    }

    /// A killed writer leaves a journal or a log. The next program recovers it.
    @Test(arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST"], Peer.allCases)
    func eachRecoversWhatTheOtherLeft(journal: String, peer: Peer) throws {
        var generator = SeededGenerator()
        let database = try DatabaseUnderTest.forWorkers(journal, cipher: peer.version)
        var acknowledged: [Int: Int] = [:]
        for round in 0..<TestScale.count(4, soak: 250) {
            let kind = round % 2 == 0 ? nil : peer
            let name = kind?.rawValue ?? "ours"
            let worker = try writer(
                kind, database, peer.version, journal, task: "spill", rounds: 1_000_000, number: round)
            let wanted = 1 + generator.int(below: 6)
            // Debian's program first prints the journal mode.
            for _ in 0..<(kind == .debian ? wanted + 1 : wanted) { _ = worker.readLine() }
            usleep(UInt32(generator.int(below: 6000)))
            worker.kill()
            let lines = worker.remainingLines()
            #expect(!lines.contains { $0.hasPrefix("failed") }, "\(name): \(lines.last ?? "")")
            worker.wait()
            acknowledged[round] = lines.compactMap { Int($0) }.max() ?? wanted - 1

            var found: [Int: (last: Int, count: Int)] = [:]
            if kind == nil {
                let lines = try check(database, peer)
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
                #expect(found[number]?.last ?? -1 >= last, "\(name), worker \(number), seed \(generator.seed)")
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
