import DatabaseVFS
import Foundation
import GRDB
import Glibc
import SQLCipherFiles
import TestSupport
import Testing

/// No row is in any byte of the folder, whatever SQLite is doing.
@Suite struct DatabaseCanaryTests {
    private static let canary = Data("canary-".utf8)

    private func expectNothing(_ database: DatabaseUnderTest, _ moment: String) throws {
        for (name, bytes) in try database.files() {
            #expect(bytes.range(of: Self.canary) == nil, "\(name) \(moment)")
            #expect(bytes.range(of: Data("CREATE TABLE".utf8)) == nil, "\(name) \(moment)")
        }
        // SQLite's temporary files have no name any more, but a descriptor.
        let folder = "/proc/self/fd"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name)) ?? ""
            // Those of plain databases, which other tests have open, hold other rows.
            guard target.contains("etilqs"), let bytes = contents(ofDescriptor: folder + "/" + name) else { continue }
            #expect(bytes.range(of: Self.canary) == nil, "\(target) \(moment)")
        }
    }

    /// What a file has; nil if the descriptor is another one meanwhile, such as a pipe's, that another test has opened.
    private func contents(ofDescriptor path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
        return try? file.readToEnd() ?? Data()
    }

    @Test(arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST"], [nil, CipherFormat.Version.four])
    func tenThousandRows(journal: String, cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try database.queue { db in
            try db.execute(
                sql:
                    "PRAGMA journal_mode = \(journal); PRAGMA cache_size = 20; PRAGMA cache_spill = 20; PRAGMA temp_store = FILE"
            )
        }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
            for id in 0..<10_000 {
                try db.execute(
                    sql: "INSERT INTO t VALUES(?, ?)",
                    arguments: [id, "canary-\(id) " + String(repeating: "z", count: 60)])
                if id == 5000 { try expectNothing(database, "while rows are written") }
            }
        }
        try expectNothing(database, "after rows were written")
        try queue.write { db in
            try db.execute(sql: "UPDATE t SET text = text || ' changed'")
            try expectNothing(database, "while rows are changed")
            try db.execute(sql: "CREATE TEMP TABLE copy AS SELECT * FROM t")
            try db.execute(sql: "CREATE INDEX i ON t(text)")
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM t ORDER BY text || id DESC")
            #expect(try cursor.next() != nil)
            try expectNothing(database, "while rows are sorted")
        }
        try queue.vacuum()
        try expectNothing(database, "after a vacuum")
        _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try queue.close()
        try expectNothing(database, "when all is closed")
        #expect(
            try database.queue().read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE text LIKE 'canary%'") }
                == 10_000)
    }
}
