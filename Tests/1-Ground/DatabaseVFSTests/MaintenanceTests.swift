import DatabaseVFS
import Foundation
import GRDB
import Glibc
import SQLCipherFiles
import TestSupport
import Testing

/// What SQLite does with whole databases.
@Suite struct MaintenanceTests {
    /// This library's format and SQLCipher's.
    private static let formats = [nil, CipherFormat.Version.four]

    private func filled(_ database: DatabaseUnderTest, journal: String, rows: Int = 2000) throws -> DatabaseQueue {
        let queue = try database.queue(journal: journal)
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, bytes BLOB); CREATE INDEX i ON t(text)")
            for id in 1...rows {
                try db.execute(
                    sql: "INSERT INTO t VALUES(?, ?, randomblob(?))", arguments: [id, "row \(id)", id * 37 % 900])
            }
        }
        return queue
    }

    private func sum(_ reader: some DatabaseReader) throws -> Int? {
        try reader.read { try Int.fetchOne($0, sql: "SELECT sum(id * 31 + length(bytes) + length(text)) FROM t") }
    }

    @Test(arguments: ["DELETE", "WAL", "PERSIST"], formats)
    func vacuums(journal: String, cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try filled(database, journal: journal)
        try queue.write { try $0.execute(sql: "DELETE FROM t WHERE id % 2 = 0") }
        let before = try sum(queue)
        let pages = try #require(try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") })
        try queue.vacuum()
        #expect(try sum(queue) == before)
        #expect(try queue.integrity() == "ok")
        try queue.close()
        #expect(try database.bytes().count < pages * 4096)
        #expect(try sum(database.queue()) == before)
    }

    @Test(arguments: ["DELETE", "WAL"], formats)
    func vacuumsIntoAnotherFile(journal: String, cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try filled(database, journal: journal)
        let other = try DatabaseUnderTest("other.db", in: database.folder, key: 9)
        try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [other.uri]) }
        let copy = try other.queue()
        #expect(try sum(copy) == sum(queue))
        #expect(try copy.integrity() == "ok")
        // Not for a plain one.
        let plain = database.folder.path(of: "plain.db")
        #expect(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [plain]) }
        }
        #expect(FileManager.default.contents(atPath: plain)?.isEmpty ?? true)
        let allowed = try EncryptingVFS.registerPlain(path: plain)
        try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [allowed.path]) }
        #expect(try sum(DatabaseQueue(path: plain)) == sum(queue))
    }

    @Test(arguments: ["DELETE", "WAL"])
    func vacuumsAPlainDatabaseIntoAnEncryptedOne(journal: String) throws {
        let database = try DatabaseUnderTest()
        let path = database.folder.path(of: "plain.db")
        // Not from a connection that would keep temporary files on the disk.
        let elsewhere = try DatabaseQueue(path: path)
        #expect(throws: DatabaseError.self) {
            try elsewhere.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH ? AS encrypted", arguments: [database.uri])
                try db.execute(sql: "CREATE TABLE encrypted.t(x)")
            }
        }
        #expect(database.registration.takeFailure() == .attachedElsewhere(path: database.path))
        try elsewhere.close()
        let allowed = try EncryptingVFS.registerPlain(path: path)
        let plain = try DatabaseQueue(path: EncryptingVFS.uri(path: allowed.path))
        try plain.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = \(journal)") }
        try plain.write {
            try $0.execute(
                sql:
                    "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, bytes BLOB); INSERT INTO t VALUES(1, 'x', zeroblob(100000))"
            )
        }
        try plain.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [database.uri]) }
        let copy = try database.queue()
        #expect(try sum(copy) == sum(plain))
        #expect(try copy.integrity() == "ok")
    }

    @Test func otherPageSizesAreOnlyForNewFiles() throws {
        let database = try DatabaseUnderTest()
        let queue = try filled(database, journal: "DELETE")
        let before = try sum(queue)
        #expect(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = 8192; VACUUM") }
        }
        #expect(database.registration.takeFailure() == .pageSizeChange(from: 4096, to: 8192))
        try queue.close()
        let again = try database.queue()
        #expect(try sum(again) == before)
        #expect(try again.integrity() == "ok")
        let other = try DatabaseUnderTest("other.db", in: database.folder)
        try again.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA page_size = 8192")
            try $0.execute(sql: "VACUUM INTO ?", arguments: [other.uri])
        }
        let copy = try other.queue()
        #expect(try copy.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == 8192)
        #expect(try sum(copy) == before)
    }

    @Test(arguments: [("DELETE", "DELETE"), ("DELETE", "WAL"), ("WAL", "DELETE"), ("WAL", "WAL")], formats)
    func backsUp(_ journals: (from: String, over: String), cipher: CipherFormat.Version?) throws {
        let (journal, other) = journals
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try filled(database, journal: journal)
        let copy = try DatabaseUnderTest("copy.db", in: database.folder, key: 9, cipher: cipher)
        let destination = try copy.queue(journal: other)
        try queue.backup(to: destination)
        #expect(try sum(destination) == sum(queue))
        #expect(try destination.integrity() == "ok")
        // Once more, over what is there.
        try queue.write { try $0.execute(sql: "DELETE FROM t WHERE id > 500") }
        try queue.backup(to: destination)
        #expect(try sum(destination) == sum(queue))
        try destination.close()
        #expect(try sum(copy.queue()) == sum(queue))
    }

    @Test func backupsFromPlainDatabasesWouldLoseBytes() throws {
        let database = try DatabaseUnderTest()
        let plain = try DatabaseQueue(path: database.folder.path(of: "plain.db"))
        try plain.write {
            try $0.execute(
                sql:
                    "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, bytes BLOB); INSERT INTO t VALUES(1, 'x', randomblob(100000))"
            )
        }
        let queue = try filled(database, journal: "DELETE")
        let before = try sum(queue)
        #expect(throws: DatabaseError.self) { try plain.backup(to: queue) }
        #expect(database.registration.takeFailure() != nil)
        try queue.close()
        #expect(try sum(database.queue()) == before)
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "WAL"], formats)
    func vacuumsAutomatically(journal: String, cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try database.queue {
            try $0.execute(sql: "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = \(journal)")
        }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)")
            for id in 1...500 { try db.execute(sql: "INSERT INTO t VALUES(?, 'x', zeroblob(5000))", arguments: [id]) }
        }
        for kept in [400, 200, 50] {
            try queue.write { try $0.execute(sql: "DELETE FROM t WHERE id % 500 > ?", arguments: [kept]) }
            #expect(try queue.integrity() == "ok")
        }
        let before = try sum(queue)
        try queue.close()
        #expect(try database.bytes().count < 600_000)
        #expect(try sum(database.queue()) == before)
    }

    @Test(
        arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL"].flatMap { [($0, true), ($0, false)] }, formats)
    func rollsBack(_ how: (journal: String, synchronous: Bool), cipher: CipherFormat.Version?) throws {
        let (journal, synchronous) = how
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try database.queue { db in
            try db.execute(sql: "PRAGMA journal_mode = \(journal)")
            if !synchronous { try db.execute(sql: "PRAGMA synchronous = OFF") }
            try db.execute(sql: "PRAGMA cache_size = 10; PRAGMA cache_spill = 10")
        }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)")
            for id in 1...300 { try db.execute(sql: "INSERT INTO t VALUES(?, 'x', zeroblob(2000))", arguments: [id]) }
        }
        let before = try sum(queue)
        for round in 0..<4 {
            try queue.inTransaction { db in
                try db.execute(sql: "UPDATE t SET text = 'changed', bytes = zeroblob(2500 + \(round))")
                try db.inSavepoint {
                    try db.execute(sql: "DELETE FROM t WHERE id % 2 = 0; UPDATE t SET text = 'again'")
                    return .rollback
                }
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t WHERE text = 'changed'") == 300)
                try db.execute(sql: "INSERT INTO t SELECT id + 1000, text, bytes FROM t")
                return .rollback
            }
            #expect(try sum(queue) == before)
            #expect(try queue.integrity() == "ok")
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES(5000, 'y', zeroblob(9000))") }
            try queue.write { try $0.execute(sql: "DELETE FROM t WHERE id = 5000") }
        }
        try queue.close()
        let again = try database.queue()
        #expect(try sum(again) == before)
        #expect(try again.integrity() == "ok")
    }

    @Test(arguments: ["DELETE", "WAL"], formats)
    func attachesOthers(journal: String, cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try filled(database, journal: journal, rows: 100)
        let other = try DatabaseUnderTest("other.db", in: database.folder, key: 9)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS other", arguments: [other.uri])
            try db.execute(sql: "PRAGMA other.journal_mode = \(journal)")
            try db.execute(
                sql: "BEGIN; CREATE TABLE other.t AS SELECT * FROM main.t; UPDATE main.t SET text = 'moved'; COMMIT")
            try db.execute(sql: "BEGIN; DELETE FROM other.t WHERE id > 10; DELETE FROM main.t WHERE id > 20; ROLLBACK")
            try db.execute(sql: "DETACH other")
        }
        #expect(try other.queue().read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 100)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE text = 'moved'") } == 100)
        #expect(try queue.integrity() == "ok")
    }

    /// A backup copies pages as they are: into a file of another format only if its seal fits into the same room.
    @Test func backsUpIntoOtherFormats() throws {
        let four = try DatabaseUnderTest("four.db", cipher: .four)
        let queue = try filled(four, journal: "DELETE")
        let own = try DatabaseUnderTest("own.db", in: four.folder, key: 9)
        let copy = try own.queue()
        try queue.backup(to: copy)
        #expect(try sum(copy) == sum(queue))
        #expect(try copy.integrity() == "ok")
        try copy.close()
        #expect(try sum(own.queue()) == sum(queue))
        let smaller = try DatabaseUnderTest("smaller.db", in: four.folder)
        let unfit = try filled(smaller, journal: "DELETE", rows: 10)
        #expect(throws: DatabaseError.self) { try unfit.backup(to: queue) }
    }

    /// On read-only media there is no place for a journal or for the index of a log.
    @Test(arguments: formats)
    func readsReadOnlyFiles(_ cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try filled(database, journal: "DELETE")
        let before = try sum(queue)
        try queue.close()
        for name in try database.files().keys {
            try #require(chmod(database.folder.path(of: name), 0o400) == 0)
        }
        try #require(chmod(database.folder.path, 0o500) == 0)
        defer { chmod(database.folder.path, 0o700) }
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(
            path: EncryptingVFS.uri(path: database.path, parameters: "mode=ro"), configuration: configuration)
        #expect(try sum(reader) == before)
        #expect(try reader.integrity() == "ok")
    }

    @Test(arguments: ["DELETE", "WAL"], formats)
    func keepsAFileToItself(journal: String, cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try database.queue { db in
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = \(journal)")
        }
        try queue.write { try $0.execute(sql: "CREATE TABLE t(x)") }
        for round in 0..<20 {
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES(zeroblob(10000 + \(round)))") }
            if round % 7 == 6 { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
        }
        #expect(try queue.integrity() == "ok")
        try queue.close()
        let again = try database.queue()
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 20)
    }

    @Test(arguments: formats) func changesItsJournal(_ cipher: CipherFormat.Version?) throws {
        let database = try DatabaseUnderTest(cipher: cipher)
        let queue = try filled(database, journal: "DELETE", rows: 100)
        for mode in ["WAL", "DELETE", "PERSIST", "WAL", "TRUNCATE", "MEMORY", "WAL", "OFF", "WAL", "DELETE"] {
            try queue.writeWithoutTransaction { db in
                #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)") == mode.lowercased())
                try db.execute(sql: "UPDATE t SET text = text || '.'")
            }
            #expect(try queue.integrity() == "ok")
        }
        try queue.close()
        #expect(
            try database.queue().read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE text LIKE '%..........'")
            } == 100)
    }
}
