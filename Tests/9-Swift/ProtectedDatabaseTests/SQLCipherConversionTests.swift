import Foundation
import GRDB
import KeychainTesting
import ProtectedDatabase
import TestSupport
import Testing

/// Databases become SQLCipher files and back, as copies and in their place.
@Suite struct SQLCipherConversionTests {
    /// What SQLite can have in a database.
    private static let script = """
        PRAGMA user_version = 42; PRAGMA application_id = 1234567; PRAGMA encoding = 'UTF-16le'; PRAGMA auto_vacuum = 1;
        CREATE TABLE parent (id INTEGER PRIMARY KEY AUTOINCREMENT, "odd ""name" TEXT DEFAULT 'a''b', n NUMERIC, r REAL);
        CREATE TABLE child (parent INTEGER REFERENCES parent ON DELETE CASCADE, v BLOB, CHECK (v IS NOT 5));
        CREATE TABLE keyed (a TEXT, b INTEGER, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE made (a, b AS (a + 1), c AS (a * 2) STORED, d);
        CREATE TABLE strict (a INT PRIMARY KEY, b ANY) STRICT, WITHOUT ROWID;
        CREATE TABLE log (what);
        INSERT INTO parent VALUES (5, 'x', '12', 3), (9223372036854775807, NULL, 'abc', 1e300), (-3, '', 1.5, -0.0);
        INSERT INTO child VALUES (5, x'00FF'), (-3, 'Grüße'), (NULL, CAST(x'610062' AS TEXT)), (5, zeroblob(200000));
        INSERT INTO keyed VALUES ('z', 1, 2), ('a', 2, 3);
        INSERT INTO made (a, d) VALUES (1, 'x'), (2, 'y');
        INSERT INTO strict VALUES (1, 'x'), (2, 0.5);
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5000)
            INSERT INTO log SELECT 'row ' || x FROM c;
        DELETE FROM log WHERE rowid % 3 = 0;
        CREATE INDEX partial ON parent (n COLLATE NOCASE DESC) WHERE n > 1;
        CREATE INDEX expression ON log (length(what), what);
        CREATE VIEW both AS SELECT p.id, c.v, rank() OVER (ORDER BY p.id) FROM parent p JOIN child c ON c.parent = p.id;
        CREATE TRIGGER logged AFTER INSERT ON parent BEGIN INSERT INTO log VALUES ('in ' || new.id); END;
        CREATE VIRTUAL TABLE words USING fts5(a, b, prefix='2');
        INSERT INTO words VALUES ('hello world', 'one'), ('goodbye', 'two');
        CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
        INSERT INTO boxes VALUES (1, 2, 3), (2, -1, 0);
        ANALYZE;
        """

    /// The lines of SQL that make the database. Copies have another order of the schema.
    private static func dump(_ path: String) throws -> [String] {
        let run = try ProgramStart(["sqlite3", path, ".dump --preserve-rowids", "PRAGMA integrity_check"]).run()
        try #require(run.status == 0 && run.text.hasSuffix("ok\n"), "\(run.errors)")
        return run.text.split(separator: "\n").map(String.init).sorted()
    }

    private func plain(_ path: String) throws {
        let made = try ProgramStart(["sqlite3", "-bail", path]).run(input: Data(Self.script.utf8))
        try #require(made.status == 0, "\(made.errors)")
    }

    private static func options(_ version: SQLCipherOptions.Version, _ passphrase: String) throws -> SQLCipherOptions {
        var options = try SQLCipherOptions.passphrase(passphrase)
        options.version = version
        options.rounds = 10
        return options
    }

