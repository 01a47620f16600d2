import Foundation
import SQLCipherWire
import SystemSQLite
import TestSupport
import Testing

@testable import SQLCipherService

/// Whole databases go from SQLite to SQLCipher and back.
@Suite struct TransferTests {
    /// A plain database made of `script` by the `sqlite3` shell.
    private func plain(_ folder: TemporaryFolder, _ script: String, _ name: String = "plain") throws -> PlainDatabase {
        let path = folder.path(of: name)
        let made = try ProgramStart(["sqlite3", "-bail", path]).run(input: Data(script.utf8))
        try #require(made.status == 0, "\(made.errors)")
        return try PlainDatabase(path)
    }

    /// The database as the shell writes it out, with the rowids.
    private func dump(_ path: String) throws -> String {
        let run = try ProgramStart(["sqlite3", path, ".dump --preserve-rowids"]).run()
        try #require(run.status == 0, "\(run.errors)")
        // The order of the schema is not carried.
        return run.text.split(separator: "\n").sorted().joined(separator: "\n")
    }

    private static let script = """
        PRAGMA user_version = 42; PRAGMA application_id = 1234567; PRAGMA foreign_keys = ON;
        CREATE TABLE parent (id INTEGER PRIMARY KEY AUTOINCREMENT, "odd ""name" TEXT DEFAULT 'a''b', n NUMERIC, r REAL);
        CREATE TABLE aaa_child (parent INTEGER REFERENCES parent ON DELETE CASCADE, v BLOB, CHECK (v IS NOT 5));
        CREATE TABLE names (rowid TEXT, v);
        CREATE TABLE hidden (rowid, oid, _rowid_);
        CREATE TABLE keyed (a TEXT, b INTEGER, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE log (what);
        CREATE TABLE [square [] (v);
        INSERT INTO parent VALUES (5, 'x', '12', 3), (9223372036854775807, NULL, 'abc', 1e300), (-3, '', 1.5, -0.0);
        DELETE FROM parent WHERE id = 9223372036854775807;
        INSERT INTO aaa_child VALUES (5, x'00FF'), (-3, 'text'), (NULL, CAST(x'610062' AS TEXT)), (5, zeroblob(200000));
        INSERT INTO names (_rowid_, rowid, v) VALUES (7, 'seven', 1), (100, 'hundred', 2);
        INSERT INTO hidden VALUES (1, 2, 3);
        INSERT INTO keyed VALUES ('z', 1, 2), ('a', 2, 3);
        INSERT INTO log (rowid, what) VALUES (1000, 'first');
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5000)
            INSERT INTO log SELECT 'row ' || x FROM c;
        CREATE INDEX partial ON parent (n COLLATE NOCASE DESC) WHERE n > 1;
        CREATE INDEX expression ON log (length(what), what);
        CREATE VIEW both AS SELECT p.id, c.v FROM parent p JOIN aaa_child c ON c.parent = p.id;
        CREATE TRIGGER logged AFTER INSERT ON parent BEGIN INSERT INTO log VALUES ('in ' || new.id); END;
        CREATE TRIGGER through INSTEAD OF UPDATE ON both BEGIN UPDATE aaa_child SET v = new.v WHERE parent = new.id; END;
        ANALYZE;
        """

    @Test func everythingAndBack() throws {
        let file = try CipherFile()
        let source = try plain(file.folder, Self.script)
        var last = TransferProgress(table: "", totalBytes: 0)
        let summary = try SQLCipherFile.import(source.connection, to: file.path, key: file.key) { last = $0 }
        #expect(summary.omitted == [])
        #expect(last.rows == summary.rows && last.bytes > 200_000 && last.totalBytes > last.bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path).sorted() == ["db", "plain"])
        let database = try file.open()
        #expect(try database.integrityProblems() == [])
        #expect(try database.rows("PRAGMA user_version; ") == [[.integer(42)]])
        #expect(try database.rows("SELECT rowid, what FROM log LIMIT 1") == [[.integer(1000), .string("first")]])
        #expect(try database.rows("SELECT v FROM aaa_child WHERE parent IS NULL") == [[.text([0x61, 0, 0x62])]])
        let target = try PlainDatabase(file.folder.path(of: "back"))
        try SQLCipherFile.export(database, to: target.connection)
        #expect(try dump(source.path) == dump(target.path))
        let kinds = "SELECT group_concat(typeof(n) || typeof(r) || quote(n) || quote(r)) FROM parent"
        #expect(try source.connection.printed(kinds) == target.connection.printed(kinds))
        #expect(try target.connection.integer("PRAGMA foreign_keys") == 1)
        // Triggers have not run, and do now.
        try database.execute("INSERT INTO parent (id, n) VALUES (6, 1)")
        #expect(try database.rows("SELECT count(*) FROM log WHERE what LIKE 'in %'") == [[.integer(1)]])
    }

