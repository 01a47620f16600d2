import CSQLite
import SystemSQLite
import Testing

/// Statements that are kept, and transactions.
struct StatementTests {
    private let connection: SQLConnection

    init() throws {
        connection = try SQLConnection(":memory:", .readWrite, keeping: 4)
        try connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
    }

    private func integer(_ sql: String) throws -> Int64? {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }

    private func insert(_ id: Int64, _ name: String) throws {
        let statement = try connection.statement("INSERT INTO item VALUES (?, ?)")
        try statement.bind(id, at: 1)
        try statement.bind(name, at: 2)
        try statement.run()
    }

    @Test func aKeptStatementIsTheSameAndEmpty() throws {
        let first = try connection.statement("SELECT ?")
        try first.bind(Int64(1), at: 1)
        #expect(try first.step())
        first.reset()
        let second = try connection.statement("SELECT ?")
        #expect(first === second)
        #expect(try second.step())
        #expect(second.kind(of: 0) == .null)
    }

    @Test func aStatementInUseIsNotHandedOutTwice() throws {
        let outer = try connection.statement("SELECT 1 UNION ALL SELECT 2")
        #expect(try outer.step())
        let inner = try connection.statement("SELECT 1 UNION ALL SELECT 2")
        #expect(outer !== inner)
        #expect(try inner.step())
        #expect(inner.integer(0) == 1)
        #expect(try outer.step())
        #expect(outer.integer(0) == 2)
        #expect(try !outer.step())
    }

    @Test func moreStatementsThanAreKept() throws {
        let held = try connection.statement("SELECT 0")
        #expect(try held.step())
        for round: Int64 in 1...100 { #expect(try integer("SELECT \(round)") == round) }
        #expect(held.integer(0) == 0)
        #expect(try held !== connection.statement("SELECT 0"))
    }

    @Test func statementsGoOnAfterErrors() throws {
        try insert(1, "a")
        for _ in 0..<3 {
            let failure = #expect(throws: SQLiteError.self) { try insert(2, "a") }
            #expect(failure?.code == SQLITE_CONSTRAINT)
        }
        try insert(2, "b")
        #expect(try integer("SELECT count(*) FROM item") == 2)
    }

    @Test func statementsGoOnAfterTheTablesChanged() throws {
        try insert(1, "a")
        #expect(try integer("SELECT count(*) FROM item") == 1)
        try connection.execute("DROP TABLE item")
        #expect(throws: SQLiteError.self) { try insert(1, "a") }
        try connection.execute("CREATE TABLE item (id INTEGER, name TEXT)")
        try insert(1, "a")
        #expect(try integer("SELECT count(*) FROM item") == 1)
    }

    @Test func scripts() throws {
        try connection.execute("")
        try connection.execute("-- nothing\n;;")
        #expect(throws: SQLiteError.self) {
            try connection.execute(
                "INSERT INTO item VALUES (1, 'a'); INSERT INTO item VALUES (1, 'b'); DROP TABLE item")
        }
        #expect(try integer("SELECT count(*) FROM item") == 1)
    }

    /// Each is prepared when those before it were carried out.
    @Test func theStatementsOfAScript() throws {
        var rows: [Int64?] = []
        let script =
            "CREATE TABLE other (x); -- a comment; is none\nINSERT INTO other VALUES (7), (8);; SELECT x FROM other"
        try connection.forEachStatement(in: script) { statement in
            while try statement.step() { rows.append(statement.integer(0)) }
        }
        #expect(rows == [7, 8])
        var carriedOut = 0
        #expect(throws: SQLiteError.self) {
            try connection.forEachStatement(in: "SELECT 1; SELECT 2; SELEKT; SELECT 3") { _ in carriedOut += 1 }
        }
        #expect(carriedOut == 2)
    }

    @Test func transactions() throws {
        struct Stop: Error {}
        let result = try connection.transaction {
            #expect(connection.isInTransaction)
            try insert(1, "a")
            return 5
        }
        #expect(result == 5)
        #expect(!connection.isInTransaction)
        #expect(throws: Stop.self) {
            try connection.transaction {
                try insert(2, "b")
                throw Stop()
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try integer("SELECT count(*) FROM item") == 1)
    }

    /// Nothing of a transaction that SQLite has undone is committed, though nobody minds the error.
    @Test func whatSQLiteHasUndone() throws {
        var later: (any Error)?
        let failure = #expect(throws: SQLiteError.self) {
            try connection.transaction {
                try insert(1, "a")
                try? connection.execute("INSERT OR ROLLBACK INTO item VALUES (1, 'b')")
                do { try connection.requireTransaction() } catch { later = error }
            }
        }
        #expect(failure?.code == SQLITE_ABORT)
        #expect(later as? SQLiteError == failure)
        #expect(try integer("SELECT count(*) FROM item") == 0)
        try connection.transaction { try insert(1, "a") }
        #expect(try integer("SELECT count(*) FROM item") == 1)
    }

    @Test func aTransactionThatIsLeftOpenIsUndone() throws {
        try connection.execute("BEGIN; INSERT INTO item VALUES (1, 'a')")
        try connection.transaction { try insert(2, "b") }
        #expect(try integer("SELECT id FROM item") == 2)
        #expect(try integer("SELECT count(*) FROM item") == 1)
    }

    /// A change that cannot be committed is undone, as with a constraint that is checked at the end.
    @Test func aCommitThatFails() throws {
        try connection.execute(
            """
            PRAGMA foreign_keys = ON;
            CREATE TABLE part (item INTEGER REFERENCES item (id) DEFERRABLE INITIALLY DEFERRED)
            """)
        let failure = #expect(throws: SQLiteError.self) {
            try connection.transaction { try connection.execute("INSERT INTO part VALUES (9)") }
        }
        #expect(failure?.extendedCode == 787)
        #expect(!connection.isInTransaction)
        #expect(try integer("SELECT count(*) FROM part") == 0)
    }
}