    /// From plain to this library's format, to a SQLCipher file, to one of another version and key, and back.
    @Test(arguments: SQLCipherOptions.Version.allCases)
    func everythingGoesAround(_ version: SQLCipherOptions.Version) throws {
        let test = try DatabaseUnderTest()
        try test.keychain.run {
            let former = test.folder.path(of: "former.db")
            try plain(test.path)
            try plain(former)
            try test.file.encrypt()
            #expect(try test.file.problems() == [])
            let first = try Self.options(version, "first")
            try test.file.changeKey(sqlcipher: first)
            let file = ProtectedDatabaseFile(path: test.path, sqlcipher: first)
            #expect(try file.problems() == [])
            // The former key has gone with its database.
            #expect(throws: ProtectedDatabaseError(.notDatabase, message: "")) { try test.file.problems() }
            let copy = ProtectedDatabaseFile(
                path: test.folder.path(of: "copy.db"), sqlcipher: try Self.options(.four, "second"))
            try file.copy(to: copy)
            try copy.changeKey(sqlcipher: try Self.options(version, "third"))
            let third = ProtectedDatabaseFile(path: copy.path, sqlcipher: try Self.options(version, "third"))
            #expect(throws: ProtectedDatabaseError(.wrongKey, message: "")) { try copy.problems() }
            #expect(try third.problems() == [])
            try third.encrypt()
            try ProtectedDatabaseFile(path: copy.path).decrypt()
            try file.decrypt()
            for path in [test.path, copy.path] { #expect(try Self.dump(path) == Self.dump(former)) }
            #expect(try test.names == ["app.db", "copy.db", "former.db"])
        }
    }

    /// The keychain keeps the key of a file that it made, closes the file at a lock, and loses the key with the file.
    @Test func keysInTheKeychain() throws {
        let test = try DatabaseUnderTest()
        try test.keychain.run {
            let options = SQLCipherOptions.keychain(try .keychain(.complete))
            let database = try ProtectedDatabase(path: test.path, sqlcipher: options)
            try database.write { try Notes.fill($0, 10) }
            let file = ProtectedDatabaseFile(path: test.path, sqlcipher: .keychain())
            let info = try file.info()
            #expect(info.isEncrypted && info.identifier?.count == 32)
            #expect(info.key?.place == .keychain)
            #expect(info.key?.protection?.rawValue == FileProtectionType.complete.rawValue)
            test.keychain.lock()
            try eventually("the file closes") { database.isLocked }
            #expect(throws: ProtectedDatabaseError(.locked, message: "")) { try database.read(Notes.count) }
            test.keychain.unlock()
            #expect(try database.read(Notes.count) == 10)
            try database.close()
            // In its place, with another kept key.
            try file.changeKey(sqlcipher: .keychain(try .enclave(.completeUnlessOpen)))
            #expect(try file.info().key?.place == .enclave)
            let again = try ProtectedDatabase(path: test.path, sqlcipher: .keychain(), creation: .never)
            #expect(try again.read(Notes.count) == 10)
            try again.close()
            let key = try file.info().identifier
            try file.remove()
            #expect(try test.names == [])
            #expect(key != nil)
            #expect(throws: ProtectedDatabaseError(.unsupported, message: "")) {
                try ProtectedDatabase(path: test.path, sqlcipher: .keychain(try .file(.complete)))
            }
            try Data(repeating: 7, count: 8192).write(to: URL(filePath: test.path))
            #expect(throws: ProtectedDatabaseError(.keyNotFound, message: "")) {
                try ProtectedDatabase(path: test.path, sqlcipher: .keychain())
            }
        }
    }

    /// While somebody uses a file, nothing takes its place; a copy is made all the same.
    @Test func filesInUse() throws {
        let test = try DatabaseUnderTest()
        try test.keychain.run {
            let options = try Self.options(.four, "a passphrase")
            let database = try ProtectedDatabase(path: test.path, sqlcipher: options)
            try database.write { try Notes.fill($0, 20_000) }
            let file = ProtectedDatabaseFile(path: test.path, sqlcipher: options)
            #expect(throws: ProtectedDatabaseError(.busy, message: "")) {
                try file.changeKey(sqlcipher: try Self.options(.four, "another"))
            }
            let copy = ProtectedDatabaseFile(path: test.folder.path(of: "copy.db"))
            try file.copy(to: copy)
            let copied = try ProtectedDatabase(path: copy.path)
            #expect(try copied.read(Notes.count) == 20_000)
            #expect(try copied.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == 4096)
            try copied.write { try Notes.fill($0, 1) }
            try copied.close()
            #expect(throws: ProtectedDatabaseError(.fileExists, message: "")) { try file.copy(to: copy) }
            try database.close()
            #expect(throws: ProtectedDatabaseError(.taskCanceled, message: "")) {
                try file.decrypt { _ in false }
            }
            #expect(try test.names.filter { !$0.hasPrefix("copy.db") } == ["app.db"])
        }
    }
}
