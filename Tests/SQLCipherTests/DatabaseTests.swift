import Bytes
import Foundation
import KeychainModel
import SQLCipherWire
import TestSupport
import Testing

@testable import SQLCipherService

@Suite struct DatabaseTests {
    @Test func valuesComeBack() throws {
        let file = try CipherFile()
        let database = try file.create()
        try database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v); -- a comment\nCREATE INDEX i ON t (v);")
        let values: [SQLValue] = [
            .null, .integer(.min), .integer(.max), .real(0.1), .real(-.infinity), .string(""),
            .string("Grüße\u{1F511}"),
            .text([0x61, 0, 0x62]), .text([0xFF, 0xFE]), .blob([]), .blob([0, 1, 2, 0xFF]),
            .blob([UInt8](repeating: 7, count: 3_000_000)),
        ]
        for (index, value) in values.enumerated() {
            let done = try database.execute("INSERT INTO t VALUES (?, ?)", [.integer(Int64(index)), value])
            #expect(done.changes == 1 && done.lastInsertedRowid == Int64(index))
        }
        #expect(try database.rows("SELECT v FROM t ORDER BY id").flatMap { $0 } == values)
        try database.close()
        #expect(throws: SQLCipherError.misused(reason: "the database is closed")) { try database.rows("SELECT 1") }

