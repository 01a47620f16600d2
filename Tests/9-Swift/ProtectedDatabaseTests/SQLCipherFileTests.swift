import Foundation
import GRDB
import ProtectedDatabase
import TestSupport
import Testing

/// SQLCipher files in GRDB, also those that PyPI's SQLCipher has made.
@Suite struct SQLCipherFileTests {
    /// Where `Scripts/install/setup.sh --tests` puts what `Tests/Support/Vectors/test-vectors.txt` names.
    private static let packages = Repository.file(".build/test-vectors").path

    /// Runs statements in SQLCipher, and returns a line for each row.
    private func peer(_ path: String, _ version: Int, _ statements: [String]) throws -> [String] {
        let script = """
            import sys
            sys.path.insert(0, sys.argv[1])
            from sqlcipher3 import dbapi2
            database = dbapi2.connect(sys.argv[2], isolation_level=None)
            database.execute("PRAGMA key = 'a passphrase'")
            database.execute(f"PRAGMA cipher_compatibility = {sys.argv[3]}")
            for statement in sys.argv[4:]:
                for row in database.execute(statement): print(*row, sep="|")
            """
        let run = try ProgramStart(["/usr/bin/python3", "-c", script, Self.packages, path, "\(version)"] + statements)
            .run()
        try #require(run.status == 0, "\(run.errors)")
        return run.text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: SQLCipherOptions.Version.allCases)
    func filesGoBothWays(_ version: SQLCipherOptions.Version) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "test.db")
        var options = try SQLCipherOptions.passphrase("a passphrase")
        options.version = version
        let database = try ProtectedDatabase(path: path, sqlcipher: options)
        try database.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT) STRICT")
            try db.execute(sql: "INSERT INTO t(text) VALUES ('ours')")
        }
        try database.close()
        #expect(
            try peer(
                path, version.rawValue,
                ["PRAGMA integrity_check", "INSERT INTO t(text) VALUES ('theirs')", "SELECT count(*) FROM t"])
                == ["ok", "2"])
        // The version is found out.
        let again = try ProtectedDatabase(
            path: path, sqlcipher: .passphrase("a passphrase"), connections: .queue, creation: .never)
        #expect(
            try again.read { try String.fetchAll($0, sql: "SELECT text FROM t ORDER BY id") } == ["ours", "theirs"])
        #expect(
            try again.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == (version == .four ? 4096 : 1024))
        try again.close()
    }

    @Test func wrongKeysAndMissingFiles() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "test.db")
        let key = Data(repeating: 7, count: 32)
        #expect(throws: ProtectedDatabaseError(.fileNotFound, message: "")) {
            try ProtectedDatabase(path: path, sqlcipher: .rawKey(key), creation: .never)
        }
        let database = try ProtectedDatabase(path: path, sqlcipher: .rawKey(key))
        try database.write { try $0.execute(sql: "CREATE TABLE t(x)") }
        try database.close()
        #expect(throws: ProtectedDatabaseError(.wrongKey, message: "")) {
            try ProtectedDatabase(path: path, sqlcipher: .rawKey(Data(repeating: 8, count: 32)))
        }
        #expect(throws: ProtectedDatabaseError(.invalidRequest, message: "")) {
            try SQLCipherOptions.rawKey(Data(repeating: 8, count: 31))
        }
        var options = try SQLCipherOptions.rawKey(key)
        options.plaintextHeaderSize = 32
        #expect(throws: ProtectedDatabaseError(.invalidRequest, message: "")) {
            try ProtectedDatabase(path: path, sqlcipher: options)
        }
        let plain = folder.path(of: "plain.db")
        let queue = try DatabaseQueue(path: plain)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(x)") }
        try queue.close()
        #expect(throws: ProtectedDatabaseError(.notEncrypted, message: "")) {
            try ProtectedDatabase(path: plain, sqlcipher: .rawKey(key))
        }
    }

    @Test func filesWithPlaintextHeaders() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "test.db")
        var options = try SQLCipherOptions.rawKey(Data(0..<48))
        options.plaintextHeaderSize = 32
        let database = try ProtectedDatabase(path: path, sqlcipher: options)
        try database.write { try $0.execute(sql: "CREATE TABLE t(x); INSERT INTO t VALUES (1)") }
        try database.close()
        #expect(try Data(contentsOf: URL(filePath: path)).starts(with: Data("SQLite format 3\0".utf8)))
        let again = try ProtectedDatabase(path: path, sqlcipher: options, creation: .never)
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT x FROM t") } == 1)
        try again.close()
    }
}
