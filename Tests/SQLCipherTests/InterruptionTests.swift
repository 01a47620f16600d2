import Bytes
import Foundation
import Frames
import Glibc
import KeychainModel
import SQLCipherWire
import SystemSQLite
import TestSupport
import Testing

@testable import SQLCipherService

/// Helpers and their clients end at any moment: what was committed is there, and nothing else.
@Suite struct InterruptionTests {
    /// Kills a helper after a while, from another thread.
    private struct Killer {
        private let isDone = DispatchSemaphore(value: 0)

        init(_ process: pid_t, after microseconds: Int) {
            Thread.detachNewThread { [isDone] in
                usleep(useconds_t(microseconds))
                Glibc.kill(process, SIGKILL)
                isDone.signal()
            }
        }

        /// Until then nobody may wait for the helper's end: its number could be another process's by the time of the
        /// kill.
        func wait() { isDone.wait() }
    }

    @Test(arguments: ["DELETE", "WAL"])
    func killedWhileWriting(journal: String) throws {
        var random = SeededGenerator()
        let file = try CipherFile()
        var database = try file.create()
        _ = try database.rows("PRAGMA journal_mode = \(journal)")
        try database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
        var committed: Int64 = 0
        for round in 0..<TestScale.count(8, soak: 250) {
            let killer = Killer(database.processIdentifier, after: random.int(below: 60_000))
            do {
                while true {
                    try database.transaction {
                        var rows = RowBatch(columns: 2)
                        for offset in 1...20 {
                            rows.append([
                                .integer(committed + Int64(offset)), .blob([UInt8](repeating: 9, count: 3000)),
                            ])
                        }
                        try database.executeBatch("INSERT INTO t VALUES (?, ?)", rows)
                        try database.finishBatches()
                    }
                    committed += 20
                }
            } catch {
                let error = try #require(error as? SQLCipherError)
                #expect(error == .helperEnded(status: 128 + SIGKILL), "round \(round), seed \(random.seed)")
                #expect(error.description.contains("signal 9"))
            }
            killer.wait()
            database = try file.open()
            #expect(try database.integrityProblems() == [], "round \(round), seed \(random.seed)")
            let count = try database.rows("SELECT count(*), max(id) FROM t")[0].map { $0.integer ?? 0 }
            // The last one may have been committed without its answer.
            #expect([committed, committed + 20].contains(count[0]) && count[0] == count[1], "seed \(random.seed)")
            committed = count[0]
        }
    }

