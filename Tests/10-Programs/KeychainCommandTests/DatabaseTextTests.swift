import Foundation
import TestSupport
import Testing

/// What `keychain db dump` writes, Debian's `sqlite3` reads into the same database, and `keychain db diff` finds no
/// difference.
@Suite struct DatabaseTextTests {
    private static let script = """
        PRAGMA user_version = 42; PRAGMA application_id = 1234567;
        CREATE TABLE parent (id INTEGER PRIMARY KEY AUTOINCREMENT, "odd ""name" TEXT DEFAULT 'a''b', n NUMERIC, r REAL);
        CREATE TABLE child (parent INTEGER REFERENCES parent, v BLOB);
        CREATE TABLE keyed (a TEXT, b INTEGER, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE made (a, b AS (a + 1), c AS (a * 2) STORED, d);
        CREATE TABLE strict (a INT PRIMARY KEY, b ANY) STRICT, WITHOUT ROWID;
        CREATE TABLE names (rowid TEXT, _rowid_);
        INSERT INTO parent VALUES (5, 'it''s', '12', 3), (9223372036854775807, NULL, 'abc', 1e300), (-3, '', 1.5, -0.0);
        INSERT INTO parent VALUES (7, 'reals', 9e999, 0.1), (8, 'more', -9e999, 2.2250738585072014e-308);
        INSERT INTO parent VALUES (9, 'third', 123456789.123456789, 5e-324);
        INSERT INTO child VALUES (5, x'00FF'), (-3, 'Grüße 🔑'), (NULL, CAST(x'610062' AS TEXT)), (7, zeroblob(70000));
        INSERT INTO child VALUES (8, CAST(x'FFFE41' AS TEXT)), (9, char(0)), (9, 'two' || char(10) || 'lines');
        INSERT INTO keyed VALUES ('z', 1, 2), ('a', 2, 3);
        INSERT INTO made (a, d) VALUES (1, 'x'), (2, 'y');
        INSERT INTO strict VALUES (1, 'x'), (2, 0.5);
        INSERT INTO names (oid, rowid, _rowid_) VALUES (7, 'seven', 1), (100, 'hundred', 2);
        CREATE INDEX partial ON parent (n COLLATE NOCASE DESC) WHERE n > 1;
        CREATE VIEW both AS SELECT p.id, c.v FROM parent p JOIN child c ON c.parent = p.id;
        CREATE TRIGGER logged AFTER INSERT ON keyed BEGIN INSERT INTO names (rowid) VALUES ('in ' || new.a); END;
        CREATE VIRTUAL TABLE words USING fts5(a, b, prefix='2');
        INSERT INTO words VALUES ('hello world', 'one'), ('goodbye', 'two');
        CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
        INSERT INTO boxes VALUES (1, 2, 3), (2, -1, 0);
        ANALYZE;
        """

    private func run(_ workplace: Workplace, _ command: String) throws -> ProgramOutcome {
        try workplace.shell("cd \"$HOME\"; \(command)")
    }

    @Test(arguments: ["UTF-8", "UTF-16le"])
    func dumpsComeBack(encoding: String) throws {
        let workplace = try Workplace()
        let script = "PRAGMA encoding = '\(encoding)';\n" + Self.script
        try FileManager.default.createDirectory(atPath: workplace.path, withIntermediateDirectories: true)
        try Data(script.utf8).write(to: URL(filePath: workplace.path + "/script.sql"))
        let made = try run(
            workplace,
            """
            sqlite3 -bail plain.db < script.sql && cp plain.db app.db && keychain db encrypt app.db --class none &&
            keychain db dump app.db --output app.sql && stat -c %a app.sql && keychain db dump app.db | cmp - app.sql &&
            sqlite3 -bail back.db < app.sql && keychain db diff app.db back.db && keychain db diff plain.db back.db &&
            sqlite3 back.db "SELECT b FROM words WHERE words MATCH 'he*'; SELECT count(*) FROM boxes WHERE x0 < 0" \
                'PRAGMA user_version; PRAGMA application_id; PRAGMA encoding; PRAGMA integrity_check' &&
            sqlite3 plain.db "SELECT quote(v), hex(v), parent FROM child; SELECT quote(n), quote(r) FROM parent" > one &&
            sqlite3 back.db "SELECT quote(v), hex(v), parent FROM child; SELECT quote(n), quote(r) FROM parent" | cmp - one
            """)
        #expect(made.errors == "" && made.status == 0)
        #expect(
            made.text.split(separator: "\n").suffix(9)
                == ["600", "no difference", "no difference", "one", "1", "42", "1234567", Substring(encoding), "ok"])
    }

    @Test func differencesAreNamed() throws {
        let workplace = try Workplace()
        let made = try run(
            workplace,
            """
            keychain db create a.db --class none
            keychain db shell a.db --write 'CREATE TABLE t (id INTEGER PRIMARY KEY, v); CREATE TABLE u (a); CREATE TABLE w (x)
                ; INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, NULL); INSERT INTO w VALUES (1), (2)'
            keychain db dump a.db | sqlite3 b.db
            sqlite3 b.db "UPDATE t SET v = '1' WHERE id = 1; UPDATE t SET v = 2.0 WHERE id = 2; DELETE FROM t WHERE id = 3;
                INSERT INTO t VALUES (9, 9), (10, 10); DROP TABLE u; CREATE TABLE u (b); CREATE INDEX i ON t (v);
                DELETE FROM w WHERE x = 2"
            keychain db diff a.db b.db; echo $?; keychain db diff b.db a.db --json
            """)
        #expect(
            made.text.split(separator: "\n").suffix(6) == [
                "index i: only in b.db", "table u: made in another way",
                "rows of t: 1 only in a.db, 2 only in b.db, 2 with other values", "rows of w: 1 only in a.db", "1",
                #"{"objects":[{"found":"first","kind":"index","name":"i"},{"found":"both","kind":"table","name":"u"}],"rows":[{"changed":2,"onlyInFirst":2,"onlyInSecond":1,"table":"t"},{"changed":0,"onlyInFirst":0,"onlyInSecond":1,"table":"w"}]}"#,
            ], "\(made.text)\(made.errors)")
    }
}
