import Foundation
import SQLCipherWire
import TestSupport
import Testing

@testable import SQLCipherService

/// Files go back and forth between the helper, Debian's `sqlcipher` shell and PyPI's `sqlcipher3`.
@Suite struct PeerTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Peer/sqlcipher_peer.py").path
    /// Where `Scripts/setup.sh` puts what `Scripts/test-vectors.txt` names.
    private static let packages = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../.build/test-vectors")
        .standardizedFileURL.path

    private func peer(_ arguments: [String], _ file: CipherFile? = nil) throws -> String {
        let program = ProgramStart(["python3", "-B", Self.script, Self.packages] + arguments)
        let run = try program.run(input: Data((file?.hexadecimal ?? "").utf8))
        try #require(run.status == 0, "\(run.errors); Scripts/setup.sh --tests installs sqlcipher3")
        return run.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What a shell of version 3 has by itself or does not know, and a later one needs.
    private static func settings(_ pageSize: Int) -> String {
        "PRAGMA cipher_compatibility = 3;\nPRAGMA cipher_page_size = \(pageSize);\n"
    }

    private static var three: SQLCipherOptions {
        var options = SQLCipherOptions()
        options.compatibility = .three
        return options
    }

    private func shell(_ file: CipherFile, _ script: String, pageSize: Int = 4096) throws -> String {
        let settings = "PRAGMA key = \"x'\(file.hexadecimal)'\";\n" + Self.settings(pageSize)
        let run = try ProgramStart(["sqlcipher", "-batch", "-bail", file.path]).run(
            input: Data((settings + script).utf8))
        try #require(run.status == 0, "\(run.errors)")
        return run.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func fill(_ database: SQLCipherDatabase) throws {
        try database.run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v);
            WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c WHERE x < 999)
                INSERT INTO t SELECT x, 'row ' || x FROM c;
            """)
    }

    private static let sums: [[SQLValue]] = [[.integer(1000), .integer(499_500)]]

    @Test(arguments: ["DELETE", "WAL"])
    func shellReadsOurs(journal: String) throws {
        let file = try CipherFile()
        let database = try file.create(Self.three)
        _ = try database.rows("PRAGMA journal_mode = \(journal)")
        try fill(database)
        try database.close()
        #expect(
            try shell(file, "SELECT count(*), sum(id) FROM t; PRAGMA integrity_check;").split(separator: "\n").suffix(2)
                == ["1000|499500", "ok"])
    }

    @Test(arguments: [1024, 2048, 4096, 65_536])
    func oursReadShells(pageSize: Int) throws {
        let file = try CipherFile()
        _ = try shell(
            file,
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v);
            WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c WHERE x < 999)
                INSERT INTO t SELECT x, 'row ' || x FROM c;
            """, pageSize: pageSize)
        let database = try file.open(Self.three)
        #expect(database.format == Opened(compatibility: .three, pageSize: UInt32(pageSize)))
        #expect(try database.rows("SELECT count(*), sum(id) FROM t") == Self.sums)
        #expect(try database.integrityProblems() == [])
    }

    @Test func passphrases() throws {
        let file = try CipherFile()
        let key = try CipherFile.passphrase("it's \"quoted\" Ü")
        try fill(SQLCipherDatabase.create(file.path, key: key, options: Self.three))
        let settings = "PRAGMA key = 'it''s \"quoted\" Ü';\n" + Self.settings(4096)
        let run = try ProgramStart(["sqlcipher", "-batch", "-bail", file.path]).run(
            input: Data((settings + "SELECT count(*), sum(id) FROM t;\n").utf8))
        #expect(run.text.contains("1000|499500"))
        #expect(code { _ = try file.open() } == .wrongKey)
        #expect(code { _ = try SQLCipherDatabase(file.path, key: CipherFile.passphrase("another")) } == .wrongKey)
    }

    @Test func newerSQLCipher() throws {
        #expect(try peer(["version"]).hasPrefix("4."))
        let file = try CipherFile()
        try fill(file.create(Self.three))
        #expect(try peer(["read", file.path, "3"], file) == "1000 499500 ok")

        let other = try CipherFile()
        #expect(try peer(["write", other.path, "3"], other) == "1000 499500 ok")
        let database = try other.open(Self.three)
        #expect(try database.rows("SELECT count(*), sum(id) FROM t") == Self.sums)
        #expect(try database.integrityProblems() == [])
    }

    /// A file of version 4 opens where the library has that, and is told apart from a wrong key where it has not.
    @Test func newestFormat() throws {
        let file = try CipherFile()
        #expect(try peer(["write", file.path, "4"], file) == "1000 499500 ok")
        do {
            let database = try file.open()
            #expect(try database.rows("SELECT count(*), sum(id) FROM t") == Self.sums)
        } catch let error as SQLCipherError {
            #expect(error.code == .formatNotSupported)
            #expect(error.description.contains("version 4"))
        }
        let other = try CipherFile.key([UInt8](repeating: 1, count: 32))
        #expect(code { _ = try SQLCipherDatabase(file.path, key: other) } == .wrongKey)
    }
}