        let again = try file.open(readOnly: true)
        #expect(try again.rows("SELECT v FROM t ORDER BY id").flatMap { $0 } == values)
        #expect(try again.integrityProblems() == [])
        #expect(code { try again.execute("DELETE FROM t") } == .readOnly)
        #expect(try !file.data.starts(with: Data("SQLite format 3".utf8)))
    }

    @Test func statements() throws {
        let file = try CipherFile()
        let database = try file.create()
        #expect(code { _ = try database.rows("SELECT 1; SELECT 2") } == .statement)
        #expect(code { _ = try database.rows("SELECT ?") } == .statement)
        #expect(code { _ = try database.rows("SELEC") } == .statement)
        #expect(try database.rows("  -- nothing\n") == [])
        #expect(try database.rows("SELECT 1; -- and no more") == [[.integer(1)]])
        var names: [String] = []
        try database.forEachRow("SELECT 1 AS a, 2 AS b WHERE 0", columns: { names = $0 }) { _ in }
        #expect(names == ["a", "b"])
        try database.run("CREATE TABLE t (a UNIQUE)")
        try database.execute("INSERT INTO t VALUES (1)")
        #expect(code { try database.execute("INSERT INTO t VALUES (1)") } == .constraint)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.transaction {
                try database.execute("DELETE FROM t")
                throw Stop()
            }
        }
        #expect(try database.rows("SELECT count(*) FROM t") == [[.integer(1)]])
    }

    @Test func batchesAndStreams() throws {
        let file = try CipherFile()
        let database = try file.create()
        try database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
        try database.transaction {
            var batch = RowBatch(columns: 2)
            for index in 0..<50_000 {
                batch.append([.integer(Int64(index)), .string("row \(index)")])
                if batch.isFull { try database.executeBatch("INSERT INTO t VALUES (?, ?)", batch.take()) }
            }
            try database.executeBatch("INSERT INTO t VALUES (?, ?)", batch)
        }
        var sum: Int64 = 0
        try database.forEachRow("SELECT id, v FROM t") { sum += $0[0].integer ?? 0 }
        #expect(sum == 49_999 * 25_000)
        struct Stop: Error {}
        var seen = 0
        #expect(throws: Stop.self) {
            try database.forEachRow("SELECT id, v FROM t") { _ in
                seen += 1
                if seen == 10 { throw Stop() }
            }
        }
        #expect(seen == 10)
        // While rows are read, nothing else is; afterwards everything is.
        try database.forEachRow("SELECT 1") { _ in
            #expect(throws: SQLCipherError.self) { try database.rows("SELECT 2") }
        }
        var bad = RowBatch(columns: 2)
        bad.append([.integer(1), .null])
        try database.executeBatch("INSERT INTO t VALUES (?, ?)", bad)
        #expect(code { try database.finishBatches() } == .constraint)
        #expect(try database.rows("SELECT count(*) FROM t") == [[.integer(50_000)]])
    }

    @Test func keys() throws {
        let file = try CipherFile()
        let database = try file.create()
        try database.run("CREATE TABLE t (v); INSERT INTO t VALUES ('secret')")
        #expect(code { _ = try file.create() } == .exists)
        let other = try CipherFile.key([UInt8].random(count: 32))
        #expect(code { _ = try SQLCipherDatabase(file.path, key: other) } == .wrongKey)
        try database.changeKey(to: other)
        #expect(try database.rows("SELECT v FROM t") == [[.string("secret")]])
        try database.close()
        #expect(code { _ = try file.open() } == .wrongKey)
        let passphrase = try CipherFile.passphrase("correct horse")
        let again = try SQLCipherDatabase(file.path, key: other)
        try again.changeKey(to: passphrase)
        try again.close()
        #expect(code { _ = try SQLCipherDatabase(file.path, key: other) } == .wrongKey)
        #expect(try SQLCipherDatabase(file.path, key: passphrase).rows("SELECT v FROM t") == [[.string("secret")]])
    }

    @Test func refusedStatements() throws {
        let file = try CipherFile()
        let database = try file.create()
        let plain = file.folder.path(of: "plain")
        for statement in [
            "ATTACH '\(plain)' AS p KEY ''", "PRAGMA key = 'x'", "PRAGMA rekey = 'x'", "PRAGMA hexrekey = '00'",
            "PRAGMA cipher_use_hmac = OFF", "PRAGMA temp_store = FILE", "PRAGMA temp_store_directory = '/tmp'",
        ] {
            #expect(code { try database.run(statement) } == .refused, "\(statement)")
        }
        try database.run("CREATE TABLE t (v); INSERT INTO t VALUES (1)")
        try database.run("VACUUM")
        #expect(!FileManager.default.fileExists(atPath: plain))
        #expect(try database.rows("SELECT v FROM t") == [[.integer(1)]])
        #expect(try database.rows("PRAGMA cipher_version") == [[.string(database.library.cipherVersion)]])
    }

    /// The helper has no SQLite but SQLCipher's, and no descriptor but its own.
    @Test func helperIsAlone() throws {
        let descriptor = open("/etc/passwd", O_RDONLY)
        defer { close(descriptor) }
        let file = try CipherFile()
        let database = try file.create()
        let process = "/proc/\(database.processIdentifier)"
        guard getuid() == 0 else {
            // Other processes of the user may not look into it.
            #expect(open(process + "/maps", O_RDONLY) < 0)
            return
        }
        func contents(_ name: String) throws -> Data { try ProgramStart(["cat", "\(process)/\(name)"]).run().output }
        let maps = String(decoding: try contents("maps"), as: UTF8.self)
        #expect(maps.contains("libsqlcipher"))
        #expect(!maps.contains("libsqlite3"))
        let links = try FileManager.default.contentsOfDirectory(atPath: process + "/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: process + "/fd/" + $0)
        }
        #expect(links.filter { !$0.hasPrefix("socket:") && $0 != "/dev/null" && $0 != file.path } == [])
        for part in ["cmdline", "environ"] {
            let bytes = try contents(part)
            #expect(!bytes.isEmpty || part == "environ")
            #expect(bytes.range(of: Data(file.hexadecimal.utf8)) == nil && bytes.range(of: Data(file.bytes)) == nil)
        }
        let limits = String(decoding: try contents("limits"), as: UTF8.self)
        #expect(limits.contains(#/Max core file size +1 +1 /#))
    }

    @Test func cancelled() throws {
        let file = try CipherFile()
        let database = try file.create()
        let interruption = database.interruption
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
        // The database says so when it has worked for a while.
        database.onProgress = { interruption.interrupt() }
        #expect(code { _ = try withDeadline("cancelling") { try database.rows(endless) } } == .cancelled)
        #expect(try database.rows("SELECT 1") == [[.integer(1)]])
    }

    @Test func foreignFiles() throws {
        let file = try CipherFile()
        #expect(code { _ = try file.open() } == .notFound)
        try Data().write(to: URL(filePath: file.path))
        #expect(code { _ = try file.open() } == .damaged)
        _ = try ProgramStart(["sqlite3", file.path, "CREATE TABLE t (a)"]).run()
        #expect(code { _ = try file.open() } == .notEncrypted)
        try Data(repeating: 0x20, count: 9000).write(to: URL(filePath: file.path))
        #expect(code { _ = try file.open() } == .wrongKey)
        var newer = SQLCipherOptions()
        newer.compatibility = .four
        let fresh = try CipherFile()
        let created = code { _ = try fresh.create(newer) }
        let other = try CipherFile()
        let major = try other.create().library.cipherVersion.prefix { $0 != "." }
        #expect(created == (major == "3" ? .formatNotSupported : nil))
    }
}