    @Test func virtualTables() throws {
        let file = try CipherFile()
        let source = try plain(
            file.folder,
            """
            CREATE VIRTUAL TABLE f3 USING fts3(a, b);
            CREATE VIRTUAL TABLE f4 USING fts4(a, tokenize=porter);
            CREATE TABLE f4_source (id INTEGER PRIMARY KEY, body);
            CREATE VIRTUAL TABLE outside USING fts4(content="f4_source", body);
            CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1);
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000)
                INSERT INTO boxes SELECT x, x, x + 1, -x, -x + 1 FROM c;
            INSERT INTO f3 VALUES ('hello world', 'one'), ('goodbye', 'two');
            INSERT INTO f4 VALUES ('running runs');
            INSERT INTO f4_source VALUES (3, 'outside words');
            INSERT INTO outside (docid, body) SELECT id, body FROM f4_source;
            """)
        try SQLCipherFile.import(source.connection, to: file.path, key: file.key)
        let database = try file.open()
        func check(_ rows: (String) throws -> [[SQLValue]]) throws {
            #expect(try rows("SELECT b FROM f3 WHERE f3 MATCH 'hello'") == [[.string("one")]])
            #expect(try rows("SELECT a FROM f4 WHERE f4 MATCH 'run'") == [[.string("running runs")]])
            #expect(try rows("SELECT docid FROM outside WHERE outside MATCH 'words'") == [[.integer(3)]])
            #expect(try rows("SELECT id FROM boxes WHERE x0 >= 2999") == [[.integer(2999)], [.integer(3000)]])
            #expect(try rows("PRAGMA integrity_check") == [[.string("ok")]])
        }
        try check { try database.rows($0) }
        try database.execute("INSERT INTO boxes VALUES (9000, 1, 2, 3, 4)")
        try database.execute("DELETE FROM boxes WHERE id = 9000")
        try database.execute("INSERT INTO f3 VALUES ('hello again', 'three')")
        try database.execute("DELETE FROM f3 WHERE b = 'three'")
        let target = try PlainDatabase(file.folder.path(of: "back"))
        try SQLCipherFile.export(database, to: target.connection)
        let copy = try PlainDatabase(target.path)
        try check { try SystemTransferConnection(copy.connection).rows($0) }
    }