    @Test func killedWhileTheKeyChanges() throws {
        var random = SeededGenerator()
        let file = try CipherFile()
        var key = try file.key
        var database = try file.create()
        try database.run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v);
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000)
                INSERT INTO t SELECT x, zeroblob(2000) FROM c;
            """)
        var changed = 0
        for round in 0..<TestScale.count(8, soak: 250) {
            let next = try CipherFile.key([UInt8].random(count: 32))
            let killer = Killer(database.processIdentifier, after: random.int(below: 150_000))
            do {
                try database.changeKey(to: next)
                changed += 1
            } catch {
                #expect(error == .helperEnded(status: 128 + SIGKILL), "round \(round), seed \(random.seed)")
            }
            killer.wait()
            // The old key or the new one, and all of the database under it.
            do {
                database = try SQLCipherDatabase(file.path, key: key)
            } catch {
                #expect(error.code == .wrongKey, "round \(round), seed \(random.seed): \(error)")
                database = try SQLCipherDatabase(file.path, key: next)
                key = next
            }
            #expect(try database.integrityProblems() == [], "round \(round), seed \(random.seed)")
            #expect(
                try database.rows("SELECT count(*), sum(length(v)) FROM t") == [[.integer(3000), .integer(6_000_000)]])
        }
    }

    /// The client's end is closed, as it is when the client is killed: the helper rolls back and ends.
    @Test func clientGone() throws {
        let file = try CipherFile()
        do {
            let database = try file.create()
            try database.run("CREATE TABLE t (v); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)")
        }
        let database = try file.open()
        #expect(try database.rows("SELECT v FROM t") == [[.integer(1)]])
        #expect(try database.integrityProblems() == [])
    }

    /// A helper in the middle of a statement without end notices that its client is gone.
    @Test func clientGoneWhileWorking() throws {
        let file = try CipherFile()
        try file.create().close()
        let frames = FrameBuffer()
        let open = OpenRequest(
            path: file.path, mode: .writing, key: try file.key, compatibility: nil, pageSizes: [4096], cacheSize: 1000,
            busyTimeout: 0)
        let endless = QueryRequest(
            sql: "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c", bindings: [])
        frames.appendFrame(.hello) { HelperHello().encode(to: frames) }
        frames.appendFrame(.open) { open.encode(to: frames) }
        frames.appendFrame(.query) { endless.encode(to: frames) }
        let worker = try Worker([], command: CipherFile.program)
        worker.send([UInt8](frames.bytes))
        worker.waitForOutput()
        worker.finishInput()
        let status = worker.wait()
        #expect(status == 0)
    }

    /// Every call after its end says why there is no helper.
    @Test func killedHelperIsToldAgain() throws {
        let file = try CipherFile()
        let database = try file.create()
        kill(database.processIdentifier, SIGKILL)
        let ended = SQLCipherError.helperEnded(status: 137)
        for _ in 0..<2 { #expect(throws: ended) { try database.rows("SELECT 1") } }
        #expect(throws: ended) { try database.run("CREATE TABLE t (v)") }
        #expect(throws: ended) { try database.close() }
    }

    @Test func killedWhileImporting() throws {
        var random = SeededGenerator()
        let file = try CipherFile()
        let source = try PlainDatabase(file.folder.path(of: "plain"))
        try source.connection.execute(
            """
            CREATE TABLE t (v);
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000)
                INSERT INTO t SELECT 'canary ' || x FROM c;
            """)
        // The helper of an import is not to be seen from here: the program in its place is killed after so many bytes.
        // It is written by another process. While this one has it open for writing, any other test may start a child,
        // which then has it open as well for a moment: too long for it to be run (ETXTBSY, execve(2)).
        let wrapper = file.folder.path(of: "helper")
        func write(_ script: String) throws {
            let made = try ProgramStart(["sh", "-c", "cat > \"$1\" && chmod 700 \"$1\"", "sh", wrapper]).run(
                input: Data(script.utf8))
            try #require(made.status == 0, "\(made.errors)")
        }
        for round in 0..<TestScale.count(4, soak: 60) {
            let seconds = Double(random.int(below: 150)) / 1000
            try write("#!/bin/sh\nexec timeout -s KILL \(seconds + 0.01) '\(CipherFile.program)'\n")
            var options = SQLCipherOptions()
            options.helper = wrapper
            do {
                try SQLCipherFile.import(source.connection, to: file.path, key: file.key, options: options)
                #expect(try file.open().rows("SELECT count(*) FROM t") == [[.integer(20_000)]])
                unlink(file.path)
            } catch let error as SQLCipherError {
                guard case .helperEnded = error else { throw error }
                #expect(access(file.path, F_OK) != 0, "round \(round), seed \(random.seed)")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: file.folder.path).sorted()
            #expect(names == ["helper", "plain"], "round \(round), seed \(random.seed)")
        }
    }

    @Test func noHelper() throws {
        let file = try CipherFile()
        var options = SQLCipherOptions()
        options.helper = "/nonexistent/keychain-sqlcipher"
        #expect(
            throws: SQLCipherError.helperMissing(
                reason: "/nonexistent/keychain-sqlcipher does not start: No such file or directory")
        ) { try file.create(options) }
        options.helper = "/bin/true"
        #expect(throws: SQLCipherError.helperEnded(status: 0)) { try file.create(options) }
        options.helper = "/bin/echo"
        #expect(throws: SQLCipherError.self) { try file.create(options) }
    }
}
