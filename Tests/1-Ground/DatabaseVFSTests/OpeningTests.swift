import DatabasePages
import DatabaseVFS
import Foundation
import GRDB
import KeychainModel
import TestSupport
import Testing

@Suite struct OpeningTests {
    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"])
    func writesAndReadsBack(journal: String) throws {
        let database = try DatabaseUnderTest()
        do {
            let queue = try database.queue(journal: journal)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
                for id in 1...500 {
                    try db.execute(sql: "INSERT INTO t VALUES(?, ?)", arguments: [id, "row \(id) of a secret"])
                }
            }
            try queue.write { try $0.execute(sql: "UPDATE t SET text = text || '!' WHERE id % 3 = 0") }
            #expect(try queue.integrity() == "ok")
            try queue.close()
        }
        let queue = try database.queue()
        #expect(try queue.integrity() == "ok")
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t WHERE text LIKE '%!'") } == 166)
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == 4096)
        try queue.close()
        for (name, bytes) in try database.files() {
            #expect(bytes.range(of: Data("secret".utf8)) == nil, "\(name)")
            #expect(bytes.range(of: Data("SQLite format".utf8)) == nil, "\(name)")
        }
        #expect(try database.bytes().count % 4096 == 0)
        #expect(database.registration.takeFailure() == nil)
    }

    @Test func poolsReadWhileOneWrites() throws {
        let database = try DatabaseUnderTest()
        let pool = try database.pool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)") }
        for round in 0..<20 {
            try pool.write { db in
                for row in 0..<100 {
                    try db.execute(sql: "INSERT INTO t(text) VALUES(?)", arguments: ["\(round) \(row)"])
                }
            }
            #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == (round + 1) * 100)
        }
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        #expect(try pool.integrity() == "ok")
        try pool.close()
        #expect(try database.pool().read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2000)
    }

    @Test(arguments: [1024, 8192, 65_536])
    func newDatabasesHaveThePageSizeThatWasAskedFor(size: Int) throws {
        let database = try DatabaseUnderTest()
        let queue = try database.queue { try $0.execute(sql: "PRAGMA page_size = \(size)") }
        try queue.write { try $0.execute(sql: "CREATE TABLE t(x); INSERT INTO t VALUES(randomblob(200000))") }
        try queue.close()
        let again = try database.queue()
        #expect(try again.read { try Int.fetchOne($0, sql: "PRAGMA page_size") } == size)
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT length(x) FROM t") } == 200_000)
        #expect(try again.integrity() == "ok")
    }

    @Test func refusesFilesWithoutAKey() throws {
        let folder = try TemporaryFolder()
        let database = try DatabaseUnderTest(in: folder)
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: EncryptingVFS.uri(path: folder.path(of: "other.db")))
        }
        #expect(try database.files().isEmpty)
    }

    @Test func otherKeysDoNotOpen() throws {
        let folder = try TemporaryFolder()
        do {
            let database = try DatabaseUnderTest(in: folder)
            let queue = try database.queue()
            try queue.write { try $0.execute(sql: "CREATE TABLE t(x)") }
            try queue.close()
            #expect(throws: RegistrationError.otherKey(path: database.path)) {
                try EncryptingVFS.register(path: database.path, key: DatabaseUnderTest.key(8))
            }
        }
        let database = try DatabaseUnderTest(in: folder, key: 8)
        let before = try database.files()
        let error = #expect(throws: DatabaseError.self) { try database.queue() }
        #expect(error?.resultCode == .SQLITE_NOTADB)
        guard case .index(.wrongKey) = database.registration.takeFailure() else {
            Issue.record("not told")
            return
        }
        #expect(try database.files() == before)
    }

    @Test func plainFilesAreToldFromEncryptedOnes() throws {
        let database = try DatabaseUnderTest()
        let plain = try DatabaseQueue(path: database.path)
        try plain.write { try $0.execute(sql: "CREATE TABLE t(x)") }
        try plain.close()
        #expect(throws: DatabaseError.self) { try database.queue() }
        #expect(database.registration.takeFailure() == .notEncrypted(path: database.path))
        try database.write(Data("nothing that anybody would know".utf8))
        #expect(throws: DatabaseError.self) { try database.queue() }
        #expect(database.registration.takeFailure() == .notDatabase(path: database.path))
    }

    @Test func keysThatAreTakenAwayEndAllAccess() throws {
        let database = try DatabaseUnderTest()
        let queue = try database.queue(journal: "WAL")
        try queue.write { try $0.execute(sql: "CREATE TABLE t(x); INSERT INTO t VALUES(1)") }
        database.registration.revoke()
        #expect(throws: DatabaseError.self) { try queue.write { try $0.execute(sql: "INSERT INTO t VALUES(2)") } }
        #expect(database.registration.takeFailure() == .revoked(path: database.path))
        #expect(throws: DatabaseError.self) { try database.queue() }
        try? queue.close()
        // Whoever has the key again finds all that was committed.
        let again = try EncryptingVFS.register(path: database.path, key: database.key)
        let other = try database.queue()
        #expect(try other.read { try Int.fetchAll($0, sql: "SELECT x FROM t") } == [1])
        #expect(again.takeFailure() == nil)
    }
}