    @Test(arguments: [
        ("CREATE VIRTUAL TABLE f5 USING fts5(a)", "f5"),
        ("CREATE TABLE made (a, b AS (a + 1))", "made"),
        ("CREATE TABLE strict (a INT) STRICT", "strict"),
        ("CREATE TABLE t (a); CREATE VIEW ranked AS SELECT rank() OVER (ORDER BY a) FROM t", "ranked"),
        (
            "CREATE TABLE t (a UNIQUE); CREATE TRIGGER upsert AFTER INSERT ON t BEGIN "
                + "INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING; END", "upsert"
        ),
        ("CREATE TABLE t (a); CREATE TRIGGER iffy AFTER DELETE ON t BEGIN SELECT iif(old.a, 1, 2); END", "iffy"),
        ("CREATE TABLE flags (a DEFAULT FALSE)", "flags"),
    ])
    func whatOlderLibrariesCannotHave(script: String, name: String) throws {
        let file = try CipherFile()
        let source = try plain(file.folder, script + ";")
        let version = try file.create().library.cipherVersion
        unlink(file.path)
        // A newer library has all of these but FTS5 in some builds.
        guard version.hasPrefix("3.") else { return }
        do {
            try SQLCipherFile.import(source.connection, to: file.path, key: file.key)
            Issue.record("\(name) was carried")
        } catch let error as TransferError {
            guard case .cannotCarry(_, name, _, _) = error else { throw error }
            #expect("\(error)".contains("\"\(name)\" cannot be carried to SQLCipher \(version) (SQLite 3."))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == ["plain"])
    }

    /// What the system's own SQLite can have, from one of its databases to another.
    @Test func newerSchemas() throws {
        let folder = try TemporaryFolder()
        let source = try plain(
            folder,
            """
            CREATE TABLE made (a, b AS (a + 1), c AS (a * 2) STORED, d);
            INSERT INTO made (a, d) VALUES (1, 'x'), (2, 'y');
            CREATE TABLE strict (a INT PRIMARY KEY, b ANY) STRICT, WITHOUT ROWID;
            CREATE TABLE flags (a DEFAULT FALSE);
            CREATE VIEW ranked AS SELECT a, rank() OVER (ORDER BY a) FROM made;
            CREATE TRIGGER upsert AFTER INSERT ON made BEGIN INSERT INTO flags VALUES (TRUE); END;
            CREATE VIRTUAL TABLE f5 USING fts5(a, b, prefix='2');
            INSERT INTO f5 VALUES ('hello world', 'one'), ('goodbye', 'two');
            CREATE VIRTUAL TABLE words USING fts5vocab('f5', 'row');
            """)
        let target = try PlainDatabase(folder.path(of: "copy"))
        _ = try SQLCipherFile.transfer(
            from: SystemTransferConnection(source.connection), to: SystemTransferConnection(target.connection)
        ) { _ in }
        #expect(try dump(source.path) == dump(target.path))
        let copy = try PlainDatabase(target.path)
        #expect(try copy.connection.printed("SELECT b FROM f5 WHERE f5 MATCH 'he*'") == ["one"])
        #expect(try copy.connection.integer("SELECT count(*) FROM words") == 5)
        #expect(try copy.connection.integer("SELECT sum(b + c) FROM made") == 11)
    }

    /// Nothing of what is carried is to be seen in any file, at any moment.
    @Test func nothingInTheClear() throws {
        let file = try CipherFile()
        let source = try plain(
            file.folder,
            """
            CREATE TABLE canaries (v, w);
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10000)
                INSERT INTO canaries SELECT 'canary-' || x, 'another canary-' || x FROM c;
            CREATE INDEX i ON canaries (w, v);
            """)
        let canary = Data("canar".utf8)
        func look() throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: file.folder.path) where name != "plain" {
                let bytes = FileManager.default.contents(atPath: file.folder.path(of: name)) ?? Data()
                #expect(bytes.range(of: canary) == nil, "\(name)")
            }
        }
        try SQLCipherFile.import(source.connection, to: file.path, key: file.key) { _ in try look() }
        let database = try file.open()
        for journal in ["WAL", "DELETE"] {
            #expect(try database.rows("PRAGMA journal_mode = \(journal)") == [[.string(journal.lowercased())]])
            var options = SQLCipherOptions()
            options.cacheSize = 64
            // So small a cache writes before it commits.
            let writer = try file.open(options)
            try writer.run("BEGIN; UPDATE canaries SET v = v || '!'; CREATE INDEX j ON canaries (v)")
            try look()
            try writer.run("COMMIT; DROP INDEX j")
            try look()
        }
        try database.run("VACUUM")
        try look()
    }

    @Test func otherEncodingsAndVacuums() throws {
        for (encoding, vacuum) in [("UTF-16le", 1), ("UTF-16be", 2), ("UTF-8", 0)] {
            let file = try CipherFile()
            let source = try plain(
                file.folder,
                """
                PRAGMA encoding = '\(encoding)'; PRAGMA auto_vacuum = \(vacuum);
                CREATE TABLE t (v); INSERT INTO t VALUES ('Grüße'), (x'00'), (NULL);
                """)
            try SQLCipherFile.import(source.connection, to: file.path, key: file.key)
            let database = try file.open()
            #expect(try database.rows("PRAGMA encoding") == [[.string(encoding)]])
            #expect(try database.rows("PRAGMA auto_vacuum") == [[.integer(Int64(vacuum))]])
            #expect(try database.rows("SELECT v FROM t") == [[.string("Grüße")], [.blob([0])], [.null]])
            #expect(try !file.data.starts(with: Data("SQLite format 3".utf8)))
            let target = try PlainDatabase(file.folder.path(of: "back"))
            try SQLCipherFile.export(database, to: target.connection)
            #expect(try dump(source.path) == dump(target.path))
        }
    }

    @Test func endedByItsCaller() throws {
        let file = try CipherFile()
        let source = try plain(file.folder, Self.script)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try SQLCipherFile.import(source.connection, to: file.path, key: file.key) { _ in throw Stop() }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == ["plain"])
        try SQLCipherFile.import(source.connection, to: file.path, key: file.key)
        let database = try file.open()
        let target = try PlainDatabase(file.folder.path(of: "back")).connection
        #expect(throws: Stop.self) { try SQLCipherFile.export(database, to: target) { _ in throw Stop() } }
        #expect(try target.integer("SELECT count(*) FROM sqlite_master") == 0)
        try SQLCipherFile.export(database, to: target)
        #expect(throws: TransferError.targetNotEmpty) { try SQLCipherFile.export(database, to: target) }
        #expect(code { try SQLCipherFile.import(source.connection, to: file.path, key: file.key) } == .exists)
        try SQLCipherFile.import(source.connection, to: file.path, key: file.key, replacing: true)
    }
}
