import CSQLite
import Dispatch
import Glibc
import SystemSQLite
import TestSupport
import Testing

/// What fails says why with SQLite's codes, and leaves connection and statement usable.
struct FailureTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "test.db")
    }

    private func table() throws -> SQLConnection {
        let connection = try SQLConnection(path, .create)
        try connection.execute(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER CHECK (size >= 0))")
        return connection
    }

    private func count(_ connection: SQLConnection) throws -> Int64? {
        let statement = try connection.statement("SELECT count(*) FROM item")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }

    private func failure(_ body: () throws -> Void) -> SQLiteError? {
        #expect(throws: SQLiteError.self, performing: body)
    }

    @Test func codesAndMessages() throws {
        let connection = try table()
        try connection.execute("INSERT INTO item VALUES (1, 'a', 1)")
        let cases: [(sql: String, code: Int32, extended: Int32, message: String)] = [
            ("INSERT INTO item VALUES (2, 'a', 1)", SQLITE_CONSTRAINT, 2067, "UNIQUE constraint failed: item.name"),
            ("INSERT INTO item VALUES (1, 'b', 1)", SQLITE_CONSTRAINT, 1555, "UNIQUE constraint failed: item.id"),
            ("INSERT INTO item VALUES (2, NULL, 1)", SQLITE_CONSTRAINT, 1299, "NOT NULL constraint failed: item.name"),
            ("INSERT INTO item VALUES (2, 'b', -1)", SQLITE_CONSTRAINT, 275, "CHECK constraint failed: size >= 0"),
            ("INSERT INTO item VALUES ('x', 'b', 1)", SQLITE_MISMATCH, SQLITE_MISMATCH, "datatype mismatch"),
            ("SELEKT 1", SQLITE_ERROR, SQLITE_ERROR, "near \"SELEKT\": syntax error"),
            ("SELECT * FROM elsewhere", SQLITE_ERROR, SQLITE_ERROR, "no such table: elsewhere"),
            ("SELECT \"text\"", SQLITE_ERROR, SQLITE_ERROR, "no such column: text"),
            ("COMMIT", SQLITE_ERROR, SQLITE_ERROR, "cannot commit - no transaction is active"),
        ]
        for wrong in cases {
            for run in [{ try connection.execute(wrong.sql) }, { try connection.prepare(wrong.sql).run() }] {
                let failure = failure(run)
                #expect(failure?.code == wrong.code, "\(wrong.sql)")
                #expect(failure?.extendedCode == wrong.extended, "\(wrong.sql)")
                #expect(failure?.message == wrong.message)
            }
        }
        #expect(try count(connection) == 1)
    }

    @Test func misuse() throws {
        let connection = try table()
        // The message is not the one of this call before it.
        #expect(failure { try connection.execute("SELEKT") }?.code == SQLITE_ERROR)
        let statement = try connection.prepare("SELECT ? UNION SELECT 2")
        #expect(failure { try statement.bind(Int64(1), at: 2) }?.code == SQLITE_RANGE)
        #expect(failure { try statement.bind(Int64(1), at: 0) }?.code == SQLITE_RANGE)
        #expect(try statement.step())
        let bound = failure { try statement.bind(Int64(1), at: 1) }
        #expect(bound?.code == SQLITE_MISUSE)
        #expect(bound?.message == "bad parameter or other API misuse")
        #expect(failure { _ = try connection.prepare("") }?.code == SQLITE_MISUSE)
        #expect(failure { _ = try connection.prepare("-- nothing") }?.code == SQLITE_MISUSE)
        #expect(bound?.description == "bad parameter or other API misuse (SQLite's error 21)")
    }

    @Test func filesThatDoNotOpen() throws {
        for access in [SQLConnection.Access.readOnly, .readWrite] {
            let missing = failure { _ = try SQLConnection(path, access) }
            #expect(missing?.code == SQLITE_CANTOPEN)
            #expect(missing?.message == "unable to open database file")
        }
        let unknown = failure { _ = try SQLConnection(path, .create, vfs: "no such") }
        #expect(unknown?.code == SQLITE_ERROR)
        #expect(unknown?.message == "no such vfs: no such")
        #expect(try SQLConnection("file:\(path)?mode=memory", .create, isURI: true).isInTransaction == false)
        #expect(failure { _ = try SQLConnection(path, .readOnly) }?.code == SQLITE_CANTOPEN)
        #expect(try SQLConnection(path, .create, vfs: "unix").isInTransaction == false)
    }

    @Test func aFileThatIsNoDatabase() throws {
        let file = try #require(fopen(path, "w"))
        fputs(String(repeating: "This is not a database. ", count: 100), file)
        fclose(file)
        let connection = try SQLConnection(path, .readWrite)
        #expect(failure { try connection.execute("SELECT * FROM sqlite_master") }?.code == SQLITE_NOTADB)
    }

    @Test func readOnly() throws {
        let writer = try table()
        let reader = try SQLConnection(path, .readOnly)
        #expect(failure { try reader.execute("INSERT INTO item VALUES (1, 'a', 1)") }?.code == SQLITE_READONLY)
        #expect(failure { try reader.transaction { try reader.execute("DELETE FROM item") } }?.code == SQLITE_READONLY)
        #expect(try count(writer) == 0)
    }

    @Test func busy() throws {
        let first = try table()
        let second = try SQLConnection(path, .readWrite)
        try first.transaction {
            try first.execute("INSERT INTO item VALUES (1, 'a', 1)")
            #expect(failure { try second.transaction { _ = Issue.record("two write at once") } }?.code == SQLITE_BUSY)
            #expect(!second.isInTransaction)
            second.setBusyTimeout(milliseconds: 1)
            #expect(failure { try second.execute("INSERT INTO item VALUES (2, 'b', 1)") }?.code == SQLITE_BUSY)
            second.setBusyHandler { _, attempts in attempts < 3 ? 1 : 0 }
            #expect(failure { try second.transaction {} }?.code == SQLITE_BUSY)
        }
        try second.transaction { try second.execute("INSERT INTO item VALUES (2, 'b', 1)") }
        #expect(try count(first) == 2)
    }

    @Test func full() throws {
        let connection = try table()
        try connection.execute("PRAGMA max_page_count = 20")
        let insertion = try connection.statement("INSERT INTO item (name) VALUES (hex(randomblob(500)))")
        let failure = failure { try connection.transaction { for _ in 0..<100 { try insertion.run() } } }
        #expect(failure?.code == SQLITE_FULL)
        #expect(failure?.message == "database or disk is full")
        #expect(!connection.isInTransaction)
        #expect(try count(connection) == 0)
        try insertion.run()
        #expect(try count(connection) == 1)
    }

    @Test func interrupted() throws {
        let connection = try table()
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        let statement = try connection.prepare(endless)
        #expect(try statement.step())
        let interrupter = connection.interrupter
        interrupter.interrupt()
        #expect(failure { try statement.run() }?.code == SQLITE_INTERRUPT)
        // From its start, and nothing is interrupted any more.
        #expect(try statement.step())
        #expect(statement.integer(0) == 1)
        statement.reset()
        // What was written is undone.
        let undone = failure {
            try connection.transaction {
                try connection.execute("INSERT INTO item VALUES (1, 'a', 1)")
                _ = try statement.step()
                interrupter.interrupt()
                try statement.run()
            }
        }
        #expect(undone?.code == SQLITE_INTERRUPT)
        #expect(!connection.isInTransaction)
        #expect(try count(connection) == 0)
    }

    @Test func interruptedByAnotherThread() throws {
        let connection = try table()
        let interrupter = connection.interrupter
        let queue = DispatchQueue(label: "interruptions")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        timer.setEventHandler { interrupter.interrupt() }
        timer.resume()
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        #expect(failure { try connection.execute(endless) }?.code == SQLITE_INTERRUPT)
        timer.cancel()
        queue.sync {}
        #expect(try count(connection) == 0)
    }

    @Test func closingWhileAStatementIsHeld() throws {
        let connection = try table()
        let held = try connection.statement("SELECT count(*) FROM item")
        #expect(failure { try connection.close() }?.code == SQLITE_BUSY)
        // It stays open.
        #expect(try held.step())
        held.reset()
        #expect(connection.handle != nil)
        try withExtendedLifetime(held) { try connection.execute("INSERT INTO item VALUES (1, 'a', 1)") }
    }

    @Test func closing() throws {
        let connection = try table()
        #expect(try count(connection) == 0)
        let interrupter = connection.interrupter
        try connection.close()
        interrupter.interrupt()
        #expect(connection.handle == nil)
        #expect(!connection.isInTransaction)
        let failures = [
            failure { try connection.execute("SELECT 1") }, failure { _ = try connection.prepare("SELECT 1") },
            failure { _ = try count(connection) }, failure { try connection.transaction {} },
            failure { try connection.forEachStatement(in: "SELECT 1") { _ in } },
        ]
        for failure in failures {
            #expect(failure?.code == SQLITE_MISUSE)
            #expect(failure?.message == "the connection is closed")
        }
        try connection.close()
    }
}
