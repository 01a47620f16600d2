import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

/// Processes that are killed in the middle.
@Suite(.serialized) struct SoakKillTests {
    private static let program =
        URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "ProtectedDatabaseWorker").path

    private func start(_ folder: TemporaryFolder, _ arguments: String...) throws -> Worker {
        try Worker(
            ["KEYCHAIN_HOME=\(folder.path(of: "vault"))", "KEYCHAIN_MODE=embedded", Self.program] + arguments,
            command: "env")
    }

    /// The database is the former one or the new one, whole, and the next one who comes finishes.
    @Test func conversions() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "app.db")
        let rows = TestScale.count(4_000, soak: 100_000)
        let plain = try DatabaseQueue(path: path)
        try plain.write { db in
            try Notes.fill(db, rows)
            // So much that most of the time goes into copying: 200 MB in a soak run.
            try db.execute(
                sql: """
                    CREATE TABLE entry (id INTEGER PRIMARY KEY, process INTEGER);
                    CREATE TABLE ballast (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
                    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                    INSERT INTO ballast SELECT n, randomblob(20000) FROM number
                    """, arguments: [TestScale.count(100, soak: 10_000)])
        }
        try plain.close()
        var generator = SeededGenerator()
        var seen: [String: Int] = [:]
        var written = Set<Int>()
        for _ in 0..<TestScale.count(8, soak: 500) {
            let worker = try start(folder, "convert", path)
            usleep(UInt32.random(in: 0...UInt32(TestScale.count(400_000, soak: 3_000_000)), using: &generator))
            worker.kill()
            for line in worker.remainingLines() {
                if let number = Int(line) { written.insert(number) } else { seen[line, default: 0] += 1 }
            }
            worker.wait()
            try check(folder, path, rows, written)
        }
        #expect(seen.keys.allSatisfy { ["plain", "encrypted", "changed", "sqlcipher"].contains($0) }, "\(seen)")
        // Whoever goes on leaves nothing behind.
        let last = try start(folder, "convert", path)
        var line = ""
        while line != "changed" { line = last.readLine() ?? "changed" }
        last.kill()
        last.wait()
        try check(folder, path, rows, written)
        print("killed on the way, which got to: \(seen), and wrote \(written.count) rows")
    }

    private func check(_ folder: TemporaryFolder, _ path: String, _ rows: Int, _ written: Set<Int>) throws {
        let magic = try FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: 16) ?? Data()
        if magic.starts(with: Data("SQLite format 3".utf8)) {
            let plain = try DatabaseQueue(path: path)
            try plain.read { db in
                #expect(try Notes.count(db) == rows)
                #expect(written.isSubset(of: try Int.fetchSet(db, sql: "SELECT id FROM entry")))
                try Notes.check(db)
            }
            try plain.close()
        } else {
            let reader = try start(folder, "count", path)
            let lines = reader.remainingLines()
            #expect(lines.first == "notes \(rows)" && lines.last == "done", "\(lines.prefix(3))")
            #expect(written.isSubset(of: Set(lines.compactMap { Int($0) })))
            reader.wait()
        }
    }

    /// What was acknowledged is there, several processes write at the same time, and nothing is in the clear.
    @Test(arguments: ["pool", "queue"]) func writers(_ mode: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "app.db")
        var acknowledged = Set<Int>()
        var generator = SeededGenerator()
        for _ in 0..<TestScale.count(4, soak: 150) {
            let writers = try (0..<2).map { _ in try start(folder, "insert", path, mode) }
            // Killed when the first has written so often, however long that takes, and in the middle of whatever both
            // are about.
            let wanted = 1 + generator.int(below: TestScale.count(20, soak: 60))
            let first = (0..<wanted).compactMap { _ in writers[0].readLine() }
            usleep(UInt32.random(in: 0..<5_000, using: &generator))
            for writer in writers { writer.kill() }
            for (number, writer) in writers.enumerated() {
                for line in (number == 0 ? first : []) + writer.remainingLines() {
                    let number = try #require(Int(line), "\(line)")
                    #expect(acknowledged.insert(number).inserted)
                }
                writer.wait()
            }
            #expect(try !isFound("a canary that sings", in: folder))
        }
        let counting = try start(folder, "insert", path, mode)
        // On a busy machine the others may all have been killed before their first.
        let line = counting.readLine()
        acknowledged.insert(try #require(line.flatMap { Int($0) }))
        counting.kill()
        counting.wait()
        #expect(acknowledged.count > 0)
        let rows = try start(folder, "rows", path)
        let found = Set(rows.remainingLines().compactMap { Int($0) })
        #expect(rows.wait() == 0)
        #expect(acknowledged.isSubset(of: found))
    }

    /// Whether any file of the folder has the text.
    private func isFound(_ text: String, in folder: TemporaryFolder) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).contains { name in
            FileManager.default.contents(atPath: folder.path(of: name))?.range(of: Data(text.utf8)) != nil
        }
    }
}
